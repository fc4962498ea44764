"""Which assignments a course has, and their entry in nbgrader's gradebook."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import nbformat

from autograder.course import stock
from autograder.course.folders import Folders
from autograder.course.paths import Course, CourseError
from autograder.course.release import build_sources
from autograder.course.worker import write_whole

Notebooks = dict[str, list[str]]


def is_ours(course: Course) -> bool:
    """Tell a course with sources in ``solutions/`` from any other course of nbgrader."""
    return course.solutions.is_dir()


def notebooks_of(course: Course, folders: Folders) -> Notebooks:
    """List the notebooks of every assignment; our own are built from their sources first.

    Raises
    ------
    CourseError
        There are none.
    """
    if is_ours(course):
        layers = course.layers()
        build_sources(course, layers, folders.source)
        return {layer: [layer] for layer in layers}
    found: Notebooks = {}
    for path in sorted(folders.source.glob("*/*.ipynb")):
        found.setdefault(path.parent.name, []).append(path.stem)
    if not found:
        raise CourseError(
            f"{folders.source}: no assignment in it, nothing was released. "
            "Run from the root of the course, or name it with --root."
        )
    return found


def choose(known: Iterable[str], wanted: Iterable[str], what: str) -> list[str]:
    """Keep the wanted of the known names, in their order; without a wish, all.

    Raises
    ------
    CourseError
        A wanted name is not known.
    """
    known, wanted = list(known), set(wanted)
    if unknown := wanted - set(known):
        raise CourseError(
            f"unknown {what} {', '.join(sorted(unknown))}; they are {', '.join(known)}."
        )
    return [name for name in known if not wanted or name in wanted]


def register(course: Course, folders: Folders, assignments: Sequence[str]) -> dict[str, str]:
    """Enter assignments in the gradebook where it lacks them or holds an older version.

    Returns
    -------
    dict of str to str
        For each assignment that could not be entered, the reason.
    """
    path = course.ledger.with_name("registered.json")
    try:
        known: dict[str, str] = json.loads(path.read_text()) if path.exists() else {}
    except ValueError:
        known = {}
    digests = {name: _digest(folders.source / name) for name in assignments}
    with stock.open_gradebook(stock.load_config(course.root)) as gradebook:
        present = {assignment.name for assignment in gradebook.assignments}
    refused: dict[str, str] = {}
    for name, digest in digests.items():
        fresh = known.get(name) == digest or (not is_ours(course) and name not in known)
        if name in present and fresh:
            continue
        if reason := _enter(course, name):
            refused[name] = reason
        else:
            known[name] = digest
    write_whole(path, json.dumps(known, indent=1, sort_keys=True))
    return refused


def graded_ids(folders: Folders, assignment: str, notebook: str) -> set[str]:
    """List the ids of the graded cells of an instructor's notebook."""
    source = nbformat.read(folders.master(assignment, notebook), as_version=4)
    marks = [cell.metadata.get("nbgrader", {}) for cell in source.cells]
    return {mark["grade_id"] for mark in marks if mark.get("grade")}


def _digest(folder: Path) -> str:
    total = hashlib.sha256()
    for path in sorted(folder.glob("*.ipynb")):
        total.update(path.name.encode() + b"\0" + path.read_bytes())
    return total.hexdigest()


def _enter(course: Course, name: str) -> str:
    """Enter one assignment; its release goes to a folder that is thrown away."""
    course.build.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=course.build) as folder:
        release = str(Path(folder).relative_to(course.root))
        config = stock.load_config(course.root, release_directory=release)
        outcome = stock.generate_assignment(config, name, database=True)
    if outcome.ok:
        return ""
    if "submissions associated" in outcome.log:
        return (
            "cells were added to or removed from the exercise after submissions were graded; "
            "move _build/gradebook.db away and grade everybody anew"
        )
    lines = [line for line in outcome.log.splitlines() if line.strip()]
    return lines[-1] if lines else "nbgrader refused it"
