"""Statistics of random draws, scaled so that what is right does not depend on the numbers drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autograder.checks.compare import Observation, Within
from autograder.checks.core import Functions
from autograder.checks.inputs import Array, Rng

SHARES_BEYOND = (0.5, 1.0, 1.75)


def std_within(size: int) -> Within:
    """Expect the ratio of two standard deviations to be 1, to five standard errors."""
    return Within(1.0, 5 / np.sqrt(2 * size))


def mean_within(size: int) -> Within:
    """Expect a mean in standard deviations to be 0, to four and a half standard errors."""
    return Within(0.0, 4.5 / np.sqrt(size))


def mean_in_std(values: Array) -> float:
    """Give the mean in units of the standard deviation; NaN where all values are equal."""
    with np.errstate(all="ignore"):
        return float(values.mean() / values.std())


def std_ratio(values: Array, std: float) -> float:
    """Give the standard deviation of the values over the right one."""
    with np.errstate(all="ignore"):
        return float(values.std() / std)


def shares_beyond(values: Array) -> dict[str, float]:
    """Give the shares of values more than so many of their own standard deviations from the mean.

    Unlike the kurtosis they vary little from draw to draw, and outliers do not rule them.
    """
    with np.errstate(all="ignore"):
        far = np.abs((values - values.mean()) / values.std())
    if not np.isfinite(far).all():
        return {_share(limit): np.nan for limit in SHARES_BEYOND}
    return {_share(limit): float((far > limit).mean()) for limit in SHARES_BEYOND}


def _share(limit: float) -> str:
    return f"share of the weights beyond {limit:g} standard deviations"


# The tolerance lets a normal distribution pass that was cut off at two standard deviations and
# scaled back (.644, .350, .082).
NORMAL = {
    _share(limit): Within(value, 0.045)
    for limit, value in zip(SHARES_BEYOND, (0.6171, 0.3173, 0.0801))
}
UNIFORM = {
    _share(limit): Within(value, tolerance)
    for limit, value, tolerance in zip(SHARES_BEYOND, (0.7113, 0.4226, 0.0), (0.012, 0.012, 1e-3))
}


def correlation(a: Array, b: Array) -> float:
    """Give the size of the correlation of two arrays' entries; NaN where one is constant."""
    return largest_correlation([a, b])


def largest_correlation(arrays: Sequence[Array]) -> float:
    """Give the size of the largest correlation between two of the arrays; NaN for a constant one.

    The arrays have the same number of entries.
    """
    rows = np.stack([part.ravel() for part in arrays])
    with np.errstate(all="ignore"):
        centred = rows - rows.mean(axis=1, keepdims=True)
        # Not a matrix product: BLAS would wake its threads for it, which costs far more.
        products = np.einsum("ik,jk->ij", centred, centred)
        sizes = np.sqrt(np.diag(products))
        correlations = products / np.outer(sizes, sizes)
    return float(np.abs(correlations[np.triu_indices(len(rows), 1)]).max())


def global_state() -> tuple[Any, ...]:
    """Give the state of NumPy's global generator, comparable by ``==``."""
    state: Any = np.random.get_state()  # noqa: NPY002
    return tuple(part.tobytes() if isinstance(part, np.ndarray) else part for part in state)


def contained(
    observe: Callable[[Functions, Rng], Observation],
) -> Callable[[Functions, Rng], Observation]:
    """Give NumPy's global generator a seed of its own during an observation, then restore it.

    An answer that draws from it can then be graded again with the same result, and the known
    mistakes that seed it leave the rest of a notebook alone.
    """

    def observed(functions: Functions, rng: Rng) -> Observation:
        seed = int(rng.integers(2**32))
        if all(hasattr(function, "changed") for function in functions):
            # They run in another process, whose generators are its own; this costs 0.2 ms.
            return observe(functions, rng)
        state = np.random.get_state()  # noqa: NPY002
        np.random.seed(seed)  # noqa: NPY002
        try:
            return observe(functions, rng)
        finally:
            np.random.set_state(state)  # noqa: NPY002

    return observed
