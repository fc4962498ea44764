"""Write the feedback pages of a class: what the gradebook says, beside what the tests reported."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import sqlalchemy as sa
from nbgrader.api import BaseCell, Comment, Grade, SubmittedAssignment, SubmittedNotebook
from nbgrader.preprocessors import ClearHiddenTests, ClearMarkScheme
from traitlets.config import Config

from autograder.course.folders import Folders
from autograder.course.page import Facts, hidden_regions, page
from autograder.course.record import Identity
from autograder.course.snapshot import AssignmentIds
from autograder.course.worker import write_whole

BATCH = 250


@dataclass(frozen=True)
class PageTask:
    """One page to write."""

    identity: Identity
    graded: Path
    target: Path
    facts: Facts = field(compare=False)
    hidden: re.Pattern[str]


def delimiters(config: Config) -> re.Pattern[str]:
    """Return what the course hides from students, by the delimiters in its configuration."""
    tests, marks = ClearHiddenTests(config=config), ClearMarkScheme(config=config)
    return hidden_regions(
        (tests.begin_test_delimeter, tests.end_test_delimeter),
        (marks.begin_mark_scheme_delimeter, marks.end_mark_scheme_delimeter),
    )


def page_tasks(
    engine: sa.Engine,
    ids: AssignmentIds,
    folders: Folders,
    identities: Iterable[Identity],
    hidden: re.Pattern[str],
) -> Iterator[PageTask]:
    """List the pages of submissions to one assignment that have an executed notebook."""
    waiting = iter(identities)
    while batch := list(islice(waiting, BATCH)):
        facts = _facts(engine, ids, [student for student, _, _ in batch])
        for identity in batch:
            graded, known = folders.graded(*identity), facts.get((identity[0], identity[2]))
            if known is not None and graded.exists():
                yield PageTask(identity, graded, folders.page(*identity), known, hidden)


def write_page(task: PageTask) -> bool:
    """Write a page; return whether it is a new one or says something new."""
    notebook = json.loads(task.graded.read_text(encoding="utf-8"))
    text = page(notebook, task.identity[2], task.facts, task.hidden)
    if task.target.exists() and task.target.read_text(encoding="utf-8") == text:
        return False
    write_whole(task.target, text)
    return True


def _facts(
    engine: sa.Engine, ids: AssignmentIds, students: Sequence[str]
) -> dict[tuple[str, str], Facts]:
    """Read scores, comments and penalties by student and notebook."""
    names = {notebook.id: name for name, notebook in ids.notebooks.items()}
    submission, notebook = SubmittedAssignment, SubmittedNotebook
    chosen = (
        sa.select(
            notebook.id, notebook.notebook_id, submission.student_id,
            sa.func.coalesce(notebook.late_submission_penalty, 0.0),
        )
        .join(submission, notebook.assignment_id == submission.id)
        .where(submission.assignment_id == ids.id, submission.student_id.in_(students))
    )  # fmt: skip
    with engine.connect() as connection:
        rows = connection.execute(chosen).all()
        scores = _scores(connection, [row[0] for row in rows])
        comments = _comments(connection, [row[0] for row in rows])
    return {
        (student, names[master]): Facts(
            _in_order(ids, names[master], scores.get(row_id, {})),
            comments.get(row_id, {}),
            float(penalty),
        )
        for row_id, master, student, penalty in rows
    }


def _in_order(
    ids: AssignmentIds, notebook: str, scores: dict[str, float | None]
) -> dict[str, tuple[float | None, float]]:
    points = ids.notebooks[notebook].points
    return {name: (scores.get(name), points[name]) for name in points}


def _scores(
    connection: sa.Connection, notebooks: Sequence[str]
) -> dict[str, dict[str, float | None]]:
    query = (
        sa.select(Grade.notebook_id, BaseCell.name, Grade.score,
                  Grade.auto_score, Grade.manual_score)
        .join(BaseCell, Grade.cell_id == BaseCell.id)
        .where(Grade.notebook_id.in_(notebooks))
    )  # fmt: skip
    found: dict[str, dict[str, float | None]] = {}
    for notebook, name, score, auto, manual in connection.execute(query):
        waits = auto is None and manual is None
        found.setdefault(notebook, {})[name] = None if waits else float(score)
    return found


def _comments(connection: sa.Connection, notebooks: Sequence[str]) -> dict[str, dict[str, str]]:
    query = (
        sa.select(Comment.notebook_id, BaseCell.name, Comment.comment)
        .join(BaseCell, Comment.cell_id == BaseCell.id)
        .where(Comment.notebook_id.in_(notebooks), Comment.comment.is_not(None))
    )
    found: dict[str, dict[str, str]] = {}
    for notebook, name, comment in connection.execute(query):
        found.setdefault(notebook, {})[name] = comment
    return found
