"""The sample class gets the scores that the checks predict, from either engine."""

import csv
import shutil
import subprocess
import sys
from pathlib import Path

import jupytext
import pytest

from autograder.checks import all_checks
from autograder.course.paths import Course
from autograder.course.sample_class import LAYERS, ROSTER, answer_of, write_sample_class
from autograder.mistakes.registry import registered

pytestmark = pytest.mark.class_run
ROOT = Path(__file__).parent.parent.parent
CHECKS = [check for check in all_checks() if check.layer in LAYERS]
SEED = 1


def points_of(check):
    """Read from the source what a right answer is worth."""
    notebook = jupytext.read(ROOT / "solutions" / check.layer / f"{check.layer}.md")
    (points,) = [
        cell.metadata["nbgrader"]["points"]
        for cell in notebook.cells
        if f"check_{check.function}(" in cell.source
    ]
    return points


def report_of(student, check):
    functions = tuple(answer_of(student, name) for name in check.takes)
    return None if None in functions else check.report(functions, points_of(check), SEED)


def predicted():
    """Give what every student earns in every layer by the rules of the audit."""
    scores = {(student.name, check.layer): 0.0 for student in ROSTER for check in CHECKS}
    for student in ROSTER:
        for check in CHECKS:
            report = report_of(student, check)
            scores[student.name, check.layer] += report.score if report else 0
    return scores


@pytest.fixture(scope="module")
def classroom(tmp_path_factory):
    """Copy what the class was asked to hand in, and hand it in."""
    course = Course(tmp_path_factory.mktemp("sample"))
    for folder in ("solutions", "exercises"):
        for layer in LAYERS:
            shutil.copytree(ROOT / folder / layer, course.root / folder / layer)
    shutil.copyfile(ROOT / "nbgrader_config.py", course.root / "nbgrader_config.py")
    write_sample_class(course.exercises, course.submitted)
    return course


@pytest.mark.parametrize("engine", ["isolated", "stock"])
def test_the_class_gets_exactly_the_scores_that_the_checks_predict(classroom, engine):
    shutil.rmtree(classroom.build / "grading", ignore_errors=True)
    command = [sys.executable, "-m", "autograder", "--root", classroom.root, "grade",
               "--engine", engine, "--force", "--allow-weak-sandbox", "--no-feedback"]  # fmt: skip
    run = subprocess.run(command, capture_output=True, text=True, timeout=500, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    rows = csv.DictReader(classroom.grades_csv.read_text().splitlines())
    got = {(row["student_id"], row["assignment"]): float(row["score"]) for row in rows}
    assert got == pytest.approx(predicted())
    lines = {line.split()[0]: line for line in run.stdout.split("What was found")[1].splitlines()
             if line}  # fmt: skip
    for student in ROSTER:
        for mistake in student.mistakes.values():
            assert registered()[mistake].name in lines[student.name]


@pytest.mark.parametrize("student", ROSTER, ids=lambda student: student.name)
def test_each_student_shows_the_mistake_that_the_roster_says(student):
    for check in CHECKS:
        report = report_of(student, check)
        if check.function in student.mistakes:
            assert report.mistake == student.mistakes[check.function]
            assert 0 < report.score < report.points
        elif report is not None and not student.mistakes:
            assert report.score == report.points
