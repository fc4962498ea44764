"""Attackers whose caches, replies and random numbers are not what they look like.

A cache is the student's own affair, so a strange one costs nothing as long as the answers are
right.
"""

from tests.attacks import answers
from tests.attacks.classroom import Attacker


def cache(name, made, taken, setup="", due="right"):
    """Right answers around a strange cache: `made` from ``kept``, and ``kept`` taken from it."""
    return Attacker(
        name, due, first=setup,
        forward=answers.FORWARD + "\n_right = layernorm_forward\n"
        "def layernorm_forward(x, gamma, beta, eps=1e-5):\n"
        f"    out, kept = _right(x, gamma, beta, eps)\n    return out, {made}",
        backward=answers.BACKWARD + "\n_back = layernorm_backward\n"
        f"def layernorm_backward(dout, cache):\n    return _back(dout, {taken})",
    )  # fmt: skip


def dropout(name, first="", forward=answers.DROPOUT, backward=answers.DROPOUT_BACK, due="dropout"):
    return Attacker(name, due, "dropout", first, forward=forward, backward=backward)


def drawn(name, then):
    """Right dropout that does something to the generator once it has drawn."""
    forward = answers.DROPOUT.replace("    return (x", f"    {then}\n    return (x")
    return dropout(name, "import os", forward)


ATTACKERS = [
    cache("cache-in-itself", "loop(kept)", "cache[0]", """
def loop(kept):
    made = [kept]
    made.append(made)
    return made
"""),
    cache("cache-with-nan-keys", "{**{float('nan'): i for i in range(5000)}, 'kept': kept}",
          "cache['kept']"),
    cache("cache-of-gigabytes", "(kept, np.empty(4 * 10**7))", "cache[0]"),
    cache("cache-of-great-depth", "deep(kept)", "bottom(cache)", """
def deep(kept):
    for _ in range(5000):
        kept = [kept]
    return kept
def bottom(cache):
    while type(cache) is list:
        cache = cache[0]
    return cache
"""),
    cache("cache-that-lies", "Liar(kept)", "cache.kept", """
class Liar:
    def __init__(self, kept):
        self.kept = kept
    __class__ = property(lambda self: tuple)
    __len__ = lambda self: -1
    __iter__ = lambda self: iter(int, 1)
    __eq__ = lambda self, other: True
    __hash__ = __bool__ = __array__ = __reduce_ex__ = lambda self, *a: 1 / 0
"""),
    cache("cache-like-a-handle", "Handle(kept)", "cache.kept", """
class Handle:
    def __init__(self, kept):
        self.kept, self._id, self._worker, self.kind, self.info = kept, 1, None, 'module', 'os'
"""),
    cache("cache-like-the-wire", "['r', 1, 'function', 'print', kept]", "cache[4]"),
    cache("cache-is-a-function", "lambda: kept", "cache()"),
    cache("cache-is-a-module", "module(kept)", "cache.kept", """
import types
def module(kept):
    made = types.ModuleType('os')
    made.kept = kept
    return made
"""),
    cache("cache-is-a-generator", "(part for part in kept)", "tuple(cache)"),
    Attacker("answers-are-objects", "right", backward=answers.BACKWARD + """
class Layer:
    def __call__(self, *given):
        return _plain(*given)
_plain, layernorm_backward = layernorm_backward, Layer()
"""),
    Attacker("slow-to-show-its-class", "half", backward="""
import time
class Slow:
    @property
    def __class__(self):
        time.sleep(3600)
def layernorm_backward(dout, cache):
    return Slow(), Slow(), Slow()
"""),
    Attacker("sleeps-when-forgotten", "right", forward=answers.FORWARD.replace(
        "(centred * rstd, rstd, gamma)", "Kept(centred * rstd, rstd, gamma)"), first="""
import time
class Kept(list):
    def __init__(self, *parts):
        list.__init__(self, parts)
        self.me = None
    def __del__(self):
        time.sleep(0.002)
"""),
    drawn("generator-scrambled", "rng.bit_generator.state = "
          "np.random.default_rng(int.from_bytes(os.urandom(8), 'big')).bit_generator.state"),
    dropout("generator-held-fast", due="dropout-frozen", forward=answers.DROPOUT.replace(
        "    keep", "    rng.bit_generator.state = np.random.PCG64(0).state\n    keep")),
    dropout("generator-reported-broken", due="nothing", first="""
import autograder.sandbox.worker as worker
worker.encode_generator = lambda generator: ['g', 1, [2], {}, 'x']
"""),
]  # fmt: skip
