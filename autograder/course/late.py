"""Penalties for late submissions, decided by nbgrader's plugin and written in the same batch."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from nbgrader.api import Grade, SubmittedAssignment, SubmittedNotebook
from nbgrader.preprocessors import AssignLatePenalties
from traitlets.config import Config

SUBMISSION, NOTEBOOK = SubmittedAssignment.__table__, SubmittedNotebook.__table__


def penalty_plugin(config: Config) -> Any:
    """Return the plugin that ``nbgrader_config.py`` names (`AssignLatePenalties.plugin_class`)."""
    preprocessor = AssignLatePenalties(config=config)
    preprocessor.init_plugin()
    return preprocessor.plugin_inst


def write_penalties(
    connection: sa.Connection,
    plugin: Any,
    duedate: datetime.datetime | None,
    submissions: Sequence[str],
) -> None:
    """Set the penalty of every notebook of the given submissions, as nbgrader would.

    A penalty is kept between 0 and the score; on time, there is none.

    Parameters
    ----------
    connection : sqlalchemy.Connection
        In a transaction, with the scores written.
    plugin : nbgrader.plugins.LateSubmissionPlugin
        Is asked for every late notebook.
    duedate : datetime or None
        Of the assignment, in UTC; a student's extension is added to it.
    submissions : sequence of str
        Ids of submitted assignments.
    """
    wanted = NOTEBOOK.c.assignment_id.in_(submissions)
    late = {} if duedate is None else _seconds_late(connection, duedate, submissions)
    had_one = sa.and_(wanted, NOTEBOOK.c.late_submission_penalty.is_not(None))
    connection.execute(sa.update(NOTEBOOK).where(had_one).values(late_submission_penalty=None))
    rows = []
    for notebook, submission, score in _scores(connection, list(late)):
        student, seconds = late[submission]
        penalty = plugin.late_submission_penalty(student, score, seconds)
        if penalty is not None:
            rows.append({"row_id": notebook, "penalty": min(max(penalty, 0.0), score)})
    if rows:
        statement = sa.update(NOTEBOOK).where(NOTEBOOK.c.id == sa.bindparam("row_id"))
        statement = statement.values(late_submission_penalty=sa.bindparam("penalty"))
        connection.execute(statement, rows)


def _seconds_late(
    connection: sa.Connection, duedate: datetime.datetime, submissions: Sequence[str]
) -> dict[str, tuple[str, float]]:
    """Return student and seconds by submission, for those that are late."""
    found = connection.execute(sa.select(SUBMISSION).where(SUBMISSION.c.id.in_(submissions)))
    late: dict[str, tuple[str, float]] = {}
    for row in found:
        due = duedate + (row.extension or datetime.timedelta())
        if row.timestamp is not None and row.timestamp > due:
            late[row.id] = row.student_id, (row.timestamp - due).total_seconds()
    return late


def _scores(
    connection: sa.Connection, submissions: Sequence[str]
) -> list[tuple[str, str, float]]:
    """Return notebook, submission and score, counted as nbgrader counts it."""
    query = (
        sa.select(
            SubmittedNotebook.id,
            SubmittedNotebook.assignment_id,
            sa.func.coalesce(sa.func.sum(Grade.score), 0.0),
        )
        .outerjoin(Grade, Grade.notebook_id == SubmittedNotebook.id)
        .where(SubmittedNotebook.assignment_id.in_(submissions))
        .group_by(SubmittedNotebook.id, SubmittedNotebook.assignment_id)
    )
    return [(row[0], row[1], float(row[2])) for row in connection.execute(query)]
