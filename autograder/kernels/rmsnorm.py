"""Root mean square normalization: reference forward and backward pass."""

import math
from typing import Any

import numpy as np
from layerlab.jit import by_parts, compiled
from numpy.typing import NDArray

from autograder.kernels import _validate as validate

Cache = tuple[NDArray[Any], NDArray[Any], NDArray[np.float64]]

# Rows whose share of dgamma is summed together before the chunks are. The result does not depend on
# the number of threads, and no float32 sum runs over more rows than this.
_CHUNK = 128

_FORWARD = "rmsnorm_forward(x, gamma)"
_BACKWARD = "rmsnorm_backward(dout, cache)"


def rmsnorm_forward(
    x: NDArray[Any], gamma: NDArray[Any], eps: float = 1e-5, *, out: NDArray[Any] | None = None
) -> tuple[NDArray[Any], Cache]:
    """Divide each row of features by its root mean square, then scale it.

    ``out = gamma * x / sqrt(mean(x**2) + eps)``, with the mean over the last axis [1]_.

    Parameters
    ----------
    x : ndarray of float32 or float64, shape (..., D), D >= 1
        Input. Any number of leading axes, which may be empty.
    gamma : ndarray of the dtype of `x`, shape (D,)
        Scale.
    eps : float
        Value added to the mean square; 0 or more.
    out : ndarray of the dtype and shape of `x`, optional
        Where to write the output. It must not overlap `x`.

    Returns
    -------
    out : ndarray of the dtype and shape of `x`
        Output.
    cache : tuple (x, gamma, rstd)
        What the backward pass needs: the two inputs, and ``1 / sqrt(mean(x**2) + eps)`` of each
        row, of float64 and shape (number of rows,).

    Raises
    ------
    TypeError, ValueError
        If an argument has another type, dtype, rank or shape.

    References
    ----------
    .. [1] Zhang, Sennrich, "Root Mean Square Layer Normalization", arXiv:1910.07467, 2019.
    """
    x = validate.rows(_FORWARD, "x", x)
    gamma = validate.feature_vector(_FORWARD, "gamma", gamma, x)
    eps = validate.non_negative(_FORWARD, "eps", eps)
    out = validate.output(_FORWARD, out, x.shape, x.dtype, x=x)
    rows = x.reshape(-1, x.shape[-1])
    rstd = np.empty(len(rows))
    _forward(len(rows), x.size, rows, gamma, eps, out.reshape(rows.shape), rstd)
    return out, (x, gamma, rstd)


def rmsnorm_backward(
    dout: NDArray[Any], cache: Cache, *, out: NDArray[Any] | None = None
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Gradients of root mean square normalization.

    With ``x_hat = x * rstd`` and ``g = dout * gamma``, and the mean over the last axis::

        dx = rstd * (g - x_hat * mean(g * x_hat))
        dgamma = sum over rows of dout * x_hat

    Parameters
    ----------
    dout : ndarray of the dtype and shape of `x`
        Upstream gradient.
    cache : tuple
        From `rmsnorm_forward`.
    out : ndarray of the dtype and shape of `x`, optional
        Where to write dx. It must not overlap `x` or `dout`.

    Returns
    -------
    dx : ndarray of the dtype and shape of `x`
    dgamma : ndarray of the dtype of `x`, shape (D,)

    Raises
    ------
    TypeError, ValueError
        If `dout` does not fit the input in the cache.
    """
    x, gamma, rstd = validate.from_forward(_BACKWARD, cache, 3)
    dout = validate.float_array(_BACKWARD, "dout", dout)
    validate.same_shape(_BACKWARD, "dout", dout, "x", x)
    dx = validate.output(_BACKWARD, out, x.shape, x.dtype, x=x, dout=dout)
    rows, features = shape = rstd.size, x.shape[-1]
    partial = np.empty((-(-rows // _CHUNK), features), x.dtype)
    _backward(
        len(partial),
        x.size,
        dout.reshape(shape),
        x.reshape(shape),
        gamma,
        rstd,
        dx.reshape(shape),
        partial,
    )
    return dx, partial.sum(axis=0, dtype=np.float64).astype(x.dtype)


@by_parts
def _forward(first, end, x, gamma, eps, out, rstd):  # type: ignore[no-untyped-def]
    features = x.shape[1]
    squares = _sum_of_squares(x, first, end)
    for i in range(first, end):
        rstd[i] = 1.0 / math.sqrt(squares / features + eps)
        scale = x.dtype.type(rstd[i])
        # The next row is read while this one is written: memory never waits for arithmetic.
        following = min(i + 1, end - 1)
        squares = 0.0
        for j in range(features):
            out[i, j] = x[i, j] * scale * gamma[j]
            squares += np.float64(x[following, j]) ** 2


@compiled
def _sum_of_squares(x, row, end):  # type: ignore[no-untyped-def]
    squares = 0.0
    for j in range(x.shape[1] if row < end else 0):
        squares += np.float64(x[row, j]) ** 2
    return squares


@by_parts
def _backward(first, end, dout, x, gamma, rstd, dx, dgamma):  # type: ignore[no-untyped-def]
    rows, features = x.shape
    for chunk in range(first, end):
        dgamma[chunk] = 0
        for i in range(chunk * _CHUNK, min(rows, (chunk + 1) * _CHUNK)):
            scale = x.dtype.type(rstd[i])
            g_x_hat_sum = x.dtype.type(0)
            for j in range(features):
                g_x_hat_sum += dout[i, j] * gamma[j] * (x[i, j] * scale)
            g_x_hat_mean = x.dtype.type(g_x_hat_sum / features)
            for j in range(features):
                dx[i, j] = (dout[i, j] * gamma[j] - x[i, j] * scale * g_x_hat_mean) * scale
            # Apart from the loop above, which would have to keep too many arrays in flight.
            for j in range(features):
                dgamma[chunk, j] += dout[i, j] * (x[i, j] * scale)
