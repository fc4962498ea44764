"""The formulas that several rows of the ledger need, in plain NumPy."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[Any]

EPS = 1e-5


def normalized(x: Floats, norm: str, eps: float = EPS) -> tuple[Floats, Floats | float]:
    """Normalize without gain and shift: rows, or for "batchnorm" columns.

    Parameters
    ----------
    x : ndarray, shape (N, D) or a stack of such, (..., N, D)
        Input.
    norm : {"none", "layernorm", "rmsnorm", "batchnorm"}
        The norm.
    eps : float
        Added to the variance or mean square.

    Returns
    -------
    x_hat : ndarray, shape of `x`
        The normalized rows or columns.
    spread : ndarray or float
        What they were divided by.
    """
    if norm == "none":
        return x, 1.0
    axis = -2 if norm == "batchnorm" else -1
    centred = x if norm == "rmsnorm" else x - _mean(x, axis)
    spread = np.sqrt(_mean(centred * centred, axis) + eps)
    return centred / spread, spread


def backward(dout: Floats, x_hat: Floats, spread: Floats | float, norm: str) -> Floats:
    """Gradient of `normalized`: ``(g - mean(g) - x_hat * mean(g * x_hat)) / spread``.

    RMSNorm has no mean term.

    Parameters
    ----------
    dout : ndarray, shape (..., N, D)
        Upstream gradient.
    x_hat, spread
        What `normalized` returned.
    norm : str
        As for `normalized`.

    Returns
    -------
    ndarray, shape of `dout`
    """
    if norm == "none":
        return dout
    axis = -2 if norm == "batchnorm" else -1
    left = dout - x_hat * _mean(dout * x_hat, axis)
    if norm != "rmsnorm":
        left -= _mean(dout, axis)
    return np.asarray(left / spread)


def hat(x: Floats, norm: str, eps: float = EPS) -> Floats:
    """Give the first result of `normalized`."""
    return normalized(x, norm, eps)[0]


def hat_backward(dout: Floats, x: Floats, norm: str, eps: float = EPS) -> Floats:
    """Give the gradient of `hat` at `x`."""
    return backward(dout, *normalized(x, norm, eps), norm)


def cosine(a: Floats, b: Floats, axis: int | None = None) -> Floats:
    """Cosine of the angle between two arrays, or between their columns for axis 0."""
    return np.asarray((a * b).sum(axis) / np.sqrt((a**2).sum(axis) * (b**2).sum(axis)))


def rms(x: Floats) -> float:
    """Root mean square of all entries."""
    return float(np.sqrt(np.mean(np.square(x, dtype=np.float64))))


def softmax(logits: Floats) -> Floats:
    """Probabilities along the last axis."""
    powers = np.exp(logits - logits.max(-1, keepdims=True))
    return np.asarray(powers / powers.sum(-1, keepdims=True))


def _mean(x: Floats, axis: int) -> Floats:
    # ndarray.mean takes three times as long on the small arrays of the ledger.
    return np.asarray(np.add.reduce(x, axis, keepdims=True) / x.dtype.type(x.shape[axis]))
