"""Collect and grade the example course that ships inside nbgrader, with both engines.

It shows that grading works on material that is not ours, and gives numbers to compare: with
nbgrader 0.9.6, bitdiddle has 1.5 of 13 points and hacker 3 of 13.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from nbgrader.api import Gradebook

from autograder.course import stock
from autograder.course.grade import grade
from autograder.course.options import Options
from autograder.course.paths import Course, CourseError

ASSIGNMENT = "ps1"
# Downloads are called ps1_bitdiddle_attempt_2016-01-30-15-30-10_problem1.ipynb.
DOWNLOAD_NAME = (
    r".*_(?P<student_id>\w+)_attempt_(?P<timestamp>\d{4}-\d\d-\d\d-\d\d-\d\d-\d\d)_(?P<file_id>\w+)"
)


@dataclass(frozen=True)
class ExampleResult:
    """What came out.

    Attributes
    ----------
    collected : dict of str to list of str
        File names by student.
    scores : dict of str to float
        By student, from stock nbgrader.
    max_score : float
        Points to be had.
    different : list of str
        Cells to which the isolated engine gave another score, a line each.
    """

    collected: dict[str, list[str]]
    scores: dict[str, float]
    max_score: float
    different: list[str]


def grade_example_course(target: Path) -> ExampleResult:
    """Copy nbgrader's example course to ``target``, collect its downloads and grade it.

    Parameters
    ----------
    target : pathlib.Path
        Folder for the copy; what it holds is replaced.

    Raises
    ------
    CourseError
        The installed nbgrader has no example course, or refused a step.
    """
    _copy_course(target)
    config = stock.load_config(target, db_url=f"sqlite:///{target.resolve()}/gradebook.db")
    config.Execute.extra_arguments = stock.QUIET_KERNEL
    _expect(stock.generate_assignment(config, ASSIGNMENT, database=True))
    collected = _collect(target)
    _expect(stock.autograde(config, ASSIGNMENT))
    _expect(stock.generate_feedback(config, ASSIGNMENT))
    stock.export_grades(config, target / "grades.csv")
    with stock.open_gradebook(config) as gradebook:
        scores = {row["student"]: row["score"] for row in gradebook.submission_dicts(ASSIGNMENT)}
        max_score = gradebook.find_assignment(ASSIGNMENT).max_score
        theirs = _cells(gradebook)
    different = _compare(theirs, _grade_isolated(target / "isolated"))
    return ExampleResult(collected, scores, max_score, different)


def _grade_isolated(target: Path) -> dict[tuple[str, str], float | None]:
    """Grade a second copy of the course with the isolated engine; return its scores by cell."""
    _copy_course(target)
    course = Course(target)
    grade(course, options=Options([ASSIGNMENT], allow_weak=True))
    with stock.open_gradebook(stock.load_config(course.root)) as gradebook:
        return _cells(gradebook)


def _cells(gradebook: Gradebook) -> dict[tuple[str, str], float | None]:
    """Read every score by student and cell; None waits for a person."""
    return {
        (submission.student.id, f"{notebook.name}/{grade.name}"): grade.auto_score
        for submission in gradebook.assignment_submissions(ASSIGNMENT)
        for notebook in submission.notebooks
        for grade in notebook.grades
    }


def _compare(
    theirs: dict[tuple[str, str], float | None], ours: dict[tuple[str, str], float | None]
) -> list[str]:
    return [
        f"{student}, {cell}: nbgrader {theirs.get((student, cell))}, "
        f"isolated {ours.get((student, cell))}"
        for student, cell in sorted({*theirs, *ours})
        if theirs.get((student, cell)) != ours.get((student, cell))
    ]


def _copy_course(target: Path) -> None:
    guide = Path(str(files("nbgrader"))) / "docs" / "source" / "user_guide"
    shutil.rmtree(target, ignore_errors=True)
    for folder in ("source/" + ASSIGNMENT, "submitted", "downloaded"):
        if not (guide / folder).is_dir():
            raise CourseError(
                f"{guide / folder}: nbgrader's example course is missing; reinstall nbgrader 0.9.6."
            )
        shutil.copytree(guide / folder, target / folder)


def _collect(target: Path) -> dict[str, list[str]]:
    """Sort the downloads into ``collected/``: beside ``submitted/``, whose scores are known."""
    config = stock.load_config(target, submitted_directory="collected")
    config.FileNameCollectorPlugin.named_regexp = DOWNLOAD_NAME
    config.FileNameCollectorPlugin.valid_ext = [".ipynb", ".png"]
    _expect(stock.zip_collect(config, ASSIGNMENT))
    return {
        folder.name: sorted(path.name for path in (folder / ASSIGNMENT).iterdir())
        for folder in sorted((target / "collected").iterdir())
    }


def _expect(outcome: stock.Outcome) -> None:
    if not outcome.ok:
        raise CourseError(f"nbgrader's example course: a step failed.\n{outcome.log}")
