"""Export grades, through nbgrader's plugins, and what the class got wrong."""

from __future__ import annotations

import csv
import importlib
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from nbgrader.api import Assignment, Gradebook, Student, SubmittedAssignment, SubmittedNotebook
from nbgrader.plugins import ExportPlugin

from autograder.course import stock
from autograder.course.paths import Course, CourseError
from autograder.course.record import Record

COLUMNS = (
    "assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email",
    "raw_score", "late_submission_penalty", "score", "max_score",
)  # fmt: skip
MISTAKE_COLUMNS = ("assignment", "cell", "kind", "name", "students", "of")
# A spreadsheet runs a cell that begins so, and student ids come from file names.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


class GradesPlugin(ExportPlugin):
    """nbgrader's CSV of grades, in one query per assignment instead of three per student.

    Fields with commas or quotes are quoted, and none can run as a formula of a spreadsheet.
    """

    def export(self, gradebook: Gradebook) -> None:
        """Write every student and assignment to ``self.to`` (default ``grades.csv``)."""
        target = Path(self.to or "grades.csv")
        temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
        with temporary.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(COLUMNS)
            for row in _rows(gradebook, self.assignment, self.student):
                writer.writerow([harmless(value) for value in row])
        temporary.replace(target)


def export_grades(
    course: Course,
    target: Path,
    assignments: Sequence[str] = (),
    students: Sequence[str] = (),
    exporter: str = "",
) -> Path:
    """Export the gradebook with a plugin of nbgrader's kind.

    Parameters
    ----------
    course : Course
        Whose gradebook.
    target : pathlib.Path
        File to write.
    assignments, students : sequence of str
        Only these; empty takes all.
    exporter : str
        Class of the plugin as ``package.module.Class``; empty takes `GradesPlugin`.

    Raises
    ------
    CourseError
        There is no such plugin.
    """
    config = stock.load_config(course.root)
    plugin = _plugin(exporter)(
        config=config, to=str(target), assignment=list(assignments), student=list(students)
    )
    target.parent.mkdir(parents=True, exist_ok=True)
    with stock.open_gradebook(config) as gradebook:
        plugin.export(gradebook)
    return target


def by_mistake(records: Iterable[Record]) -> list[dict[str, Any]]:
    """Count the students who lost points, by cell and by what was found.

    Returns
    -------
    list of dict
        ``assignment``, ``cell``, ``kind`` (``mistake`` or ``property``), ``name``, ``students``
        and ``of`` (how many handed the cell in), most frequent first within a cell.
    """
    counts: dict[tuple[str, str, str, str], set[str]] = {}
    handed_in: dict[tuple[str, str], set[str]] = {}
    for record in records:
        for cell, score in record.scores.items():
            place = record.assignment, cell
            handed_in.setdefault(place, set()).add(record.student)
            names = [("property", name) for name in score.lost]
            if score.mistake:
                names.append(("mistake", f"{score.mistake} {score.reason}".strip()))
            for kind, name in names:
                counts.setdefault((*place, kind, name), set()).add(record.student)
    rows = [
        {"assignment": assignment, "cell": cell, "kind": kind, "name": name,
         "students": len(who), "of": len(handed_in[assignment, cell])}
        for (assignment, cell, kind, name), who in counts.items()
    ]  # fmt: skip
    return sorted(rows, key=lambda row: (row["assignment"], row["cell"], -int(row["students"])))


def write_csv(rows: Sequence[dict[str, Any]], target: Path, columns: Sequence[str]) -> Path:
    """Write rows under a head line."""
    with target.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([harmless(row[column]) for column in columns] for row in rows)
    return target


def harmless(value: Any) -> Any:
    """Keep a text from being taken for a formula, or for the end of a row."""
    if isinstance(value, str):
        # csv quotes a line feed but not a lone carriage return.
        plain = value.replace("\r", " ")
        return f"'{plain}" if value.startswith(_FORMULA) else plain
    return "" if value is None else value


def _rows(
    gradebook: Gradebook, assignments: Sequence[str], students: Sequence[str]
) -> Iterable[list[Any]]:
    people = [one for one in gradebook.students if not students or one.id in students]
    for assignment in gradebook.assignments:
        if assignments and assignment.name not in assignments:
            continue
        scores, max_score = _submissions(gradebook, assignment), float(assignment.max_score)
        for one in people:
            stamp, raw, penalty = scores.get(one.id, ("", 0.0, 0.0))
            yield [assignment.name, assignment.duedate, stamp, *_person(one), raw, penalty,
                   max(0.0, raw - penalty), max_score]  # fmt: skip


def _person(one: Student) -> list[Any]:
    return [one.id, one.last_name, one.first_name, one.email]


def _submissions(
    gradebook: Gradebook, assignment: Assignment
) -> dict[str, tuple[Any, float, float]]:
    """Return time, score and penalty by student."""
    penalties = (
        sa.select(
            SubmittedNotebook.assignment_id,
            sa.func.coalesce(sa.func.sum(SubmittedNotebook.late_submission_penalty), 0.0),
        )
        .group_by(SubmittedNotebook.assignment_id)
    )  # fmt: skip
    fined = {row[0]: float(row[1]) for row in gradebook.db.execute(penalties)}
    query = sa.select(
        SubmittedAssignment.id, SubmittedAssignment.student_id,
        SubmittedAssignment.timestamp, SubmittedAssignment.score,
    ).where(SubmittedAssignment.assignment_id == assignment.id)  # fmt: skip
    return {
        student: (stamp, float(score), fined.get(row_id, 0.0))
        for row_id, student, stamp, score in gradebook.db.execute(query)
    }


def _plugin(name: str) -> type[ExportPlugin]:
    if not name:
        return GradesPlugin
    module, _, attribute = name.rpartition(".")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError):
        found = None
    if not (isinstance(found, type) and issubclass(found, ExportPlugin)):
        raise CourseError(
            f"{name}: no export plugin; name a subclass of nbgrader.plugins.ExportPlugin, "
            "such as nbgrader.plugins.CsvExportPlugin."
        )
    return found
