"""Normalization of rows without a gain: what LayerNorm and RMSNorm have in common."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from layerlab.jit import by_parts


def normalize(x: NDArray[Any], eps: float = 1e-5, center: bool = True) -> NDArray[Any]:
    """Bring each row of features to mean 0 and variance 1, or to root mean square 1.

    ``(x - mean) / sqrt(var + eps)`` over the last axis, the variance dividing by D, which is
    LayerNorm before its gain and bias; without `center` ``x / sqrt(mean(x**2) + eps)``, which is
    RMSNorm before its gain. One pass through memory instead of NumPy's one for each operation.

    Parameters
    ----------
    x : ndarray of float32 or float64, shape (..., D), D >= 1
        Input. Any number of leading axes, which may be empty.
    eps : float
        Value added to the variance or mean square; 0 or more.
    center : bool
        Whether to subtract the mean.

    Returns
    -------
    ndarray of the dtype and shape of `x`
        The normalized rows.

    Raises
    ------
    TypeError
        If `x` is not an array of float32 or float64.
    ValueError
        If `x` has no features, or `eps` is negative or not finite.
    """
    call = "normalize(x, eps, center)"
    if not isinstance(x, np.ndarray) or x.dtype.type not in (np.float32, np.float64):
        came = f"dtype {x.dtype}" if isinstance(x, np.ndarray) else type(x).__name__
        raise TypeError(f"{call}: x must be a NumPy array of float32 or float64; got {came}.")
    if x.ndim == 0 or x.shape[-1] == 0:
        raise ValueError(
            f"{call}: x must have shape (..., D) with at least one feature, D >= 1; got {x.shape}."
        )
    if not 0 <= eps < np.inf:
        raise ValueError(f"{call}: eps must be a finite number of 0 or more; got {eps}.")
    rows = np.require(np.asarray(x), x.dtype.type, ["C", "A", "W"]).reshape(-1, x.shape[-1])
    out = np.empty_like(rows)
    _normalize(len(rows), x.size, rows, float(eps), bool(center), out)
    return out.reshape(x.shape)


@by_parts
def _normalize(first, end, x, eps, center, out):  # type: ignore[no-untyped-def]
    features = x.shape[1]
    for i in range(first, end):
        total = 0.0
        if center:
            for j in range(features):
                total += x[i, j]
        mean = total / features
        squares = 0.0
        for j in range(features):
            squares += (x[i, j] - mean) ** 2
        rstd = 1.0 / math.sqrt(squares / features + eps)
        # Far from zero float32 cannot hold the mean, but a number near it, from which x differs
        # without rounding.
        nearby, scale = x.dtype.type(mean), x.dtype.type(rstd)
        shift = x.dtype.type((nearby - mean) * rstd)
        for j in range(features):
            out[i, j] = (x[i, j] - nearby) * scale + shift
