"""Calls across the boundary feel like calls, for the values that may cross it."""

import copy
import pickle

import numpy as np
import pytest

from autograder.sandbox import CallFailed, Deadline, Handle, Limits, RemoteFunction, Unsupported

STUDENT = """
import collections, numpy as np, os, time
Point = collections.namedtuple("Point", "x y")
class Cache:
    def __init__(self, x): self.x = x
class Lying(np.ndarray):
    def __eq__(self, other): return True
    def __array_function__(self, *args): return True
class MyError(ValueError): pass
class Evil:
    def __reduce__(self): return (os.system, ("touch pwned",))

def double(x): return 2 * x
def forward(x): return x + 1, Cache(x)
def backward(dout, cache): return dout * cache.x
def zero(x, other=None):
    x[...] = 0
    return x
def sneaky(x): return np.zeros(x.shape).view(Lying)
def objects(x): return np.array([Evil()], dtype=object)
def evil(x): return Evil()
def point(x): return Point(x, x)
def ordered(x): return collections.OrderedDict(a=x, b=Cache(x))
class Stack(list):
    def top(self): return self[-1]
def stack(x): return Stack([x, 2 * x])
def read(p, o, s): return [p.x, next(iter(o)), o["b"].x, s.top(), type(o).__name__]
def nested(x): return {"a": [x, (1, None)], 2: "b"}
def make(n): return lambda x: x * n
def draw(rng, n): return rng.normal(size=n)
def skip(n, rng=None): rng.bit_generator.advance(n)
def fail(kind): raise kind("no: \\x1b[2J")
def value_error(x): raise ValueError("x must be positive")
def my_error(x): raise MyError("mine")
def axis(x): return x.sum(axis=9)
def leave(x): raise SystemExit(0)
def interrupt(x): raise KeyboardInterrupt
def same(a, b): return a is b
def types(*args): return [type(a).__name__ for a in args]
def slow(x): time.sleep(30)
def stubborn(x):
    while True:
        try: time.sleep(30)
        except BaseException: pass
def shout(x):
    print("hidden inputs:", x); return x
def many(x): return list(range(200_000))
def text(x): return "x" * (2 << 20)
def surrogate(x): return "\\ud800"
table = np.arange(6).reshape(2, 3)
"""


@pytest.fixture
def student(best):
    with best.worker(limits=Limits(call_seconds=1)) as worker:
        assert worker.run_cell(STUDENT).ok
        yield worker


def test_values_that_cells_defined_arrive_fresh(student):
    table = student.lookup("table")
    assert np.array_equal(table, [[0, 1, 2], [3, 4, 5]])
    table[...] = 0
    assert student.lookup("table").sum() == 15
    with pytest.raises(KeyError):
        student.lookup("nothing")
    module = student.lookup("np")
    assert (module.kind, module.info) == ("module", "numpy")


def test_functions_are_called_there(student):
    double = student.lookup("double")
    assert isinstance(double, RemoteFunction)
    assert double.__name__ == "double"
    assert double(x=21) == 42
    assert student.call("double", (np.float32(2),), {}) == np.float32(4)
    assert student.lookup("make")(3)(4) == 12


@pytest.mark.parametrize("value", [
    None, True, 3, -(2**70), 2.5, 1j, "text", b"bytes", (1, [2, {"k": (3,)}]), np.bool_(True),
    np.float16(1.5), np.zeros((0, 3)), np.array(7.0), np.arange(6).reshape(2, 3).T,
])  # fmt: skip
def test_values_come_back_as_they_went(student, value):
    student.run_cell("def identity(x): return x")
    back = student.call("identity", (value,), {})
    assert type(back) is type(value)
    if isinstance(value, np.ndarray):
        assert back.dtype == value.dtype
        assert np.array_equal(back, value)
    else:
        assert back == value


def test_a_cache_stays_there_and_comes_back_as_itself(student):
    out, cache = student.lookup("forward")(np.ones(3))
    assert isinstance(cache, Handle)
    assert cache.type_name == "Cache"
    assert student.call("backward", (np.full(3, 4.0), cache), {}).tolist() == [4, 4, 4]
    assert student.call("same", (cache, cache), {}) is True
    assert student.call(student.lookup("double"), (out,), {}).tolist() == [4, 4, 4]


def test_a_handle_can_do_nothing_else(student):
    cache = student.lookup("forward")(np.ones(3))[1]
    attempts = [
        lambda: cache.x, lambda: cache[0], lambda: list(cache), lambda: len(cache),
        lambda: cache == 1, lambda: cache != 1, lambda: bool(cache), lambda: float(cache),
        lambda: cache + 1, lambda: 1 + cache, lambda: np.ones(3) * cache, lambda: np.asarray(cache),
        lambda: np.exp(cache), lambda: np.allclose(cache, 1), lambda: cache(1), lambda: {cache},
        lambda: copy.copy(cache), lambda: pickle.dumps(cache), lambda: 1 in cache,
        lambda: hasattr(cache, "shape"), lambda: cache < 1, lambda: -cache,
    ]  # fmt: skip
    for attempt in attempts:
        with pytest.raises(Unsupported, match="lives in the student's process"):
            attempt()
    assert "Cache" in repr(cache)


@pytest.mark.parametrize("name", ["objects", "evil", "many", "text", "surrogate"])
def test_what_may_not_cross_stays_there(student, name):
    assert isinstance(student.call(name, (1,), {}), Handle)


def test_an_array_in_disguise_arrives_as_a_plain_array(student):
    assert type(student.call("sneaky", (np.ones(3),), {})) is np.ndarray


def test_nested_results_keep_their_types(student):
    got = student.call("nested", (np.ones(2),), {})
    assert got["a"][1] == (1, None)
    assert got[2] == "b"
    assert student.call("types", ((1,), [1], {"a": 1}, np.int8(1)), {}) == [
        "tuple", "list", "dict", "int8",
    ]  # fmt: skip


def test_changed_arguments_are_told_and_not_copied_back(student):
    zero, x, other = student.lookup("zero"), np.ones(3), np.ones(2)
    zero(x, other)
    assert (zero.changed, x.tolist()) == ((0,), [1, 1, 1])
    zero(other=other, x=x)
    assert zero.changed == ("x",)
    assert student.changed == ("x",)
    student.lookup("double")(x)
    assert student.changed == ()


def test_a_generator_goes_on_where_the_function_left_it(student):
    here, there = np.random.default_rng(3), np.random.default_rng(3)
    draw = student.lookup("draw")
    for _ in range(2):
        assert np.array_equal(draw(there, 5), here.normal(size=5))
    here.integers(0, 2, dtype=np.int32)  # leaves half a word in the generator
    there.integers(0, 2, dtype=np.int32)
    student.call("skip", (7,), {"rng": there})
    here.bit_generator.advance(7)
    assert there.bit_generator.state == here.bit_generator.state


def test_exceptions_arrive_as_what_they_were(student):
    with pytest.raises(ValueError, match="x must be positive") as caught:
        student.call("value_error", (1,), {})
    assert isinstance(caught.value, CallFailed)
    assert caught.value.remote_type == "ValueError"
    np.testing.assert_raises(ValueError, student.lookup("my_error"), 1)
    with pytest.raises(ValueError, match="axis 9"):
        student.call("axis", (np.ones(2),), {})
    with pytest.raises(NameError):
        student.call("undefined", (), {})
    with pytest.raises(CallFailed) as caught:
        student.call("my_error", (1,), {})
    assert caught.value.remote_type == "MyError"
    again = pickle.loads(pickle.dumps(caught.value))
    assert isinstance(again, ValueError)
    assert str(again) == "mine"


@pytest.mark.parametrize("name", ["leave", "interrupt"])
def test_leaving_costs_only_the_call(student, name):
    with pytest.raises(CallFailed) as caught:
        student.call(name, (1,), {})
    assert type(caught.value) is CallFailed
    assert student.call("double", (1,), {}) == 2


def test_a_slow_call_is_interrupted_and_the_worker_lives(student):
    with pytest.raises(Deadline, match="longer than 1 s"):
        student.call("slow", (1,), {})
    assert student.alive
    assert student.call("double", (1,), {}) == 2


def test_a_call_that_will_not_stop_ends_the_worker(student):
    with pytest.raises(Deadline, match="did not stop"):
        student.call("stubborn", (1,), {})
    assert not student.alive
    assert "did not stop" in student.death


def test_the_submission_has_a_budget_for_all_calls(best):
    with best.worker(limits=Limits(submission_seconds=0.6, call_seconds=5)) as worker:
        worker.run_cell("import time")
        worker.run_cell("def nap(): time.sleep(0.25)")
        worker.call("nap", (), {})
        worker.call("nap", (), {})
        with pytest.raises(Deadline, match=r"used up the 0\.6 s"):
            worker.call("nap", (), {})


def test_printing_in_a_call_reaches_nobody(student):
    student.call("shout", (np.ones(2),), {})
    assert student.run_cell("print('own')").outputs == [
        {"output_type": "stream", "name": "stdout", "text": "own\n"}
    ]


def test_what_cannot_go_is_refused_before_it_goes(student, best):
    for value in (object(), {1, 2}, np.array([object()]), lambda x: x, range(3)):
        with pytest.raises(Unsupported):
            student.call("double", (value,), {})
    with best.worker() as other:
        other.run_cell("def f(x): return x\nc = object()")
        for foreign in (other.lookup("c"), other.lookup("f")):
            with pytest.raises(Unsupported, match="another"):
                student.call("double", (foreign,), {})
    assert student.call("double", (1,), {}) == 2


def test_a_container_of_the_students_own_class_shows_its_items_and_stays_itself(student):
    x = np.arange(3.0)
    point = student.call("point", (x,), {})
    ordered = student.call("ordered", (x,), {})
    stack = student.call("stack", (x,), {})
    assert isinstance(point, tuple)
    assert isinstance(ordered, dict)
    assert isinstance(stack, list)
    for array in (*point, ordered["a"], stack[0]):
        np.testing.assert_array_equal(array, x)
    read = student.call("read", (point, ordered, stack), {})
    np.testing.assert_array_equal(read[0], x)
    np.testing.assert_array_equal(read[2], x)
    np.testing.assert_array_equal(read[3], 2 * x)
    assert (read[1], read[4]) == ("a", "OrderedDict")


def test_a_result_that_cannot_travel_does_not_cost_the_others(student):
    student.run_cell(
        "def both(x):\n    loop = [x]\n    loop.append(loop)\n    return x + 1, loop\n"
        "class Endless(list):\n    __class__ = property(lambda self: tuple)\n"
        "    __iter__ = lambda self: iter(int, 1)\n    __len__ = lambda self: -1\n"
        "def lies(x):\n    return x + 1, Endless([x])\n"
        "def take(cache):\n    return cache[0]\n"
    )
    for name in ("both", "lies"):
        out, cache = student.call(name, (np.ones(3),), {})
        assert out.tolist() == [2, 2, 2]
        assert student.call("take", (cache,), {}).tolist() == [1, 1, 1]
