"""Compare what was observed with what is right, and say how they differ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

Observation = Mapping[str, Any]


@dataclass(frozen=True)
class Within:
    """An expected statistic: any value at most `tolerance` away from `value` is right."""

    value: float
    tolerance: float


def distance(got: Any, expected: Any) -> float:
    """Measure how far two observed values lie apart; infinity where they cannot agree.

    Arrays: ``max|got - expected| / max|expected|``, with equal shapes and equal places of NaN
    and infinity. Numbers: the difference over the larger of 1 and the expected size. Everything
    else is equal or infinitely far.
    """
    if isinstance(expected, Within):
        expected = expected.value
    if isinstance(expected, np.ndarray):
        return _array_distance(got, expected)
    if isinstance(expected, float) and isinstance(got, float):
        if not np.isfinite(got) or not np.isfinite(expected):
            return 0.0 if str(got) == str(expected) else np.inf
        return abs(got - expected) / max(1.0, abs(expected))
    return 0.0 if type(got) is type(expected) and got == expected else np.inf


def _array_distance(got: Any, expected: np.ndarray) -> float:
    if not isinstance(got, np.ndarray) or got.shape != expected.shape:
        return np.inf
    if got.size == 0:
        return 0.0
    same = (got == expected) | (np.isnan(got) & np.isnan(expected))
    finite = np.isfinite(got) & np.isfinite(expected)
    if not np.all(same | finite):
        return np.inf
    gap = np.max(np.abs(got[finite] - expected[finite]), initial=0.0)
    scale = np.max(np.abs(expected[finite]), initial=0.0)
    return float(gap / scale) if scale > 0 else float(gap)


def explain(name: str, got: Any, expected: Any, rtol: float) -> str | None:
    """Say in a sentence how a value misses what is expected, or None where it does not.

    The sentence tells shapes and sizes, never the expected numbers themselves.
    """
    if isinstance(expected, Within):
        # A statistic that cannot be computed (NaN) is never within a tolerance.
        good = isinstance(got, float) and abs(got - expected.value) <= expected.tolerance
        return None if good else f"{name} is {_number(got)}; about {expected.value:.4g} is right"
    gap = distance(got, expected)
    if gap <= rtol:
        return None
    if not isinstance(expected, np.ndarray):
        return f"{name} is {_number(got)}; {_number(expected)} is right"
    if not isinstance(got, np.ndarray):
        return f"{name} is missing"
    if got.shape != expected.shape:
        return f"{name} must have shape {expected.shape}; got {got.shape}"
    if not np.isfinite(got).all() and np.isfinite(expected).all():
        return f"{name} has NaN or infinite entries where every entry should be finite"
    return f"{name} is off by {gap:.2g} of its largest entry (allowed: {rtol:.0e})"


def _number(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
