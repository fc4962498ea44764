"""Grade a class: survey, register, run the engine, export, report."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import nbformat

from autograder.course import stock
from autograder.course.engine import grade_class
from autograder.course.paths import Course
from autograder.course.release import build_sources
from autograder.course.survey import Submission, Survey, read_roster, survey
from autograder.grading.findings import Finding, findings_in

ROSTER_COLUMNS = ("first_name", "last_name", "email")


@dataclass
class Result:
    """What the class did.

    Attributes
    ----------
    layers : list of str
        The columns of the grade table.
    students : list of str
        Its rows.
    max_scores : dict of str to float
        Points of each layer.
    scores : dict of (student, layer) to float
        What was graded, now or in an earlier run.
    unusable : dict of (student, layer) to str
        Handed in but not graded: missing, broken or failed.
    findings : dict of (student, layer) to list of (Finding, str)
        What the hidden tests reported, with a reason in one line.
    problems, notes : list of str
        What somebody must look at; what was put right without help.
    graded : int
        Number of notebooks graded in this run; the rest had not changed.
    """

    layers: list[str]
    students: list[str]
    max_scores: dict[str, float]
    scores: dict[tuple[str, str], float]
    unusable: dict[tuple[str, str], str]
    findings: dict[tuple[str, str], list[tuple[Finding, str]]]
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    graded: int = 0


def grade(
    course: Course,
    submitted: Path,
    layers: Iterable[str] = (),
    students: Iterable[str] = (),
    *,
    force: bool = False,
) -> Result:
    """Grade the submissions in a folder; write feedback and ``_build/grades.csv``.

    Parameters
    ----------
    course : Course
        The course.
    submitted : pathlib.Path
        Folder with ``<student>/<layer>/<layer>.ipynb``; it is not changed.
    layers, students : iterable of str
        Only these; empty takes all.
    force : bool
        Grade again what has not changed since the last run.

    Raises
    ------
    CourseError
        The folder, a layer or a student does not exist, or a source is wrong.
    """
    chosen = course.layers(layers)
    build_sources(course, course.layers(), course.source)
    exercises = {layer: _graded_ids(course, layer) for layer in course.layers()}
    found = survey(submitted, exercises, chosen, students)
    config = stock.load_config(course.root)
    chosen = [layer for layer in chosen if _register(course, layer, found)]
    todo = [item for item in found.submissions if item.layer in chosen]
    done = _Fingerprints(course)
    todo = [item for item in todo if force or not done.knows(item)]
    failed = grade_class(course, todo, course_secret(course)) if todo else {}
    for item in todo:
        done.forget(item) if item in failed else done.remember(item)
    done.save()
    _report_failures(course, failed, found)
    _note_earlier_grades(course, found)
    _enter_roster(config, submitted)
    stock.export_grades(config, course.grades_csv)
    return _collect(course, chosen, found, len(todo) - len(failed))


def course_secret(course: Course) -> str:
    """Return the secret of this course, made on first use and readable by its owner only."""
    path = course.build / "course_secret"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(file, "w") as stream:
            stream.write(secrets.token_hex(32))
    return path.read_text().strip()


class _Fingerprints:
    """Which notebook and which exercise the grade of each submission belongs to."""

    def __init__(self, course: Course) -> None:
        self.course = course
        self.path = course.build / "grading" / "fingerprints.json"
        self.known = json.loads(self.path.read_text()) if self.path.exists() else {}

    def knows(self, item: Submission) -> bool:
        graded = self.course.autograded / item.student / item.layer / f"{item.layer}.ipynb"
        return graded.exists() and self.known.get(self._key(item)) == self._digest(item)

    def remember(self, item: Submission) -> None:
        self.known[self._key(item)] = self._digest(item)

    def forget(self, item: Submission) -> None:
        self.known.pop(self._key(item), None)

    def save(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(json.dumps(self.known, indent=1, sort_keys=True))

    def _key(self, item: Submission) -> str:
        return f"{item.student}/{item.layer}"

    def _digest(self, item: Submission) -> str:
        source = self.course.source / item.layer / f"{item.layer}.ipynb"
        return hashlib.sha256(item.notebook.read_bytes() + source.read_bytes()).hexdigest()


def _graded_ids(course: Course, layer: str) -> set[str]:
    notebook = nbformat.read(course.source / layer / f"{layer}.ipynb", as_version=4)
    marks = [cell.metadata.get("nbgrader", {}) for cell in notebook.cells]
    return {mark["grade_id"] for mark in marks if mark.get("grade")}


def _register(course: Course, layer: str, found: Survey) -> bool:
    """Enter the exercise in the gradebook; its release goes to a folder that is thrown away."""
    with tempfile.TemporaryDirectory(dir=course.build) as folder:
        name = str(Path(folder).relative_to(course.root))
        config = stock.load_config(course.root, release_directory=name)
        outcome = stock.generate_assignment(config, layer, database=True)
    if outcome.ok:
        return True
    reason = [line for line in outcome.log.splitlines() if line.strip()][-1]
    if "submissions associated" in outcome.log:
        reason = (
            "cells were added to or removed from the exercise after submissions were graded; "
            "move _build/gradebook.db away and grade everybody anew"
        )
    found.problems.append(f"{course.source_of(layer)}: not graded: {reason}.")
    return False


def _report_failures(course: Course, failed: dict[Submission, str], found: Survey) -> None:
    for item, log in failed.items():
        path = course.build / "grading" / f"{item.layer}.log"
        path.write_text(log, encoding="utf-8")
        found.unusable[item.student, item.layer] = "failed"
        found.problems.append(f"{item.notebook}: nbgrader could not grade it; see {path}.")


def _note_earlier_grades(course: Course, found: Survey) -> None:
    """Say where the gradebook still has the grade of an earlier hand-in."""
    for student, layer in found.unusable:
        if (course.autograded / student / layer).exists():
            found.notes.append(f"{student}, {layer}: the gradebook keeps the earlier grade.")


def _enter_roster(config: stock.Config, submitted: Path) -> None:
    with stock.open_gradebook(config) as gradebook:
        for student, names in (read_roster(submitted) or {}).items():
            known = {key: value for key, value in names.items() if key in ROSTER_COLUMNS}
            gradebook.update_or_create_student(student, **known)


def _collect(course: Course, layers: Sequence[str], found: Survey, graded: int) -> Result:
    result = Result(list(layers), found.students, {}, {}, found.unusable, {},
                    found.problems, found.notes, graded)
    with stock.open_gradebook(stock.load_config(course.root)) as gradebook:
        for layer in layers:
            result.max_scores[layer] = gradebook.find_assignment(layer).max_score
            for row in gradebook.submission_dicts(layer):
                key = row["student"], layer
                if row["student"] in found.students and key not in found.unusable:
                    result.scores[key] = row["score"]
    for student, layer in result.scores:
        path = course.autograded / student / layer / f"{layer}.ipynb"
        if path.exists():
            result.findings[student, layer] = findings_in(nbformat.read(path, as_version=4))
    return result
