"""Every exercise, handed in as its author solved it and as students receive it."""

from pathlib import Path

import pytest

from autograder.course.paths import Course
from autograder.course.release import build_sources
from autograder.grading.files import assignment_files
from autograder.grading.master import master_from_source
from autograder.grading.submission import Job
from autograder.mistakes import LAYERS

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(params=LAYERS)
def graded(request, tmp_path, engine):
    """Give a function that grades a notebook of the layer, and the notebook's two versions."""
    layer = request.param
    build_sources(Course(ROOT), [layer], tmp_path)
    solved = tmp_path / layer / f"{layer}.ipynb"
    files = assignment_files(solved.parent)
    master = engine.prepare(master_from_source(solved.read_bytes(), layer, layer, files=files))
    assert not master.forgeable
    assert not master.problems

    def grade(path):
        verdicts = engine.grade(Job("someone", layer, layer, path), master).verdicts.values()
        return [(verdict.grade_id, verdict.score) for verdict in verdicts]

    return grade, solved, ROOT / "exercises" / layer / f"{layer}.ipynb"


def test_a_solution_gets_all_points_and_a_release_none(graded):
    grade, solved, released = graded
    assert sum(score for _, score in grade(solved)) == 20, grade(solved)
    assert all(score == 0 for _, score in grade(released)), grade(released)
