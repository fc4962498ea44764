"""Compare a gradient written by hand with one measured by finite differences.

Only NumPy is needed, so that the same check runs in a notebook and in the browser.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

# Below this size a gradient counts as zero, and its error is taken absolutely: rounding in the
# finite difference alone is of the order 1e-16 / 1e-5.
_ZERO = 1e-7


def numerical_gradient(
    f: Callable[[NDArray[np.float64]], ArrayLike],
    x: NDArray[np.float64],
    dout: ArrayLike,
    step: float = 1e-5,
) -> NDArray[np.float64]:
    """Measure the gradient of ``sum(f(x) * dout)`` with respect to `x` by central differences.

    One entry of `x` at a time is moved by `step` in both directions::

        dx[i] = sum((f(x + step * e_i) - f(x - step * e_i)) * dout) / (2 * step)

    Parameters
    ----------
    f : function
        Takes an array shaped like `x`, returns the output. It has to give the same output for the
        same input: pass a new generator with the same seed if it draws random numbers.
    x : ndarray of float64, any shape
        Where the gradient is measured. Its entries are changed during the measurement, and every
        one is put back exactly.
    dout : array_like, shape of ``f(x)``
        Upstream gradient. Use random numbers: with ones, several wrong backward passes look right.
    step : float
        Finite-difference step. 1e-5 balances truncation against rounding in float64.

    Returns
    -------
    ndarray of float64, shape of `x`
        The gradient.

    Raises
    ------
    TypeError
        If `x` is not an array of float64. In float32 the difference drowns in rounding, and in an
        integer array the step is lost.
    ValueError
        If `dout` does not have the shape of ``f(x)``, or `step` is not positive.
    """
    if not isinstance(x, np.ndarray) or x.dtype != np.float64:
        came = f"dtype {x.dtype}" if isinstance(x, np.ndarray) else type(x).__name__
        raise TypeError(
            "numerical_gradient(f, x, dout): x must be a NumPy array of float64; "
            f"got {came}. Convert it with np.array(x, dtype=np.float64)."
        )
    if not step > 0:
        raise ValueError(f"numerical_gradient(f, x, dout): step must be positive; got {step}.")
    dout = np.asarray(dout, dtype=np.float64)
    shape = np.shape(f(x))
    if dout.shape != shape:
        raise ValueError(
            "numerical_gradient(f, x, dout): dout must have the shape of f(x), which is "
            f"{shape}; got {dout.shape}."
        )
    dx = np.empty_like(x)
    for index in np.ndindex(x.shape):
        dx[index] = _slope(f, x, dout, index, step)
    return dx


def relative_error(got: ArrayLike, expected: ArrayLike) -> float:
    """Largest difference between two arrays, relative to the largest entry expected.

    ``max|got - expected| / max|expected|``, or ``max|got - expected|`` where nothing larger than
    1e-7 is expected. One number per array: dividing entry by entry would refuse a right gradient
    because of entries that are zero.

    Parameters
    ----------
    got, expected : array_like, same shape
        The two arrays.

    Returns
    -------
    float
        The error: 0.0 for empty arrays, inf or NaN if `got` holds such a value.

    Raises
    ------
    ValueError
        If the shapes differ.
    """
    got, expected = np.asarray(got, np.float64), np.asarray(expected, np.float64)
    if got.shape != expected.shape:
        raise ValueError(
            "relative_error(got, expected): got must have the shape of expected, "
            f"{expected.shape}; got {got.shape}."
        )
    if got.size == 0:
        return 0.0
    scale = np.max(np.abs(expected))
    worst = float(np.max(np.abs(got - expected)))
    return worst if scale < _ZERO else float(worst / scale)


def gradient_check(
    f: Callable[[NDArray[np.float64]], ArrayLike],
    x: NDArray[np.float64],
    dout: ArrayLike,
    got: ArrayLike,
    name: str = "dx",
    limit: float = 1e-6,
) -> float:
    """Check a gradient against finite differences.

    Parameters
    ----------
    f, x, dout
        As in `numerical_gradient`.
    got : array_like, shape of `x`
        The gradient to check: what your backward pass returned for `dout`.
    name : str
        What to call it in the message.
    limit : float
        The largest `relative_error` that passes. A right gradient in float64 reaches 1e-8.

    Returns
    -------
    float
        The error.

    Raises
    ------
    AssertionError
        If the shape is wrong or the error is above `limit` (NaN is). The message gives the error,
        the limit, and the entry that is furthest off with both of its values.
    """
    expected = numerical_gradient(f, x, dout)
    got = np.asarray(got, np.float64)
    if got.shape != expected.shape:
        raise AssertionError(
            f"gradient_check: {name} must have the shape of what it is the gradient of, "
            f"{expected.shape}; got {got.shape}."
        )
    error = relative_error(got, expected)
    if error <= limit:
        return error
    # argmax stops at the first NaN, which is then the entry to show.
    worst = np.unravel_index(np.argmax(np.abs(got - expected)), got.shape)
    place = f"{name}[{', '.join(str(int(i)) for i in worst)}]"
    raise AssertionError(
        f"gradient_check: {name} differs from the finite differences by {error:.2e} of its largest "
        f"entry; the limit is {limit:.0e}. Furthest off is {place}: "
        f"yours {got[worst]:.6g}, measured {expected[worst]:.6g}."
    )


def _slope(
    f: Callable[[NDArray[np.float64]], ArrayLike],
    x: NDArray[np.float64],
    dout: NDArray[np.float64],
    index: tuple[int, ...],
    step: float,
) -> float:
    kept = x[index]
    try:
        x[index] = kept + step
        # Copies, because f may return x itself or a view of it, which the next change would reach.
        above = np.array(f(x), dtype=np.float64)
        x[index] = kept - step
        below = np.array(f(x), dtype=np.float64)
    finally:
        x[index] = kept
    return float(np.sum((above - below) * dout) / (2 * step))
