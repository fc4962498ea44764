"""Prove the checks: known mistakes lose points and are named, right variants keep all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from autograder.checks import all_checks
from autograder.checks.core import Check, Functions
from autograder.checks.report import Report
from autograder.mistakes import Mistake, mistakes_of

__all__ = ["Check", "Row", "all_checks", "audit", "in_float32", "reasons", "summary"]

POINTS = 10.0


@dataclass
class Row:
    """The proof of one check.

    Attributes
    ----------
    name : str
        The exercise function.
    mistakes, killed, named : int
        Known mistakes tried, those that lost points, those named as themselves or as an
        equivalent one, on every seed.
    variants, accepted : int
        Right implementations tried, those that kept full marks on every seed.
    stub : float
        Score of the released starter, of 1.
    reference_runs, rejections : int
        Runs of the reference in float32 and float64, and how many of them lost points.
    notes : list of str
        What fell short, one line each; equivalent mistakes that were named instead.
    """

    name: str
    mistakes: int = 0
    killed: int = 0
    named: int = 0
    variants: int = 0
    accepted: int = 0
    stub: float = 0.0
    reference_runs: int = 0
    rejections: int = 0
    notes: list[str] = field(default_factory=list)

    @property
    def proven(self) -> bool:
        """Whether every requirement but the share of names is met."""
        whole = self.killed == self.mistakes and self.accepted == self.variants
        return whole and self.stub == 0 and self.rejections == 0

    def as_dict(self) -> dict[str, Any]:
        """Give the row as plain data."""
        return asdict(self)


def audit(
    check: Check,
    variants: dict[str, Functions],
    stub: Functions,
    seeds: int = 3,
    reference_seeds: int = 200,
) -> Row:
    """Try everything known about one exercise function against its check.

    Parameters
    ----------
    check : Check
    variants : dict of str to tuple of callable
        Right implementations by name, as the check takes them.
    stub : tuple of callable
        The released starter's functions.
    seeds : int
        Seeds tried for each mistake and variant; all of them must agree.
    reference_seeds : int
        Seeds on which the reference runs, in float32 and in float64.
    """
    row = Row(check.function)
    for mistake in mistakes_of(check.function, check.layer):
        _try_mistake(row, check, mistake, seeds)
    for name, functions in variants.items():
        _try_variant(row, check, name, functions, seeds)
    row.stub = check.report(stub, POINTS, 0).score / POINTS
    _try_reference(row, check, reference_seeds)
    return row


def _try_mistake(row: Row, check: Check, mistake: Mistake, seeds: int) -> None:
    reports = [check.report(mistake.functions(), POINTS, seed) for seed in range(seeds)]
    row.mistakes += 1
    survived = [report for report in reports if report.score >= POINTS]
    row.killed += not survived
    if survived:
        row.notes.append(f"{mistake.id} ({mistake.name}) kept full marks")
    names = {report.mistake for report in reports}
    row.named += names <= {mistake.id, *mistake.equivalent}
    if names != {mistake.id}:
        called = ", ".join(sorted(name or "nothing" for name in names))
        row.notes.append(f"{mistake.id} ({mistake.name}) was called {called}")


def _try_variant(row: Row, check: Check, name: str, functions: Functions, seeds: int) -> None:
    row.variants += 1
    reports = [check.report(functions, POINTS, seed) for seed in range(seeds)]
    row.accepted += all(report.score == POINTS for report in reports)
    row.notes += [
        f"right variant {name!r} lost: {why}" for report in reports for why in reasons(report)
    ][:1]


def _try_reference(row: Row, check: Check, seeds: int) -> None:
    narrow = tuple(in_float32(function) for function in check.reference)
    for seed in range(seeds):
        for functions in (check.reference, narrow):
            report = check.report(functions, POINTS, seed)
            row.reference_runs += 1
            if report.score < POINTS:
                row.rejections += 1
                row.notes.append(f"reference rejected on seed {seed}: {reasons(report)[0]}")


def reasons(report: Report) -> list[str]:
    """List why a report lost points."""
    return [f"{out.name}: {out.reason}" for out in report.outcomes if out.reason is not None]


def in_float32(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function so that it computes with float32 arrays and returns them."""

    def narrow(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: narrow(part) for name, part in value.items()}
        wide = isinstance(value, np.ndarray) and value.dtype == np.float64
        return value.astype(np.float32) if wide else value

    def narrowed(*args: Any, **kwargs: Any) -> Any:
        returned = function(*map(narrow, args), **{k: narrow(v) for k, v in kwargs.items()})
        return tuple(map(narrow, returned)) if isinstance(returned, tuple) else narrow(returned)

    return narrowed


def summary(rows: Sequence[Row]) -> Row:
    """Add the rows up."""
    total = Row("all")
    for row in rows:
        for name in ("mistakes", "killed", "named", "variants", "accepted", "stub"):
            setattr(total, name, getattr(total, name) + getattr(row, name))
        total.reference_runs += row.reference_runs
        total.rejections += row.rejections
    return total
