"""Write verdicts to nbgrader's gradebook: many submissions in one transaction.

What people wrote stays: manual scores, extra credit, manual comments, flags, extensions.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa
from nbgrader.api import Comment, Grade, Student, SubmittedAssignment, SubmittedNotebook, new_uuid

from autograder.course.record import GRADED, MISSING, Record
from autograder.course.snapshot import AssignmentIds, NotebookIds

STUDENT, SUBMISSION, NOTEBOOK, GRADE, COMMENT = (
    model.__table__ for model in (Student, SubmittedAssignment, SubmittedNotebook, Grade, Comment)
)
Pair = tuple[str, str]


@dataclass
class _Changes:
    """Rows to insert and to update, by table."""

    new: dict[sa.Table, list[dict[str, Any]]] = field(default_factory=dict)
    updated: dict[sa.Table, list[dict[str, Any]]] = field(default_factory=dict)
    fresh: set[str] = field(default_factory=set)

    def insert(self, table: sa.Table, **row: Any) -> dict[str, Any]:
        self.new.setdefault(table, []).append(row)
        self.fresh.add(row["id"])
        return row

    def update(self, table: sa.Table, row_id: str, **row: Any) -> None:
        self.updated.setdefault(table, []).append({"row_id": row_id, **row})

    def write(self, connection: sa.Connection) -> None:
        for table in (STUDENT, SUBMISSION, NOTEBOOK, GRADE, COMMENT):
            if rows := self.new.get(table):
                connection.execute(sa.insert(table), rows)
            # Rows of one statement must set the same columns.
            by_columns: dict[tuple[str, ...], list[dict[str, Any]]] = {}
            for row in self.updated.get(table, []):
                by_columns.setdefault(tuple(row), []).append(row)
            for rows in by_columns.values():
                where = table.c.id == sa.bindparam("row_id")
                connection.execute(sa.update(table).where(where), rows)


def write_records(
    connection: sa.Connection,
    ids: AssignmentIds,
    records: Sequence[Record],
    *,
    stamps: Mapping[str, datetime.datetime] | None = None,
    settled: bool = False,
) -> list[str]:
    """Bring the gradebook up to date with verdicts on one assignment.

    Parameters
    ----------
    connection : sqlalchemy.Connection
        In a transaction, which the caller commits.
    ids : AssignmentIds
        The assignment.
    records : sequence of Record
        At most one per student and notebook. Those without a verdict change nothing, except that
        a notebook that was not handed in counts 0.
    stamps : mapping of str to datetime, optional
        When a student handed in, in UTC.
    settled : bool
        The gradebook is believed to hold these verdicts: mend it where it does not, and leave
        flags for a second look, which somebody may have dealt with, alone.

    Returns
    -------
    list of str
        Ids of the submitted assignments that were touched.
    """
    records = [record for record in records if record.status in (GRADED, MISSING)]
    students = list(dict.fromkeys(record.student for record in records))
    changes = _Changes()
    _ensure_students(connection, ids, students, changes)
    submissions = _ensure_submissions(connection, ids, students, stamps or {}, changes)
    notebooks = _ensure_notebooks(connection, ids, submissions, changes)
    rows = _existing(connection, notebooks.values())
    _ensure_cells(ids, notebooks, rows, changes)
    for record in records:
        cells = ids.notebooks.get(record.notebook)
        if cells is not None:
            notebook = notebooks[submissions[record.student], record.notebook]
            _enter(record, cells, notebook, rows, changes, settled)
    changes.write(connection)
    return list(submissions.values())


def _ensure_students(
    connection: sa.Connection, ids: AssignmentIds, students: Sequence[str], changes: _Changes
) -> None:
    query = sa.select(STUDENT.c.id).where(STUDENT.c.id.in_(students))
    known = set(connection.execute(query).scalars())
    for student in students:
        if student not in known:
            changes.insert(STUDENT, id=student)


def _ensure_submissions(
    connection: sa.Connection,
    ids: AssignmentIds,
    students: Sequence[str],
    stamps: Mapping[str, datetime.datetime],
    changes: _Changes,
) -> dict[str, str]:
    table = SUBMISSION
    found = connection.execute(
        sa.select(table.c.id, table.c.student_id, table.c.timestamp).where(
            table.c.assignment_id == ids.id, table.c.student_id.in_(students)
        )
    )
    known = {row.student_id: row for row in found}
    submissions: dict[str, str] = {}
    for student in students:
        stamp = stamps.get(student)
        if student not in known:
            row = changes.insert(
                table, id=new_uuid(), assignment_id=ids.id, student_id=student, timestamp=stamp
            )
            submissions[student] = row["id"]
            continue
        submissions[student] = known[student].id
        if stamp is not None and stamp != known[student].timestamp:
            changes.update(table, known[student].id, timestamp=stamp)
    return submissions


def _ensure_notebooks(
    connection: sa.Connection, ids: AssignmentIds, submissions: Mapping[str, str], changes: _Changes
) -> dict[Pair, str]:
    table = NOTEBOOK
    found = connection.execute(
        sa.select(table.c.id, table.c.assignment_id, table.c.notebook_id).where(
            table.c.assignment_id.in_(submissions.values())
        )
    )
    known = {(row.assignment_id, row.notebook_id): row.id for row in found}
    notebooks: dict[Pair, str] = {}
    for submission in submissions.values():
        for name, notebook in ids.notebooks.items():
            row_id = known.get((submission, notebook.id))
            if row_id is None:
                row_id = changes.insert(
                    table, id=new_uuid(), assignment_id=submission, notebook_id=notebook.id,
                    flagged=False,
                )["id"]  # fmt: skip
            notebooks[submission, name] = row_id
    return notebooks


def _existing(connection: sa.Connection, notebooks: Iterable[str]) -> dict[Pair, dict[str, Any]]:
    """Read grades and comments by notebook and cell."""
    wanted = list(notebooks)
    rows: dict[Pair, dict[str, Any]] = {}
    for kind, table in (("grade", GRADE), ("comment", COMMENT)):
        for row in connection.execute(sa.select(table).where(table.c.notebook_id.in_(wanted))):
            rows.setdefault((row.notebook_id, row.cell_id), {})[kind] = dict(row._mapping)
    return rows


def _ensure_cells(
    ids: AssignmentIds,
    notebooks: Mapping[Pair, str],
    rows: dict[Pair, dict[str, Any]],
    changes: _Changes,
) -> None:
    """Add the rows that nbgrader makes with every submission; they start out empty."""
    for (_, name), notebook in notebooks.items():
        cells = ids.notebooks[name]
        for cell in (*cells.grades.values(), *cells.tasks.values()):
            have = rows.setdefault((notebook, cell), {})
            if "grade" not in have:
                have["grade"] = changes.insert(
                    GRADE, id=new_uuid(), cell_id=cell, notebook_id=notebook,
                    auto_score=None, manual_score=None, needs_manual_grade=True,
                )  # fmt: skip
        for cell in (*cells.solutions.values(), *cells.tasks.values()):
            have = rows.setdefault((notebook, cell), {})
            if "comment" not in have:
                have["comment"] = changes.insert(
                    COMMENT, id=new_uuid(), cell_id=cell, notebook_id=notebook, auto_comment=None
                )


def _enter(
    record: Record,
    cells: NotebookIds,
    notebook: str,
    rows: Mapping[Pair, dict[str, Any]],
    changes: _Changes,
    settled: bool,
) -> None:
    missing = record.status == MISSING
    for name, cell in cells.grades.items():
        row = rows[notebook, cell]["grade"]
        score = 0.0 if missing else None
        if not missing and name in record.scores:
            score = record.scores[name].score
        by_hand = not missing and (row["manual_score"] is not None or score is None)
        if not (settled and row["auto_score"] == score):
            _set(GRADE, row, changes, auto_score=score, needs_manual_grade=by_hand)
    for name, cell in {**cells.solutions, **cells.tasks}.items():
        if name in record.comments:
            row = rows[notebook, cell]["comment"]
            _set(COMMENT, row, changes, auto_comment=record.comments[name])


def _set(table: sa.Table, row: dict[str, Any], changes: _Changes, **values: Any) -> None:
    if all(row[key] == value for key, value in values.items()):
        return
    if row["id"] not in changes.fresh:
        changes.update(table, row["id"], **values)
    row.update(values)
