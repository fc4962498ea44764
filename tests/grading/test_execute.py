"""Plain ``nbgrader autograde`` with the course's configuration uses the isolated engine."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.grading.answers import PATCH, WRONG_CENTRE
from tests.grading.course import answered, cell, master_of, place, raw, source

ROOT = Path(__file__).parent.parent.parent
SCORES = """\
import json
from nbgrader.api import Gradebook
with Gradebook("sqlite:///_build/gradebook.db") as book:
    books = [n for s in book.assignment_submissions("small") for n in s.notebooks]
    grades = [g for n in books for g in n.grades]
    rows = [[g.student.id, g.name, g.auto_score, g.needs_manual_grade] for g in grades]
print(json.dumps(rows))"""


def nbgrader(folder, *command, **environment):
    """Run one command of nbgrader in a course folder; it starts alembic by its bare name."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    run = subprocess.run(
        [sys.executable, *command], cwd=folder, capture_output=True, text=True, timeout=500,
        env={**os.environ, "PATH": path, **environment}, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    return run


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """Make a course of the small assignment, with one right and one hostile submission."""
    tmp_path = tmp_path_factory.mktemp("course")
    shutil.copyfile(ROOT / "nbgrader_config.py", tmp_path / "nbgrader_config.py")
    right = answered(master_of(source()))
    hostile = answered(master_of(source()), centre=WRONG_CENTRE)
    hostile["cells"].insert(place(hostile, "centre"), cell("code", PATCH))
    places = {
        "source/small": source(), "submitted/ada/small": right, "submitted/eve/small": hostile,
    }  # fmt: skip
    for place_, made in places.items():
        folder = tmp_path / "_build" / place_
        folder.mkdir(parents=True)
        (folder / "small.ipynb").write_bytes(raw(made))
    nbgrader(tmp_path, "-m", "nbgrader", "generate_assignment", "small", "--create")
    return tmp_path


@pytest.mark.class_run
def test_nbgrader_itself_gives_grades_that_cannot_be_forged(course, engine):
    if engine.sandbox.tier.name == "C":
        pytest.skip("this machine cannot isolate, so that nbgrader grades alone")
    nbgrader(course, "-m", "nbgrader", "autograde", "small")
    rows = json.loads(nbgrader(course, "-c", SCORES).stdout)
    grades = {(student, name): (score, manual) for student, name, score, manual in rows}
    assert grades == {
        ("ada", "centre-test"): (3, False), ("ada", "double-test"): (2, False),
        ("ada", "why"): (0, False), ("eve", "centre-test"): (0, False),
        ("eve", "double-test"): (2, False), ("eve", "why"): (0, False),
    }  # fmt: skip
    graded = json.loads((course / "_build/autograded/ada/small/small.ipynb").read_text())
    assert graded["metadata"]["layers_receipt"]["tier"] in ("A", "B")


@pytest.mark.class_run
def test_stock_nbgrader_can_be_asked_for_and_says_so(course):
    run = nbgrader(
        course, "-m", "nbgrader", "autograde", "small", "--student", "ada", "--force",
        LAYERS_ENGINE="stock",
    )  # fmt: skip
    graded = json.loads((course / "_build/autograded/ada/small/small.ipynb").read_text())
    assert "layers_receipt" not in graded["metadata"]
    assert "Traceback" not in run.stderr
