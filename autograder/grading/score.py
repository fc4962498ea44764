"""From what a test cell did to a score: only what ran to its end earns points."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder.checks.report import Report
from autograder.grading.master import Master, MasterCell
from autograder.grading.repair import Repaired
from autograder.grading.testcell import TestRun

NO_RESPONSE = "No response."
# IPython names a cell's file after a hash: "expected ':' (3040635683.py, line 1)".
_MISSING = re.compile(r"NameError: name '(\w+)' is not defined")
_PLACE = re.compile(r" \((?:[^()]*\.py|<[^()]*>), line")


@dataclass
class Verdict:
    """The grade of one cell.

    Attributes
    ----------
    grade_id : str
        The cell.
    kind : str
        ``grade``, or ``task`` for a cell that only people grade.
    score : float or None
        None where a person must grade.
    max_score : float
    needs_manual : bool
        Whether a person must look at it.
    forgeable : bool
        Whether the test ran in the student's process, which could have forged it.
    reason : str
        Why points were lost, in one line; empty if none were.
    mistake : str or None
        The known misconception that was found.
    lost : tuple of str
        Graded properties that were lost.
    """

    grade_id: str
    kind: str
    score: float | None
    max_score: float
    needs_manual: bool = False
    forgeable: bool = False
    reason: str = ""
    mistake: str | None = None
    lost: tuple[str, ...] = ()


def verdicts(
    master: Master,
    repaired: Repaired,
    runs: Mapping[str, TestRun],
    answer_errors: Mapping[str, str],
    forgeable: frozenset[str],
) -> dict[str, Verdict]:
    """Grade every cell of the master that has points."""
    sources = _sources(repaired)
    found = {}
    for place, known in enumerate(master.cells):
        name = known.grade_id
        if name is None or not (known.grade or known.task):
            continue
        if known.task:
            found[name] = Verdict(name, "task", None, known.points, needs_manual=True)
        elif known.is_test:
            found[name] = _tested(known, runs.get(name), answer_errors)
            found[name].forgeable = name in forgeable
        else:
            found[name] = _written(known, sources.get(place))
    return found


def comments(master: Master, repaired: Repaired) -> dict[str, str | None]:
    """Give the automatic comment of every cell that has one, as nbgrader does."""
    sources = _sources(repaired)
    return {
        known.grade_id: NO_RESPONSE
        if known.solution and not known.task and sources.get(place) == known.source
        else None
        for place, known in enumerate(master.cells)
        if known.grade_id is not None and (known.solution or known.task)
    }


def score_of(run: TestRun, most: float) -> float:
    """Score a test cell.

    An error gives nothing. A number as last value is partial credit between 0 and `most`; NaN
    and negative numbers give nothing. Anything else that ran to its end gives all points.
    """
    if not run.finished:
        return 0.0
    value = run.value
    if isinstance(value, bool | np.bool_) or not isinstance(value, int | float | np.number):
        return most
    try:
        number = float(value)
    except OverflowError:
        return most if value > 0 else 0.0
    except (TypeError, ValueError):
        return 0.0
    return 0.0 if math.isnan(number) or number < 0 else min(number, most)


def _sources(repaired: Repaired) -> dict[int, str]:
    cells: list[dict[str, Any]] = repaired.notebook["cells"]
    return {o: cell["source"] for cell, o in zip(cells, repaired.origins) if o is not None}


def _tested(known: MasterCell, run: TestRun | None, answer_errors: Mapping[str, str]) -> Verdict:
    name = known.grade_id or ""
    if run is None:
        # An empty test cell of the master asks nothing, and nbgrader gives its points.
        empty = not known.source.strip()
        reason = "" if empty else "the test did not run"
        return Verdict(name, "grade", known.points if empty else 0.0, known.points, reason=reason)
    score = score_of(run, known.points)
    verdict = Verdict(name, "grade", score, known.points)
    if score < known.points:
        verdict.reason = _reason(run, answer_errors)
        named = [report for report in run.reports if report.mistake]
        verdict.mistake = named[0].mistake if named else None
        verdict.lost = tuple(part.name for report in run.reports for part in report.outcomes
                             if part.reason is not None)  # fmt: skip
    return verdict


def _reason(run: TestRun, answer_errors: Mapping[str, str]) -> str:
    """Say why points were lost; a name that is missing, by the error of its own cell."""
    for report in run.reports:
        if report.mistake_name:
            return report.mistake_name
    if reasons := [why for report in run.reports for why in _reasons(report)]:
        return reasons[0]
    error = run.error or "the test gave part of the points"
    missing = _MISSING.match(error)
    chosen = answer_errors.get(missing[1], error) if missing else error
    return _PLACE.sub(" (line", chosen)


def _reasons(report: Report) -> list[str]:
    return [part.reason for part in report.outcomes if part.reason is not None]


def _written(known: MasterCell, source: str | None) -> Verdict:
    name = known.grade_id or ""
    if source is None or source == known.source:
        return Verdict(name, "grade", 0.0, known.points, reason="no response")
    return Verdict(name, "grade", None, known.points, needs_manual=True)
