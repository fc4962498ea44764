"""Put a submission in order: the master's cells in the master's order, the student's answers.

Only the master decides which cells are graded, what they are worth and what a locked cell
holds, so that no metadata of a submission can change a grade.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from autograder.grading.document import (
    MAX_BYTES,
    Cell,
    Document,
    UnreadableError,
    read_document,
)
from autograder.grading.master import Master, MasterCell
from autograder.grading.matching import Match, is_untouched, match_cells, same_text
from autograder.grading.names import names_of, read_names
from autograder.grading.order import arrange
from autograder.grading.wording import Repair, repair_note

__all__ = ["Repair", "Repaired", "UnreadableError", "repair"]

# Longer texts in a locked cell are not looked at, since parsing them takes much memory.
LONGEST_KEPT = 100_000
# Execution must not depend on anything that a student may write beside the code, and the
# notebook must stay valid: the format wants yes or no here.
STUDENT_METADATA = ("collapsed", "scrolled")
PYTHON_KERNELS = ("python", "python3", "ir")


@dataclass
class Repaired:
    """A notebook in which every cell of the master is there, once, in its place.

    Attributes
    ----------
    notebook : dict
        In nbformat 4.5, without outputs.
    origins : list of (int or None)
        For each cell of the notebook the place of its cell in the master; None for a cell of
        the student's own.
    repairs : tuple of Repair
        What was put right.
    """

    notebook: dict[str, Any]
    origins: list[int | None]
    repairs: tuple[Repair, ...]


def repair(raw: bytes, master: Master, max_bytes: int = MAX_BYTES) -> Repaired:
    """Read a submission and put it in order.

    Parameters
    ----------
    raw : bytes
        The file that was handed in.
    master : Master
        What it should have been made from.
    max_bytes : int
        Larger files are refused unread.

    Raises
    ------
    UnreadableError
        The file holds no notebook; the message says why.
    """
    document = read_document(raw, max_bytes)
    match = match_cells(master, document.cells)
    notes = [repair_note(kind) for kind in document.oddities]
    notes += _notebook_notes(document, master)
    order, moved = arrange(master, document.cells, match)
    notes += [repair_note("moved")] if moved else []
    built = list(_build(master, document.cells, match, order, notes))
    cells = _with_ids([cell for cell, _ in built])
    notebook = {
        "cells": cells,
        "metadata": {"kernelspec": dict(master.kernelspec), "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return Repaired(notebook, [origin for _, origin in built], tuple(dict.fromkeys(notes)))


def _notebook_notes(document: Document, master: Master) -> Iterator[Repair]:
    spec = document.metadata.get("kernelspec")
    name = spec.get("name") if isinstance(spec, dict) else None
    if name != master.kernelspec.get("name") and name not in PYTHON_KERNELS[:2]:
        yield repair_note("kernel")
    known = master.index()
    for cell in document.cells:
        if cell.metadata.get("tags"):
            yield repair_note("tags")
        if cell.grade_id is not None and cell.grade_id not in known:
            yield repair_note("unknown")


def _build(
    master: Master,
    cells: Sequence[Cell],
    match: Match,
    order: Sequence[tuple[str, int]],
    notes: list[Repair],
) -> Iterator[tuple[dict[str, Any], int | None]]:
    for whose, number in order:
        if whose == "free":
            yield _free_cell(cells[number]), None
            continue
        known, position = master.cells[number], match.place[number]
        given = None if position is None else cells[position]
        if known.grade_id is None:
            if given is not None:
                yield _free_cell(given, known.kind), None
            continue
        notes += _cell_notes(known, given, match, number)
        if given is not None and (kept := _worth_keeping(known, given)):
            notes.append(repair_note("kept", known.grade_id))
            yield _cell("code", kept, {}), None
        yield _known_cell(known, given), number


def _known_cell(known: MasterCell, given: Cell | None) -> dict[str, Any]:
    """Make a cell of the master's, with the student's answer where it is one."""
    source = known.source
    metadata = dict(known.metadata)
    if given is not None and not known.locked:
        source = given.source
    if given is not None:
        metadata = {**_student_metadata(given), **metadata}
    built = _cell(known.kind, source, metadata, given.id if given else None)
    if given is not None and given.attachments and known.kind == "markdown":
        built["attachments"] = given.attachments
    built.setdefault("id", known.grade_id)
    return built


def _free_cell(given: Cell, kind: str | None = None) -> dict[str, Any]:
    built = _cell(kind or given.kind, given.source, _student_metadata(given), given.id)
    if given.attachments and built["cell_type"] != "code":
        built["attachments"] = given.attachments
    return built


def _cell(
    kind: str, source: str, metadata: dict[str, Any], name: str | None = None
) -> dict[str, Any]:
    built: dict[str, Any] = {"cell_type": kind, "metadata": metadata, "source": source}
    if kind == "code":
        built |= {"execution_count": None, "outputs": []}
    if name:
        built["id"] = name
    return built


def _student_metadata(given: Cell) -> dict[str, Any]:
    found = {name: given.metadata.get(name) for name in STUDENT_METADATA}
    return {name: value for name, value in found.items() if isinstance(value, bool)}


def _with_ids(cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Give every cell an id of its own, as the format asks; keep those that have one."""
    seen: set[str] = set()
    for number, cell in enumerate(cells):
        name = cell.get("id") or f"cell-{number}"
        while name in seen:
            name = f"cell-{number}-{len(seen)}"
        seen.add(name)
        cell["id"] = name
    return cells


def _cell_notes(
    known: MasterCell, given: Cell | None, match: Match, place: int
) -> Iterator[Repair]:
    name = known.grade_id
    if given is None:
        yield repair_note("missing" if known.solution else "missing_locked", name)
        return
    if match.how[place] != "id":
        yield repair_note("identity", name, match.how[place])
    else:
        yield from _mark_notes(known, given)
    if place in match.twice:
        yield repair_note("duplicate", name)
    if given.kind != known.kind:
        yield repair_note("retyped", name)
    if known.locked and not is_untouched(known, given.source):
        yield repair_note("locked", name)


def _mark_notes(known: MasterCell, given: Cell) -> Iterator[Repair]:
    mark = given.mark
    if mark.get("schema_version") != 3:
        yield repair_note("schema", known.grade_id)
    flags = (mark.get("grade", False), mark.get("solution", False), mark.get("task", False))
    if flags != (known.grade, known.solution, known.task):
        yield repair_note("flags", known.grade_id)
    points = mark.get("points", 0)
    if (known.grade or known.task) and points != known.points:
        yield repair_note("points", known.grade_id)


def _worth_keeping(known: MasterCell, given: Cell) -> str:
    """Give what a student wrote into a locked code cell, if it binds names of its own."""
    if not known.locked or known.kind != "code" or is_untouched(known, given.source):
        return ""
    mine, course = read_names(given.source, LONGEST_KEPT), names_of(known.source)
    new = (mine.binds | set(mine.imports)) - course.binds - set(course.imports)
    return given.source if new and not same_text(given.source, known.source) else ""
