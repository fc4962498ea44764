"""The ids that nbgrader's gradebook gave to assignments, notebooks and cells, read once."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from nbgrader.api import Assignment, BaseCell, GradeCell, Notebook, SourceCell, TaskCell

from autograder.course.paths import CourseError


@dataclass(frozen=True)
class NotebookIds:
    """One notebook of an assignment: ids of its cells by ``grade_id``.

    Attributes
    ----------
    id : str
        The notebook's own.
    grades, tasks, solutions : dict of str to str
        Cells that have a grade, that have a grade by hand and a comment, that have a comment.
    points : dict of str to float
        Largest score of each cell with a grade.
    """

    id: str
    grades: dict[str, str]
    tasks: dict[str, str]
    solutions: dict[str, str]
    points: dict[str, float]


@dataclass(frozen=True)
class AssignmentIds:
    """One assignment as the gradebook knows it."""

    id: str
    name: str
    course_id: str
    duedate: datetime.datetime | None
    notebooks: dict[str, NotebookIds]

    @property
    def max_score(self) -> float:
        """Points to be had."""
        return sum(sum(notebook.points.values()) for notebook in self.notebooks.values())


def read_snapshot(
    connection: sa.Connection, assignments: Iterable[str]
) -> dict[str, AssignmentIds]:
    """Read the ids of the given assignments.

    Raises
    ------
    CourseError
        The gradebook does not know one of them.
    """
    return {name: _assignment(connection, name) for name in assignments}


def known_assignments(connection: sa.Connection) -> list[str]:
    """List the assignments in the gradebook."""
    return list(connection.execute(sa.select(Assignment.__table__.c.name)).scalars())


def locked_sources(connection: sa.Connection, assignment: str) -> int:
    """Count the cells of an assignment that the gradebook keeps the text of."""
    cells, notebooks, table = SourceCell.__table__, Notebook.__table__, Assignment.__table__
    query = (
        sa.select(sa.func.count())
        .select_from(cells.join(notebooks, cells.c.notebook_id == notebooks.c.id))
        .join(table, notebooks.c.assignment_id == table.c.id)
        .where(table.c.name == assignment)
    )
    return int(connection.execute(query).scalar_one())


def _assignment(connection: sa.Connection, name: str) -> AssignmentIds:
    table, notebooks = Assignment.__table__, Notebook.__table__
    row = connection.execute(sa.select(table).where(table.c.name == name)).one_or_none()
    if row is None:
        raise CourseError(
            f"{name}: the gradebook does not know this assignment; "
            f"run `nbgrader generate_assignment {name}`, or `make release` in our own course."
        )
    found = connection.execute(
        sa.select(notebooks.c.id, notebooks.c.name).where(notebooks.c.assignment_id == row.id)
    )
    ids = {notebook.name: _notebook(connection, notebook.id) for notebook in found.all()}
    return AssignmentIds(row.id, row.name, row.course_id, row.duedate, ids)


def _notebook(connection: sa.Connection, notebook: str) -> NotebookIds:
    base = BaseCell.__table__
    cells = connection.execute(
        sa.select(base.c.id, base.c.name, base.c.type).where(base.c.notebook_id == notebook)
    ).all()
    kinds: dict[str, dict[str, str]] = {"GradeCell": {}, "TaskCell": {}, "SolutionCell": {}}
    for cell in cells:
        kinds[cell.type][cell.name] = cell.id
    grades, tasks = kinds["GradeCell"], kinds["TaskCell"]
    points = {**_points(connection, GradeCell, grades), **_points(connection, TaskCell, tasks)}
    return NotebookIds(notebook, grades, tasks, kinds["SolutionCell"], points)


def _points(connection: sa.Connection, model: Any, cells: dict[str, str]) -> dict[str, float]:
    table = model.__table__
    query = sa.select(table.c.id, table.c.max_score).where(table.c.id.in_(cells.values()))
    by_id = {row.id: row.max_score for row in connection.execute(query)}
    return {name: by_id[cell] for name, cell in cells.items()}
