"""Functions of a test in a student's hands: they feel like functions, and nobody can abuse them."""

import threading
import time

import numpy as np
import pytest

from autograder.sandbox import (
    CallFailed,
    Deadline,
    Limits,
    ProtocolError,
    Unsupported,
    WorkerGone,
    lending,
    wire,
)
from tests.sandbox.test_hostile_worker import Liar, fields, raw

STUDENT = """
import collections, threading, time
import numpy as np
kept = []
Point = collections.namedtuple("Point", "x y")

def apply(f, *args, **kwargs): return f(*args, **kwargs)
def slopes(f, x, step=1e-5):
    dx = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        old = x[i]
        x[i] = old + step; above = f(x).sum()
        x[i] = old - step; below = f(x).sum()
        x[i] = old
        dx[i] = (above - below) / (2 * step)
    return dx
def there_and_back(forward, backward, x):
    out, cache = forward(x)
    return backward(np.ones_like(out), cache)
def peek(forward, x): return forward(x)[1].secret
def inside(table, x): return table["f"][0](x)
def spoil(f, x):
    got = f(x)
    got[...] = 0
    return f(x)
def named(f, x): return f(Point(x, [x, {"a": x}]))
def caught(f, x):
    try:
        f(x)
    except ValueError as error:
        return type(error) is ValueError, str(error), error.__context__ is None
def keep(f): kept.append(f)
def use(x): return kept[-1](x)
def use_while_another(f, x): return kept[-1](x)
def own(f): return f(object())
def huge(f): return f(np.zeros(10**6))
def endless(f, x):
    while True: f(x)
def stubborn(f, x):
    while True:
        try: f(x)
        except BaseException: pass
def often(f, n):
    for _ in range(n): f(1)
    return n
def threads(f, x):
    got = []
    many = [threading.Thread(target=lambda: got.append(f(x))) for _ in range(4)]
    for one in many: one.start()
    for one in many: one.join()
    return sum(got)
def give_back(f): return f
def show(f): return repr(f), f.__name__
"""


class Secret:
    """An object that must not leave the grader."""

    secret = 42


def lent(function):
    function.may_be_lent = True
    return function


@lent
def cube(x):
    return x**3


@lent
def forward(x):
    return np.sin(x), Secret()


@lent
def backward(dout, cache):
    assert type(cache) is Secret
    return dout * cache.secret


@pytest.fixture
def student(best):
    with best.worker(limits=Limits(call_seconds=1)) as worker:
        assert worker.run_cell(STUDENT).ok
        yield worker


def test_a_student_calls_a_function_of_the_test(student):
    x = np.random.default_rng(0).normal(size=(2, 3))
    kept = x.copy()
    assert np.allclose(student.call("slopes", (cube, x), {}), 3 * x**2)
    assert np.allclose(student.call("slopes", (cube,), {"x": x, "step": 1e-4}), 3 * x**2)
    assert np.array_equal(x, kept)
    assert student.changed == ()


def test_what_it_is_given_is_fresh_and_of_plain_types(student):
    seen = []

    @lent
    def look(*args, **kwargs):
        seen.append((args, kwargs))
        return args[0]

    x = np.arange(3.0)
    assert np.array_equal(student.call("spoil", (look, x), {}), x)
    args = (x, 2, "text", (1, [2.5, None]), {"a": x}, True, 3j, np.float32(2))
    student.call("apply", (look, *args), {"key": x})
    got, named = seen[-1]
    assert [type(value) for value in got] == [type(value) for value in args]
    assert np.array_equal(named["key"], x)
    assert got[0].flags.writeable
    assert not np.shares_memory(got[0], x)
    student.call("named", (look, x), {})
    assert isinstance(seen[-1][0][0], tuple)
    assert np.array_equal(seen[-1][0][0][1][1]["a"], x)


def test_a_generator_and_nested_functions_travel(student):
    rng = np.random.default_rng(3)
    drawn = student.call("apply", (lent(lambda rng: rng.normal(size=2)), rng), {})
    assert np.array_equal(drawn, np.random.default_rng(3).normal(size=2))
    table = {"f": [cube]}
    assert student.call("inside", (table, 2.0), {}) == 8.0
    add = lent(lambda a: lent(lambda b: a + b))
    assert student.run_cell("def curried(f): return f(1)(2)").ok
    assert student.call("curried", (add,), {}) == 3


def test_objects_of_the_test_can_only_be_handed_back(student):
    x = np.ones(2)
    assert np.array_equal(student.call("there_and_back", (forward, backward, x), {}), 42 * x)
    with pytest.raises(AttributeError):
        student.call("peek", (forward, x), {})
    assert student.call("show", (forward,), {}) == ("<function forward of the test>", "forward")


def test_the_students_own_objects_come_as_opaque_ones(student):
    with pytest.raises(TypeError, match="lives in the student's process"):
        student.call("own", (lent(lambda thing: thing.attribute),), {})
    assert student.call("own", (lent(lambda thing: thing),), {}).type_name == "object"


def test_an_exception_arrives_as_the_same_builtin_one_with_a_short_text(student):
    class OurError(ValueError):
        pass

    @lent
    def refuse(x):
        raise OurError("x must have shape (2,)" + "!" * 1000)

    right, text, bare = student.call("caught", (refuse, 1), {})
    assert right
    assert bare
    assert text.startswith("x must have shape")
    assert len(text) <= lending.MAX_TEXT
    for error in (StopIteration("s"), UnicodeDecodeError("utf-8", b"", 0, 1, "odd"), KeyError("k")):

        @lent
        def fail(x, error=error):
            raise error

        with pytest.raises(CallFailed):
            student.call("apply", (fail, 1), {})
    assert student.alive


def test_only_a_function_that_says_so_is_lent(student):
    for value in (lambda x: x, print, Secret, Secret(), np.sin):
        with pytest.raises(Unsupported):
            student.call("apply", (value, 1), {})


def test_a_loan_ends_with_its_call(student):
    student.call("keep", (cube,), {})
    with pytest.raises(RuntimeError, match="given for one call"):
        student.call("use", (2.0,), {})
    with pytest.raises(RuntimeError, match="given for one call"):
        student.call("use_while_another", (cube, 2.0), {})
    returned = student.call("give_back", (cube,), {})
    with pytest.raises(RuntimeError, match="given for one call"):
        student.call(returned, (2.0,), {})


def test_too_much_is_refused_where_it_is_asked(student):
    with pytest.raises(ValueError, match="functions of a test take"):
        student.call("huge", (lent(lambda x: 0),), {})
    with pytest.raises(ValueError, match="cannot travel"):
        student.call("apply", (lent(lambda: list(range(200_000))),), {})
    assert student.alive


def test_threads_take_turns(student):
    assert student.call("threads", (cube, 2.0), {}) == 32.0


@pytest.mark.parametrize(("name", "survives"), [("endless", True), ("stubborn", False)])
def test_a_deadline_stops_a_student_who_keeps_asking(student, name, survives):
    began = time.monotonic()
    with pytest.raises(Deadline):
        student.call(name, (cube, np.ones(3)), {})
    assert time.monotonic() - began < 3.5
    assert student.alive == survives


def test_a_slow_function_of_the_test_counts_as_the_students_time(student):
    with pytest.raises(Deadline):
        student.call("endless", (lent(lambda x: time.sleep(0.4)), 1), {})
    assert student.alive
    assert student.call("apply", (cube, 2.0), {}) == 8.0


def test_the_number_of_callbacks_is_capped(student, monkeypatch):
    monkeypatch.setattr(lending, "MAX_CALLBACKS", 50)
    assert student.call("often", (cube, 50), {}) == 50
    with pytest.raises(ProtocolError, match="more than 50"):
        student.call("often", (cube, 51), {})
    assert not student.alive


def test_a_lent_function_cannot_call_the_student(student):
    ask = lent(lambda x: student.call("apply", (cube, x), {}))
    with pytest.raises(TypeError, match="cannot call the student's functions"):
        student.call("apply", (ask, 1), {})
    assert student.call("apply", (cube, 2.0), {}) == 8.0


def test_what_steers_the_grader_passes_through_and_ends_the_worker(student):
    @lent
    def stop(x):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        student.call("apply", (stop, 1), {})
    assert not student.alive


def callback(number=1, **given):
    return {"callback": number, "args": [2.0], "kwargs": [], **given}


def asks(message, blobs=()):
    """Send a callback, whatever it says, and answer the call if the grader goes on."""

    def play(sock, request):
        wire.send(sock, {"nonce": request["nonce"], **message}, blobs)
        wire.receive(sock)
        fields(value=1)(sock, request)

    return play


def many(count):
    def play(sock, request):
        for _ in range(count):
            wire.send(sock, {"nonce": request["nonce"], **callback()})
            wire.receive(sock)

    return play


DEEP = 0.0
for _ in range(40):
    DEEP = ["l", [DEEP]]
HOSTILE = {
    "a function that was never lent": asks(callback(7)),
    "a negative number": asks(callback(-1)),
    "number true": asks(callback(True)),
    "number as a text": asks(callback("1")),
    "number as a list": asks(callback([1])),
    "no number": asks(callback(None)),
    "another nonce": asks(callback(nonce=b"x" * 16)),
    "no nonce": asks(callback(nonce=None)),
    "no arguments": asks(callback(args=None)),
    "arguments as a map": asks(callback(args={"a": 1})),
    "keywords of numbers": asks(callback(kwargs=[[1, 2]])),
    "keywords of three": asks(callback(kwargs=[["a", 1, 2]])),
    "too many keywords": asks(callback(kwargs=[[f"k{i}", 1] for i in range(100)])),
    "unknown tag": asks(callback(args=[["z", 1]])),
    "array without bytes": asks(callback(args=[["a", 0, "<f8", [3]]])),
    "array of objects": asks(callback(args=[["a", 0, "|O", [1]]]), [bytes(8)]),
    "array of huge sides": asks(callback(args=[["a", 0, "<f8", [2**40]]]), [bytes(8)]),
    "a lent thing that is none": asks(callback(args=[["h", 9, "", ""]])),
    "a lent thing by a text": asks(callback(args=[["h", "1", "", ""]])),
    "a lent thing of another form": asks(callback(args=[["h", 1]])),
    "deep nesting": asks(callback(args=[DEEP])),
    "reference of an unknown kind": asks(callback(args=[["r", 1, "grader", "x", ""]])),
    "an answer that holds a lent thing": fields(value=["h", 1, "function", "cube"]),
    "noise after the call": raw(b"\x00" * 64),
    "arrays of an exabyte": raw(
        wire.MAGIC + (1).to_bytes(4, "little") * 2 + (1 << 60).to_bytes(8, "little")
    ),
    "one callback too many": many(30),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_forged_callback_ends_the_worker(name, monkeypatch):
    monkeypatch.setattr(lending, "MAX_CALLBACKS", 20)
    liar = Liar(HOSTILE[name])
    with liar as worker:
        with pytest.raises(ProtocolError):
            worker.call("f", (cube,), {})
        assert liar.process.ended
        with pytest.raises(WorkerGone):
            worker.call("f", (), {})


def test_an_honest_callback_of_the_same_player_is_answered():
    with Liar(asks(callback()), asks(callback(2))) as worker:
        assert worker.call("f", (cube,), {}) == 1
        assert worker.call("f", (cube,), {}) == 1


def test_numbers_of_an_earlier_call_mean_nothing():
    with Liar(fields(value=1), asks(callback(1))) as worker:
        worker.call("f", (cube,), {})
        with pytest.raises(ProtocolError, match="did not lend"):
            worker.call("f", (cube,), {})


def test_an_object_is_not_called():
    def play(sock, request):
        wire.send(sock, {"nonce": request["nonce"], **callback(1)})
        wire.receive(sock)
        asks(callback(2))(sock, request)

    with Liar(play) as worker, pytest.raises(ProtocolError, match="no function"):
        worker.call("f", (forward,), {})


def test_a_callback_after_the_answer_ends_the_worker():
    def play(sock, request):
        fields(value=1)(sock, request)
        wire.send(sock, {"nonce": request["nonce"], **callback()})

    with Liar(play, fields(value=1)) as worker:
        assert worker.call("f", (cube,), {}) == 1
        time.sleep(0.05)
        with pytest.raises(ProtocolError, match="nobody had asked"):
            worker.call("f", (cube,), {})


def test_a_callback_where_nothing_is_lent_ends_the_worker():
    with Liar(asks(callback())) as worker:
        assert "nothing is lent" in worker.run_cell("1").stopped
    with Liar(asks(callback())) as worker, pytest.raises(ProtocolError, match="nothing is lent"):
        worker.lookup("f")
    with Liar(asks(callback())) as worker, pytest.raises(ProtocolError, match="did not lend"):
        worker.call("f", (1,), {})


def test_a_worker_that_asks_and_does_not_read_meets_its_deadline():
    stop = threading.Event()

    def play(sock, request):
        wire.send(sock, {"nonce": request["nonce"], **callback()})
        stop.wait(5)

    began = time.monotonic()
    with Liar(play, seconds=0.3) as worker:
        with pytest.raises(Deadline):
            worker.call("f", (lent(lambda x: np.zeros(8 << 20)),), {})
        assert time.monotonic() - began < 3
        stop.set()


def test_after_its_deadline_a_worker_is_told_to_stop_and_nothing_runs():
    ran, answers = [], []

    def play(sock, request):
        time.sleep(0.4)
        wire.send(sock, {"nonce": request["nonce"], **callback()})
        answers.append(wire.receive(sock)[0])
        fields(value=1)(sock, request)

    with Liar(play, seconds=0.2) as worker, pytest.raises(Deadline):
        worker.call("f", (lent(lambda x: ran.append(x)),), {})
    assert answers[0]["stop"] is True
    assert ran == []
