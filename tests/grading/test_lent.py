"""A lent function reaches whichever process of the submission lives."""

import pytest

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
