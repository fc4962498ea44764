"""What is asked of a schedule of the learning rate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autograder.checks.compare import Observation
from autograder.checks.core import Check, Functions, Property
from autograder.checks.inputs import Array, Rng
from autograder.checks.observe import RefusedError, call
from autograder.kernels.learning_rate import learning_rate_at


def _schedule(rng: Rng) -> tuple[float, int, int, float]:
    """Draw peak, warmup_steps, total_steps and floor; a small peak, as in practice."""
    warmup = int(rng.integers(6, 12))
    peak = float(rng.uniform(1e-3, 1e-2))
    return peak, warmup, warmup + int(rng.integers(25, 40)), float(peak * rng.uniform(0.05, 0.2))


def _rates(function: Callable[..., Any], steps: Sequence[int], *schedule: Any) -> Array:
    rates = [call(function, int(step), *schedule) for step in steps]
    return np.array([_number(rate) for rate in rates])


def _number(rate: Any) -> float:
    if isinstance(rate, np.ndarray) and rate.size == 1:
        rate = rate.reshape(-1)[0]
    if isinstance(rate, bool) or not isinstance(rate, (int, float, np.integer, np.floating)):
        kind = "None" if rate is None else type(rate).__name__
        raise RefusedError(f"must return the rate as a number; it returned {kind}")
    return float(rate)


def _warmup(functions: Functions, rng: Rng) -> Observation:
    schedule = _schedule(rng)
    return {"rates in the warm-up": _rates(functions[0], range(schedule[1]), *schedule)}


def _cosine(functions: Functions, rng: Rng) -> Observation:
    schedule = _schedule(rng)
    inner = range(schedule[1] + 1, schedule[2], 2)
    return {"rates on the wave": _rates(functions[0], inner, *schedule)}


def _ends(functions: Functions, rng: Rng) -> Observation:
    schedule = _schedule(rng)
    rates = _rates(functions[0], schedule[1:3], *schedule)
    return {"rates at steps warmup_steps and total_steps": rates}


def _after(functions: Functions, rng: Rng) -> Observation:
    schedule = _schedule(rng)
    late = [schedule[2] + more for more in (1, 7, 300)]
    return {"rates after total_steps": _rates(functions[0], late, *schedule)}


def _unwarmed(functions: Functions, rng: Rng) -> Observation:
    peak, _, total, floor = _schedule(rng)
    rates = _rates(functions[0], range(0, total, 9), peak, 0, total, floor)
    return {"rates with warmup_steps = 0": rates}


_GIVEN = "warmup_steps 6 to 11, 25 to 39 steps after it"
_WAVE = "cosine"
RATE = Check(
    "learning_rate_at",
    "optimizer",
    (
        Property("warm-up", 0.3, _warmup, _GIVEN, rtol=2e-6),
        Property(_WAVE, 0.4, _cosine, _GIVEN, rtol=2e-6),
        Property("peak and floor where they belong", 0.1, _ends, _GIVEN, rtol=2e-6),
        Property("floor after the end", 0.1, _after, _GIVEN, rtol=2e-6, needs=_WAVE),
        Property("without a warm-up", 0.1, _unwarmed, "warmup_steps = 0", rtol=2e-6),
    ),
    (learning_rate_at,),
)
