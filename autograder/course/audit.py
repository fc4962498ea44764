"""Audit the whole course: collect variants and stubs, prove each check, print the table."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import jupytext
import nbformat

from autograder.course.paths import Course, CourseError
from autograder.grading.audit import Check, Row, all_checks, audit, summary

NAMED_SHARE = 0.95


def audit_course(course: Course, layers: Sequence[str] = (), **seeds: int) -> list[Row]:
    """Prove every check of the given layers (all by default)."""
    wanted = course.layers(layers)
    return [
        audit(check, _variants(course, check), _stub(course, check), **seeds)
        for check in all_checks()
        if check.layer in wanted
    ]


def _variants(course: Course, check: Check) -> dict[str, tuple[Callable[..., Any], ...]]:
    """Collect the right implementations: the solution itself and those kept with the tests."""
    source = course.solutions / check.layer / f"{check.layer}.md"
    found = {"the solution": _functions(jupytext.read(source), check, source)}
    path = course.root / "tests" / "variants" / f"{check.layer}.py"
    for functions in _load(path).get(check.function, []):
        found[functions[-1].__name__] = functions
    return found


def _load(path: Path) -> dict[str, list[tuple[Callable[..., Any], ...]]]:
    spec = importlib.util.spec_from_file_location(f"variants_{path.stem}", path)
    if spec is None or spec.loader is None or not path.exists():
        raise CourseError(f"{path} is missing: the audit needs its right variants.")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return dict(module.VARIANTS)


def _stub(course: Course, check: Check) -> tuple[Callable[..., Any], ...]:
    path = course.exercises / check.layer / f"{check.layer}.ipynb"
    if not path.exists():
        raise CourseError(f"{path} is missing: run `make release` first.")
    return _functions(nbformat.read(path, as_version=4), check, path)


def _functions(notebook: Any, check: Check, path: Path) -> tuple[Callable[..., Any], ...]:
    """Run the imports and the answer cells of our own notebook; give what the check takes."""
    names: dict[str, Any] = {}
    for cell in notebook.cells:
        meta = cell.metadata.get("nbgrader", {})
        if cell.cell_type == "code" and (meta.get("solution") or "import numpy" in cell.source):
            exec(compile(cell.source, str(path), "exec"), names)
    missing = [name for name in check.takes if name not in names]
    if missing:
        raise CourseError(f"{path} does not define {', '.join(missing)}.")
    return tuple(names[name] for name in check.takes)


def as_json(rows: Sequence[Row]) -> str:
    """Write the rows as JSON: ``{"functions": [{"name", "mistakes", ...}, ...]}``."""
    return json.dumps({"functions": [row.as_dict() for row in rows]}, indent=2)


def as_table(rows: Sequence[Row]) -> str:
    """Write the rows as a table for a person, followed by what fell short."""
    head = f"{'function':<22} {'mistakes':>8} {'killed':>7} {'named':>6} {'variants':>9}"
    lines = [f"{head} {'accepted':>9} {'stub':>5} {'reference runs':>15} {'rejected':>9}"]
    for row in (*rows, summary(rows)):
        lines.append(
            f"{row.name:<22} {row.mistakes:>8} {row.killed:>7} {row.named:>6} {row.variants:>9} "
            f"{row.accepted:>9} {row.stub:>5g} {row.reference_runs:>15} {row.rejections:>9}"
        )
    notes = [f"  {row.name}: {note}" for row in rows for note in row.notes]
    return "\n".join([*lines, *(["", "Remarks:", *notes] if notes else [])])


def passed(rows: Sequence[Row]) -> bool:
    """Tell whether every check is proven and enough mistakes are named."""
    named = all(row.named >= NAMED_SHARE * row.mistakes for row in rows)
    return named and all(row.proven for row in rows)
