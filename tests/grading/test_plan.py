"""Whose a name is, and which tests only the student's process can run."""

import sys
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest

from autograder.grading.files import assignment_files
from autograder.grading.master import master_from_source
from autograder.grading.plan import forgeable_by_syntax
from autograder.grading.submission import Job
from tests.grading.course import answered, cell, find, master_of, notebook, raw, source


def with_test(text):
    """Make the small course with another first test."""
    made = source()
    find(made, "centre-test")["source"] = text
    return master_of(made)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("%time centre(np.ones(3))", "not plain Python"),
        ("!ls", "not plain Python"),
        ("kept = centre\ndel centre\ntry:\n    double(1)\nfinally:\n    centre = kept", "anew"),
        ("del double", "deletes double"),
        ("def f():\n    global centre\n    centre = None\nf()", "anew"),
        ("assert 'centre' in globals()", "globals"),
        ("import inspect\ninspect.getsource(centre)", "inspect"),
        ("from unittest import mock", "mock"),
        ("eval('centre')", "eval"),
        ("assert centre.__code__.co_argcount == 1", "__code__"),
        ("get_ipython().run_cell('1')", "get_ipython"),
    ],
)
def test_a_test_that_needs_the_students_process_is_forgeable(text, reason):
    assert reason in forgeable_by_syntax(with_test(text))["centre-test"]


@pytest.mark.parametrize(
    "text",
    ["x = 1\ndel x", "def check(f):\n    centre = f\n    return centre",
     "[centre for centre in [1]]", "import numpy.testing as t\nt.assert_allclose(1, 1)"],
)  # fmt: skip
def test_a_test_that_only_calls_and_compares_is_not(text):
    assert not forgeable_by_syntax(with_test(text))


def test_what_a_forgeable_test_reads_from_an_earlier_one_runs_where_it_does():
    made = source()
    find(made, "double-test")["source"] = "assert 'x' in globals() and x.shape"
    assert set(forgeable_by_syntax(master_of(made))) == {"centre-test", "double-test"}


def test_the_instructors_solution_shows_what_syntax_does_not(engine):
    """A seed set on this side does not reach the student's random numbers."""
    made = notebook(
        cell("code", "import numpy as np", "setup", locked=True),
        cell("code", "def draw():\n    ### BEGIN SOLUTION\n    return np.random.rand()\n"
             "    ### END SOLUTION", "draw", solution=True),
        cell("code", "np.random.seed(3)\na = draw()\nnp.random.seed(3)\nassert a == draw()",
             "draw-test", grade=True, locked=True, points=1),
        cell("code", "assert 0 <= draw() < 1", "fine", grade=True, locked=True, points=1),
        cell("code", "assert draw() > 1", "wrong-test", grade=True, locked=True, points=1),
    )  # fmt: skip
    prepared = engine.prepare(master_of(made))
    assert prepared.forgeable == {"draw-test"}
    assert [p.split(";")[0] for p in prepared.problems] == [
        "small/small: the instructor's own solution loses points in the test cell wrong-test"
    ]
    given = raw(answered_alone(prepared, "def draw():\n    return np.random.rand()"))
    result = engine.grade_bytes(Job("a", "small", "small", Path("s")), given, prepared)
    scores = {name: (v.score, v.forgeable) for name, v in result.verdicts.items()}
    assert scores == {"draw-test": (1, True), "fine": (1, False), "wrong-test": (0, False)}
    assert result.receipt["checks"]["draw-test"]["forgeable"]


def answered_alone(master, text):
    from tests.grading.course import released

    made = released(master)
    find(made, "draw")["source"] = text
    return made


def test_a_name_that_python_knows_too_is_still_the_students(engine):
    """Who does not write `sum` must not be graded with Python's."""
    made = notebook(
        cell("code", "def sum(values):\n    ### BEGIN SOLUTION\n    total = 0\n"
             "    for v in values: total += v\n    return total\n    ### END SOLUTION",
             "draw", solution=True),
        cell("code", "assert sum([1, 2]) == 3", "sum-test", grade=True, locked=True, points=1),
    )  # fmt: skip
    master = engine.prepare(master_of(made))
    scores = {
        text: engine.grade_bytes(
            Job("a", "small", "small", Path("s")), raw(answered_alone(master, text)), master
        ).score
        for text in ("def sum(v):\n    return v[0] + v[1]", "def sum(v):\n    return 4", "x = 1")
    }
    assert list(scores.values()) == [1, 0, 0]


def test_a_test_may_read_and_import_the_files_of_its_assignment(engine):
    made = source()
    find(made, "centre-test")["source"] = (
        "import expected\nmean = float(open('data/mean.txt').read())\nx = np.arange(12.0)\n"
        "assert np.allclose(centre(x), expected.centre(x, mean))"
    )
    given = {"expected.py": b"def centre(x, mean): return x - mean", "data/mean.txt": b"5.5"}
    master = engine.prepare(master_of(made, files=given))
    assert not master.forgeable
    right, wrong = (
        engine.grade_bytes(Job("a", "s", "s", Path("s")), raw(answered(master, text)), master)
        for text in ("def centre(x):\n    return x - x.mean()", "def centre(x):\n    return x")
    )
    assert (right.score, wrong.score) == (5, 2)
    assert "expected" not in sys.modules


@pytest.mark.parametrize(
    ("value", "score"),
    [("2.0", 2), ("1", 1), ("np.float64(0.5)", 0.5), ("float('nan')", 0), ("-1", 0), ("1e9", 2),
     ("None", 2), ("'1'", 2), ("True", 2), ("[1]", 2), ("1.0;", 2), ("10**400", 2),
     ("1 / 0", 0), ("raise SystemExit", 0)],
)  # fmt: skip
def test_partial_credit(value, score, engine):
    made = source()
    find(made, "double-test")["source"] = f"pass\n{value}"
    master = replace(master_of(made), probed=True)
    result = engine.grade_bytes(Job("a", "s", "s", Path("s")), raw(answered(master)), master)
    assert result.verdicts["double-test"].score == score


def test_nbgraders_own_example_course_comes_out_as_with_nbgrader(engine):
    guide = Path(str(files("nbgrader"))) / "docs" / "source" / "user_guide"
    scores, forgeable = {}, set()
    for name in ("problem1", "problem2"):
        text = (guide / "source" / "ps1" / f"{name}.ipynb").read_bytes()
        given = assignment_files(guide / "source" / "ps1")
        master = engine.prepare(master_from_source(text, "ps1", name, files=given))
        for student in ("bitdiddle", "hacker"):
            path = guide / "submitted" / student / "ps1" / f"{name}.ipynb"
            result = engine.grade(Job(student, "ps1", name, path), master)
            scores[student] = scores.get(student, 0) + result.score
            forgeable |= {v.grade_id for v in result.verdicts.values() if v.forgeable}
            if (student, name) == ("bitdiddle", "problem1"):
                assert result.comments["sum_of_squares_application"] == "No response."
                assert result.verdicts["sum_of_squares_equation"].needs_manual
    assert scores == {"bitdiddle": 1.5, "hacker": 3}
    assert forgeable == {"sum_of_squares_uses_squares"}
