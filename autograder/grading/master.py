"""The instructor's notebook, against which every submission is put in order and graded."""

from __future__ import annotations

import copy
import hashlib
import json
import logging
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbgrader import utils
from nbgrader.nbgraderformat import MetadataValidator
from nbgrader.preprocessors import (
    ClearHiddenTests,
    ClearMarkScheme,
    ClearOutput,
    ClearSolutions,
    ComputeChecksums,
    LockCells,
)
from traitlets.config import Config

KERNELSPEC = {"display_name": "Python 3", "language": "python", "name": "python3"}


class MasterError(Exception):
    """A source notebook or gradebook that nothing can be graded against."""


@dataclass(frozen=True)
class MasterCell:
    """One cell of the instructor's notebook.

    Attributes
    ----------
    grade_id : str or None
        None for a cell that nbgrader does not know.
    kind : str
        ``code``, ``markdown`` or ``raw``.
    source : str
        As the gradebook holds it: solutions cleared, hidden tests in it.
    released : str
        As students get it.
    solved : str or None
        As the instructor wrote it; None where only the gradebook is known.
    metadata : mapping
        What the cell's metadata must be after grading.
    points : float
        Largest score, 0 for a cell without one.
    grade, solution, task, locked : bool
        nbgrader's flags; `locked` as nbgrader means it, so that it overwrites the cell.
    """

    grade_id: str | None
    kind: str
    source: str
    released: str
    solved: str | None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    points: float = 0.0
    grade: bool = False
    solution: bool = False
    task: bool = False
    locked: bool = False

    @property
    def is_test(self) -> bool:
        """Whether running the cell gives a score."""
        return self.kind == "code" and self.grade and not self.solution


@dataclass(frozen=True)
class Master:
    """One notebook of an assignment, as it is graded.

    Attributes
    ----------
    assignment, notebook : str
        As nbgrader knows them.
    cells : tuple of MasterCell
        In order. From a gradebook alone, only those that nbgrader knows.
    kernelspec : mapping
        Of the notebook.
    files : mapping of str to bytes
        The other files of the assignment, which the tests and the students' code read.
    forgeable : frozenset of str
        Test cells that run in the worker, see `autograder.grading.probe`.
    probed : bool
        Whether `forgeable` was tried with the instructor's solution.
    problems : tuple of str
        What is wrong with the notebook itself.
    """

    assignment: str
    notebook: str
    cells: tuple[MasterCell, ...]
    kernelspec: Mapping[str, Any] = field(default_factory=lambda: dict(KERNELSPEC))
    files: Mapping[str, bytes] = field(default_factory=dict)
    forgeable: frozenset[str] = frozenset()
    probed: bool = False
    problems: tuple[str, ...] = ()

    @property
    def max_score(self) -> float:
        """Points of the whole notebook."""
        return sum(cell.points for cell in self.cells)

    @cached_property
    def digest(self) -> str:
        """A name for everything in the notebook that a score depends on."""
        files = {name: hashlib.sha256(data).hexdigest() for name, data in self.files.items()}
        parts = [self.assignment, self.notebook, files, *map(asdict, self.cells)]
        text = json.dumps(parts, sort_keys=True, default=str)
        return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()

    def index(self) -> dict[str, int]:
        """Give the place of each cell that has a name."""
        return {cell.grade_id: i for i, cell in enumerate(self.cells) if cell.grade_id}


def master_from_source(
    source: bytes,
    assignment: str,
    notebook: str,
    *,
    files: Mapping[str, bytes] | None = None,
    config: Config | None = None,
) -> Master:
    """Build a master from the instructor's notebook, as ``generate_assignment`` would.

    Parameters
    ----------
    source : bytes
        The notebook with solutions and hidden tests.
    assignment, notebook : str
        Names as nbgrader knows them.
    files : mapping of str to bytes, optional
        The other files of the assignment.
    config : traitlets.config.Config, optional
        The course's; its delimiters and stubs are used.

    Raises
    ------
    MasterError
        The notebook cannot be read, or nbgrader cannot make a release of it.
    """
    try:
        with warnings.catch_warnings():
            # Notebooks of older nbgrader courses have no cell ids, which nothing here needs.
            warnings.simplefilter("ignore")
            solved = nbformat.reads(source.decode("utf-8"), as_version=4)
        if any("### AUTOTEST" in cell.source for cell in solved.cells):
            raise ValueError("it has '### AUTOTEST' cells: build the master from the gradebook")
        stored = _prepare(solved, config, LockCells, ClearSolutions, ClearOutput, ComputeChecksums)
        released = _prepare(stored, config, ClearHiddenTests, ClearMarkScheme)
        cells = [_cell(*three) for three in zip(solved.cells, stored.cells, released.cells)]
    except Exception as error:
        raise MasterError(f"{assignment}/{notebook}: no master notebook: {error}") from error
    spec = dict(solved.metadata.get("kernelspec") or KERNELSPEC)
    return Master(assignment, notebook, tuple(cells), spec, dict(files or {}))


def master_from_gradebook(
    gradebook: Any,
    assignment: str,
    notebook: str,
    *,
    files: Mapping[str, bytes] | None = None,
    config: Config | None = None,
) -> Master:
    """Build a master from what nbgrader's gradebook holds of a released notebook.

    Parameters
    ----------
    gradebook : nbgrader.api.Gradebook
        Open; it is only read.
    assignment, notebook, files, config
        As in `master_from_source`.

    Raises
    ------
    nbgrader.api.MissingEntry
        The gradebook does not know the notebook.
    """
    entry = gradebook.find_notebook(notebook, assignment)
    points = {c.name: float(c.max_score) for c in (*entry.grade_cells, *entry.task_cells)}
    roles = {
        "grade": {cell.name for cell in entry.grade_cells},
        "solution": {cell.name for cell in entry.solution_cells},
        "task": {cell.name for cell in entry.task_cells},
    }
    nodes = [_stored_cell(cell, points, roles) for cell in entry.source_cells]
    stored = nbformat.v4.new_notebook(cells=nodes)
    released = _prepare(stored, config, LockCells, ClearHiddenTests, ClearMarkScheme)
    for node, public in zip(nodes, released.cells):
        node.metadata = public.metadata
    cells = tuple(_cell(None, *two) for two in zip(nodes, released.cells))
    spec = json.loads(entry.kernelspec or "null") or KERNELSPEC
    return Master(assignment, notebook, cells, spec, dict(files or {}))


def _prepare(notebook: NotebookNode, config: Config | None, *steps: type) -> NotebookNode:
    result, resources = copy.deepcopy(notebook), {"language": "python"}
    result.metadata.setdefault("kernelspec", NotebookNode(KERNELSPEC))
    validator = MetadataValidator()
    for cell in result.cells:
        validator.upgrade_cell_metadata(cell)
    for step in steps:
        preprocessor = step(config=config, log=logging.getLogger(__name__))
        result, resources = preprocessor.preprocess(result, resources)
    return result


def _cell(solved: NotebookNode | None, stored: NotebookNode, released: NotebookNode) -> MasterCell:
    mark = stored.metadata.get("nbgrader", {})
    known = mark.get("grade") or mark.get("solution") or mark.get("locked") or mark.get("task")
    if not known or not mark.get("grade_id"):
        text = solved.source if solved else None
        return MasterCell(None, stored.cell_type, stored.source, released.source, text)
    locked = bool(utils.is_locked(stored))
    graded = mark.get("grade") or mark.get("task")
    metadata = {k: v for k, v in stored.metadata.items() if k in ("deletable", "editable", "tags")}
    task = bool(mark.get("task"))
    metadata["nbgrader"] = {
        **mark, "locked": locked, "task": task, "cell_type": stored.cell_type
    }  # fmt: skip
    return MasterCell(
        mark["grade_id"], stored.cell_type, stored.source, released.source,
        solved.source if solved else None, metadata,
        float(mark.get("points", 0)) if graded else 0.0,
        bool(mark.get("grade")), bool(mark.get("solution")), task, locked,
    )  # fmt: skip


def _stored_cell(
    entry: Any, points: Mapping[str, float], roles: Mapping[str, set[str]]
) -> NotebookNode:
    new = nbformat.v4.new_code_cell if entry.cell_type == "code" else nbformat.v4.new_markdown_cell
    flags = {role: entry.name in names for role, names in roles.items()}
    mark = {"grade_id": entry.name, "locked": entry.locked, "schema_version": 3, **flags,
            "cell_type": entry.cell_type, "checksum": entry.checksum}  # fmt: skip
    if entry.name in points:
        mark["points"] = points[entry.name]
    return new(entry.source or "", metadata={"nbgrader": mark})
