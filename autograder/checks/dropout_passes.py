"""Run a student's dropout, and describe its randomness in numbers that do not depend on luck."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograder.checks.compare import Within
from autograder.checks.core import Functions
from autograder.checks.inputs import Array, Rng
from autograder.checks.observe import RefusedError, array, call, unpack

# A right answer strays this many standard errors once in a million draws.
ERRORS = 5.0
# For float32 answers: rounding in the product, the division and the mean.
EXACT = 2e-5


def draw(rng: Rng, shape: tuple[int, ...]) -> Array:
    """Draw entries of both signs and none near 0, so that a 0 in the output was dropped."""
    return rng.choice([-1.0, 1.0], size=shape) * rng.uniform(0.5, 2.0, size=shape)


def fresh(rng: Rng) -> Rng:
    """Make a generator for the student, who then cannot disturb the drawing of inputs."""
    return np.random.default_rng(int(rng.integers(2**32)))


def forward(functions: Functions, x: Array, p: float, training: bool, rng: Rng) -> Any:
    """Call the student's forward pass; give out in float64, of the shape of x, and the cache."""
    returned = unpack(call(functions[0], x.copy(), p, training, rng), ("out", "cache"))
    return shaped(array(returned[0], "out"), "out", x), returned[1]


def shaped(value: Array, name: str, x: Array) -> Array:
    """Give `value` back, or refuse it where its shape is not that of `x`."""
    if value.shape != x.shape:
        raise RefusedError(f"must return {name} with the shape of x, {x.shape}; got {value.shape}")
    return value


def share(condition: Array) -> float:
    """Give the share of true entries; NaN where there are none to count."""
    return float(np.mean(condition)) if condition.size else float("nan")


def close(got: Array, expected: Array) -> Array:
    """Tell for each entry whether it is right to rounding in float32."""
    return np.isclose(got, expected, rtol=EXACT, atol=0)


def factor(name: str, ratio: Array) -> dict[str, float]:
    """Describe a factor that should be 1 everywhere; NaN where it cannot be computed."""
    if not ratio.size or not np.isfinite(ratio).all():
        return {name: float("nan"), f"spread of {name}": float("nan")}
    return {name: float(ratio.mean()), f"spread of {name}": float(ratio.std())}


def at_zero_p(right: Callable[[], float]) -> float:
    """Take a share of right entries at p = 0, where dividing by p is one way to have none.

    With arrays that division gives NaN, with numbers an exception: the same mistake.
    """
    try:
        return right()
    except RefusedError as refused:
        if "ZeroDivisionError" in str(refused):
            return 0.0
        raise


def kept_share(p: float, count: int) -> Within:
    """Expect the share 1 - p among `count` independent draws."""
    return Within(1 - p, ERRORS * float(np.sqrt(p * (1 - p) / count)))


def ones(*names: str) -> dict[str, Within]:
    """Expect factors that are 1 everywhere."""
    means = {name: Within(1.0, EXACT) for name in names}
    return means | {f"spread of {name}": Within(0.0, EXACT) for name in names}


def every(*names: str) -> dict[str, Within]:
    """Expect shares that are 1."""
    return {name: Within(1.0, 0.0) for name in names}


def none(*names: str) -> dict[str, Within]:
    """Expect shares that are 0."""
    return {name: Within(0.0, 0.0) for name in names}
