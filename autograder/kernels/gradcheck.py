"""Gradient checks by central differences: the reference.

Plain NumPy: the time goes into calls of a Python function, which no compiler of loops reaches.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autograder.kernels import _validate as validate

Array = NDArray[np.float64]

# Below this largest entry a gradient counts as zero: the differences themselves are only right to
# about 1e-16 / step.
ZERO = 1e-7

_NUMERIC = "numerical_gradient(function, x, dout)"
_ERROR = "gradient_error(analytic, numeric)"
_CHECK = "gradcheck(forward, backward, x, rng)"


def numerical_gradient(
    function: Callable[[Array], Any], x: NDArray[Any], dout: NDArray[Any], step: float = 1e-5
) -> Array:
    """Measure the gradient of ``sum(function(x) * dout)`` by central differences.

    ``dx[i] = sum((function(x + step e_i) - function(x - step e_i)) * dout) / (2 step)``, where
    ``e_i`` is 1 at entry i and 0 elsewhere. All arithmetic is in float64.

    Parameters
    ----------
    function : callable
        Takes an array of float64 shaped like `x`; gives the output.
    x : ndarray of real numbers, any shape
        Where the gradient is measured. It is not touched.
    dout : ndarray of real numbers, shape of ``function(x)``
        Upstream gradient.
    step : float
        How far an entry is moved; more than 0.

    Returns
    -------
    dx : ndarray of float64, shape of `x`

    Raises
    ------
    TypeError, ValueError
        If an argument has another type, or `dout` another shape than the output.
    """
    step = _step(_NUMERIC, step)
    moved, weights = _real(_NUMERIC, "x", x), _real(_NUMERIC, "dout", dout)
    dx = np.empty(moved.shape)
    for index in np.ndindex(moved.shape):
        kept = moved[index]
        moved[index] = kept + step
        above = _output(function, moved, weights)
        moved[index] = kept - step
        below = _output(function, moved, weights)
        moved[index] = kept
        dx[index] = np.sum((above - below) * weights) / (2 * step)
    return dx


def gradient_error(analytic: NDArray[Any], numeric: NDArray[Any]) -> float:
    """Measure how far a gradient is from the measured one, by its largest entry.

    ``max|analytic - numeric| / max|numeric|``, or the numerator alone where ``max|numeric|`` is
    below 1e-7.

    Parameters
    ----------
    analytic, numeric : ndarray of real numbers, same shape
        The gradient from a backward pass, and the measured one; at least one entry.

    Returns
    -------
    float
        The error; NaN where an entry is NaN.

    Raises
    ------
    TypeError, ValueError
        If an argument is no such array.
    """
    a, n = _real(_ERROR, "analytic", analytic), _real(_ERROR, "numeric", numeric)
    if a.shape != n.shape or a.size == 0:
        raise ValueError(
            f"{_ERROR}: analytic must have the shape of numeric, {n.shape}, and at least one "
            f"entry; got {a.shape}."
        )
    worst, scale = float(np.max(np.abs(a - n))), float(np.max(np.abs(n)))
    return worst if scale < ZERO else worst / scale


def gradcheck(
    forward: Callable[[Array], tuple[Any, Any]],
    backward: Callable[[Array, Any], Any],
    x: NDArray[Any],
    rng: np.random.Generator,
    step: float = 1e-5,
) -> float:
    """Compare a backward pass with finite differences of its forward pass.

    Parameters
    ----------
    forward : callable
        ``forward(x) -> out, cache``.
    backward : callable
        ``backward(dout, cache) -> dx``.
    x : ndarray of real numbers, any shape
        Where to check. It is not touched.
    rng : numpy.random.Generator
        Draws a standard normal dout of the shape of the output.
    step : float
        How far an entry is moved; more than 0.

    Returns
    -------
    float
        The `gradient_error`: about 1e-9 for a right backward pass in float64.

    Raises
    ------
    TypeError, ValueError
        If an argument has another type, or the gradient another shape than `x`.
    """
    rng = validate.generator(_CHECK, rng)
    point = _real(_CHECK, "x", x)
    out, cache = forward(point.copy())
    dout = rng.standard_normal(np.shape(out))
    analytic = np.asarray(backward(dout.copy(), cache))
    numeric = numerical_gradient(lambda at: forward(at)[0], point, dout, step)
    return gradient_error(analytic, numeric)


def _real(call: str, name: str, value: Any) -> Array:
    """Return a copy of `value` in float64, or raise unless it is an array of real numbers."""
    if not isinstance(value, np.ndarray):
        raise TypeError(f"{call}: {name} must be a NumPy array; got {type(value).__name__}.")
    if value.dtype.kind not in "fiu":
        raise TypeError(f"{call}: {name} must hold real numbers; got dtype {value.dtype}.")
    return np.array(value, np.float64, subok=False)


def _step(call: str, value: Any) -> float:
    value = validate.non_negative(call, "step", value)
    if value == 0:
        raise ValueError(f"{call}: step must be more than 0; got 0.")
    return value


def _output(function: Callable[[Array], Any], x: Array, dout: Array) -> Array:
    # A copy goes in, and a copy is kept: the function may return x itself or change it.
    out = np.array(function(x.copy()), np.float64)
    if out.shape != dout.shape:
        raise ValueError(
            f"{_NUMERIC}: dout must have the shape of function(x), {out.shape}; got {dout.shape}."
        )
    return out
