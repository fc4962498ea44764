"""A lent function reaches whichever process of the submission lives."""

import numpy as np
import pytest

from autograder.checks.gradcheck import CHECKS
from autograder.grading.player import Player
from autograder.sandbox import CallFailed, Limits, Sandbox

STUDENT = """
import os
def apply(f, x): return f(x)
def leave(f, x): os._exit(3) if f(x) else None
def double(x): return 2 * x
"""


@pytest.fixture(scope="module")
def sandbox():
    with Sandbox.start(allow_weak=True) as one:
        yield one


def square(x):
    return x * x


square.may_be_lent = True


def test_a_lent_function_outlives_the_worker_that_it_was_lent_to(sandbox):
    with Player(sandbox, {}, Limits(call_seconds=5)) as player:
        assert player.run_cell(STUDENT).ok
        apply, leave = player.lookup("apply"), player.lookup("leave")
        assert apply(square, 3) == 9
        with pytest.raises(CallFailed):
            leave(square, 3)
        assert apply(square, 4) == 16
        assert player.started == 2


def test_a_students_function_given_as_an_argument_follows_to_the_new_worker(sandbox):
    with Player(sandbox, {}, Limits(call_seconds=5)) as player:
        player.run_cell(STUDENT)
        apply, leave, double = (player.lookup(name) for name in ("apply", "leave", "double"))
        with pytest.raises(CallFailed):
            leave(square, 3)
        assert apply(double, 4) == 8


CHECKERS = """
import numpy as np

def slopes(loss, x, step):
    at, dx = np.array(x, float), np.zeros(x.shape)
    for i in np.ndindex(x.shape):
        kept = at[i]
        at[i] = kept + step; above = loss(at)
        at[i] = kept - step; below = loss(at)
        at[i] = kept
        dx[i] = (above - below) / (2 * step)
    return dx

def checker(draw, worst):
    def gradcheck(forward, backward, x, rng, step=1e-5):
        out, cache = forward(x)
        dout = draw(rng, out.shape)
        measured = slopes(lambda at: (forward(at)[0] * dout).sum(), x, step)
        far = worst(abs(backward(dout, cache) - measured))
        return far if abs(measured).max() < 1e-7 else far / abs(measured).max()
    return gradcheck

right = checker(lambda rng, shape: rng.normal(size=shape), np.max)
ones = checker(lambda rng, shape: np.ones(shape), np.max)
mean = checker(lambda rng, shape: rng.normal(size=shape), np.mean)
def curious(forward, backward, x, rng, step=1e-5):
    return forward(x)[1].angle.max()
"""


@pytest.mark.parametrize(
    ("name", "mistake"), [("right", None), ("ones", "GC53"), ("mean", "GC62"), ("curious", None)]
)
def test_a_gradient_checker_is_graded_alike_here_and_behind_the_boundary(sandbox, name, mistake):
    check, here = CHECKS[-1], {}
    exec(CHECKERS, here)
    with Player(sandbox, {}, Limits(call_seconds=5)) as player:
        assert player.run_cell(CHECKERS).ok
        there = check.report((player.lookup(name),), 8, seed=5)
    assert there.mistake == mistake
    assert there.score == 8 if name == "right" else there.score < 8
    if name == "curious":
        # What the cache holds stays with the test.
        assert all(
            "AttributeError" in out.reason for out in there.outcomes if "raised" in out.reason
        )
    else:
        assert there == check.report((here[name],), 8, seed=5)


def test_numbers_of_every_kind_may_be_the_error(sandbox):
    check = CHECKS[1]
    with Player(sandbox, {}, Limits(call_seconds=5)) as player:
        player.run_cell("import numpy as np\ndef error(a, n): return np.float32(7)")
        report = check.report((player.lookup("error"),), 5, seed=5)
    assert report.score == 0
    assert check.report((lambda a, n: np.ones(2),), 5, seed=5).score == 0
