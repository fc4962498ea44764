"""One engine for all tests of grading: starting it takes seconds."""

from pathlib import Path

import pytest

from autograder.grading.submission import Engine, Job
from autograder.sandbox import Limits
from tests.grading.course import master_of, raw, source

SECRET = "0f1e" * 16
# Short enough to see deadlines at work, long enough for a busy machine.
LIMITS = Limits(call_seconds=2, cell_seconds=4, submission_seconds=40, output_kb=64)


@pytest.fixture(scope="session")
def engine():
    """Give an engine at the best tier of this machine, whichever that is."""
    with Engine(allow_weak=True, limits=LIMITS, secret=SECRET) as engine:
        yield engine


@pytest.fixture(scope="session")
def master(engine):
    """Give the prepared master of the small course."""
    return engine.prepare(master_of(source()))


@pytest.fixture
def grade(engine, master):
    """Give a function that grades a notebook, or the bytes of one."""

    def grade(made, against=master, **options):
        job = Job("ada", against.assignment, against.notebook, Path("small.ipynb"))
        data = made if isinstance(made, bytes) else raw(made)
        return engine.grade_bytes(job, data, against, **options)

    return grade


@pytest.fixture
def scores(grade):
    """Give a function that grades a notebook and gives the two scores."""

    def scores(made, **options):
        verdicts = grade(made, **options).verdicts
        return verdicts["centre-test"].score, verdicts["double-test"].score

    return scores
