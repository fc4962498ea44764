"""Attackers who want points that their answers are not worth, or another's.

Their forward pass is right and their backward pass is not, so that both a forged point and a lost
one show.
"""

import json

from tests.attacks import answers
from tests.attacks.classroom import Attacker

FORGED_REPORT = (
    "layernorm_backward: 12 of 12 points\\n  right   dx on a batch  4.8 of 4.8\\n"
    "  Misconception LF1: none\\n"
)


def half(name, first="", last="", backward=answers.ZEROS_BACK, **more):
    return Attacker(name, "half", first=first, last=last, backward=backward, **more)


def points(notebook):
    for cell in notebook["cells"]:
        if mark := cell["metadata"].get("nbgrader"):
            mark.update(points=1000, max_score=1000, score=1000)


def flags(notebook):
    for cell in notebook["cells"]:
        if (mark := cell["metadata"].get("nbgrader")) and mark["grade"]:
            mark.update(grade=False, solution=True, locked=False)
            cell["source"] = "12.0"


def copies(notebook):
    graded = [c for c in notebook["cells"] if c["metadata"].get("nbgrader", {}).get("grade")]
    notebook["cells"] += [{**cell, "source": "12.0"} for cell in graded * 40]


def receipt(notebook):
    checks = {"layernorm-backward-hidden": {"score": 12, "max": 12, "properties": []}}
    forged = {"engine": "1", "tier": "A", "salt": "mine", "checks": checks, "forged": True}
    notebook["metadata"]["layers_receipt"] = forged
    output = {"output_type": "execute_result", "data": {"text/plain": "12.0"}, "metadata": {},
              "execution_count": 1}  # fmt: skip
    for cell in notebook["cells"]:
        cell["metadata"]["layers_receipt"] = forged
        if cell["cell_type"] == "code":
            cell["outputs"] = [output]


def crowded_metadata(notebook):
    notebook["metadata"]["layers"] = ["y" * 1000] * 15_000
    for cell in notebook["cells"]:
        cell["metadata"] |= {"deep": json.loads("[" * 90 + "]" * 90), "collapsed": "yes"}
        cell["metadata"]["jupyter"] = "hidden"


def tags(notebook):
    for cell in notebook["cells"]:
        cell["metadata"] |= {"tags": ["skip-execution", "raises-exception"], "init_cell": True}


def twice_named(notebook):
    text = json.dumps(notebook).replace('"points": 12', '"points": 12, "points": 1200')
    return text.replace('"nbgrader": {', '"nbgrader": 1, "nbgrader": {').encode()


ATTACKERS = [
    half("points", notebook=points),
    half("flags", notebook=flags),
    half("copies", notebook=copies),
    half("receipt", notebook=receipt),
    half("crowded-metadata", notebook=crowded_metadata),
    half("tags", notebook=tags),
    half("keys-given-twice", notebook=twice_named),
    half("prints-a-report", f"print('{FORGED_REPORT}')", f"print('{FORGED_REPORT}')\n12.0",
         backward="def layernorm_backward(dout, cache):\n"
                  f"    print('{FORGED_REPORT}')\n    return 12.0"),
    half("raises-a-report", backward=f"""
def layernorm_backward(dout, cache):
    raise type('E\\n{FORGED_REPORT}', (Exception,), {{}})('\\u2028{FORGED_REPORT}')
"""),
    half("display-hook", """
import sys
sys.displayhook(20.0)
get_ipython().displayhook(20.0)
sys.displayhook = lambda value: None
"""),
    half("patched-numpy", """
import numpy as np
for name in dir(np.testing):
    if name.startswith('assert'):
        setattr(np.testing, name, lambda *a, **k: None)
np.allclose = np.array_equal = np.isclose = np.all = lambda *a, **k: True
np.max = np.abs = np.linalg.norm = lambda *a, **k: 0.0
"""),
    half("patched-builtins", """
import builtins
builtins.abs = builtins.max = builtins.round = lambda *a, **k: 0.0
builtins.print = lambda *a, **k: None
builtins.AssertionError = type('Fine', (Exception,), {})
"""),
    half("fake-checks", """
import builtins, sys, types
fake = types.ModuleType('autograder.checks')
fake.check_layernorm_forward = fake.check_layernorm_backward = lambda *f, points: points
sys.modules['autograder.checks'] = sys.modules['autograder'] = fake
class Finder:
    def find_spec(self, name, *rest):
        sys.modules[name] = fake
sys.meta_path.insert(0, Finder())
real = builtins.__import__
builtins.__import__ = lambda name, *a: fake if 'autograder' in name else real(name, *a)
"""),
    half("own-names", """
check_layernorm_backward = check_layernorm_forward = lambda *f, points: points
points = 12
class np: pass
del np
"""),
    half("rewritten-cells", """
import ast
class Rewrite(ast.NodeTransformer):
    def visit_Assert(self, node):
        return ast.Pass()
    def visit_Call(self, node):
        return ast.Constant(12.0) if 'check_' in ast.dump(node) else node
get_ipython().ast_transformers.append(Rewrite())
get_ipython().input_transformers_post.append(
    lambda lines: ['12.0'] if any('check_' in line for line in lines) else lines)
"""),
    half("hooks-on-cells", """
def after(*a):
    get_ipython().user_ns['layernorm_backward'] = lambda *a: 12.0
for event in ('pre_execute', 'post_execute', 'pre_run_cell', 'post_run_cell'):
    get_ipython().events.register(event, after)
"""),
    # Its own functions no longer find np, in a kernel neither.
    Attacker("names-that-change", "zeros", first="""
class Names(dict):
    def __contains__(self, name):
        return True
    def __getitem__(self, name):
        try:
            return dict.__getitem__(self, name)
        except KeyError:
            return lambda *a, **k: 12.0
get_ipython().user_ns = Names(get_ipython().user_ns)
"""),
    half("right-for-the-visible-test", backward=answers.BACKWARD.replace(
        "    x_hat,", "    if dout.shape != (2, 3, 5):\n        return dout, dout[0], dout[0]\n"
        "    x_hat,")),
    Attacker("wrong-after-two-calls", "zeros", backward=answers.ZEROS_BACK,
             forward=answers.FORWARD + "\nright, calls = layernorm_forward, []\n"
             "def layernorm_forward(x, gamma, beta, eps=1e-5):\n"
             "    calls.append(1)\n"
             "    return right(x, gamma, beta) if len(calls) < 3 else (0 * x, None)"),
    half("always-equal", backward="""
class Equal(np.ndarray):
    __eq__ = __le__ = __lt__ = lambda self, other: np.True_
    __sub__ = __rsub__ = lambda self, other: np.zeros(1)
    __array_priority__ = 1e9
    def __array_ufunc__(self, *a, **k):
        return np.zeros(1)
def layernorm_backward(dout, cache):
    wrong = np.zeros(dout.shape).view(Equal)
    return wrong, wrong[..., 0].view(Equal), wrong
"""),
    half("gives-the-question-back", backward=(
        "def layernorm_backward(dout, cache):\n    return dout, cache, cache")),
    half("enormous-by-broadcast", backward="""
def layernorm_backward(dout, cache):
    wide = np.broadcast_to(0.0, (10**6, 10**6))
    return wide, wide, wide
"""),
    half("objects-in-arrays", backward="""
class Any:
    __eq__ = __lt__ = __gt__ = lambda self, other: True
    __float__ = lambda self: 1.0
def layernorm_backward(dout, cache):
    some = np.full(dout.shape, Any(), dtype=object)
    return some, some[0], some[0]
"""),
    half("nan-and-infinity", backward="""
def layernorm_backward(dout, cache):
    return np.full_like(dout, np.nan), np.full(dout.shape[-1], np.inf), float('nan')
"""),
    half("ends-well", backward="""
import os
def layernorm_backward(dout, cache):
    os._exit(0)
"""),
    half("exits", backward="def layernorm_backward(dout, cache):\n    raise SystemExit(0)"),
    half("interrupts",
         backward="def layernorm_backward(dout, cache):\n    raise KeyboardInterrupt"),
    half("strange-errors", backward="""
class Strange(BaseExceptionGroup):
    __str__ = __repr__ = lambda self: 1 / 0
def layernorm_backward(dout, cache):
    raise Strange('<script>alert(1)</script>\\x1b[2J', [KeyboardInterrupt(), StopIteration()])
"""),
]  # fmt: skip
