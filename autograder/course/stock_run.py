"""Grade a class with nbgrader's own engine: what changed, then what it left behind."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

import nbformat

from autograder.course.exercises import graded_ids
from autograder.course.folders import Folders
from autograder.course.legible import graded_ids as ids_in
from autograder.course.options import Options
from autograder.course.paths import Course
from autograder.course.result import Result
from autograder.course.secret import course_secret
from autograder.course.stock_engine import grade_class
from autograder.course.survey import Lacks, Submission, Survey
from autograder.grading.findings import findings_in


def lacks_graded_cells(folders: Folders) -> Lacks:
    """Return what tells which graded cells a notebook lacks: stock nbgrader counts them 0."""

    def lacks(notebook: object, layer: str) -> set[str]:
        return graded_ids(folders, layer, layer) - ids_in(notebook)  # type: ignore[arg-type]

    return lacks


def run_stock(course: Course, found: Survey, options: Options) -> tuple[int, list[Submission]]:
    """Grade what has changed; return how many were graded, and which could not be.

    Parameters
    ----------
    course : Course
        Its gradebook knows the assignments already.
    found : Survey
        What was handed in; problems and notes are added to it.
    options : Options
        ``force`` counts.
    """
    done = _Fingerprints(course)
    todo = [item for item in found.submissions if options.force or not done.knows(item)]
    failed = grade_class(course, todo, course_secret(course)) if todo else {}
    for item in todo:
        done.forget(item) if item in failed else done.remember(item)
    done.save()
    for item, log in failed.items():
        path = course.build / "grading" / f"{item.layer}.log"
        path.write_text(log, encoding="utf-8")
        found.unusable[item.student, item.layer] = "failed"
        found.problems.append(f"{item.notebook}: nbgrader could not grade it; see {path}.")
    return len(todo) - len(failed), list(failed)


def read_findings(course: Course, found: Sequence[Submission], result: Result) -> None:
    """Add what the hidden tests printed in the executed notebooks."""
    for item in found:
        path = course.autograded / item.student / item.layer / f"{item.layer}.ipynb"
        if (item.student, item.layer) in result.scores and path.exists():
            notebook = nbformat.read(path, as_version=4)
            result.findings[item.student, item.layer] = findings_in(notebook)


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
        folder = self.course.source / item.layer
        exercise = [folder / f"{item.layer}.ipynb", *sorted(folder.glob("*.py"))]
        parts = [path.read_bytes() for path in (item.notebook, *exercise)]
        return hashlib.sha256(b"".join(parts)).hexdigest()
