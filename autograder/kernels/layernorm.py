"""Layer normalization: reference forward and backward pass."""

import math
from typing import Any

import numpy as np
from layerlab.jit import by_parts, compiled
from numpy.typing import NDArray

from autograder.kernels import _validate as validate

Cache = tuple[NDArray[Any], NDArray[Any], NDArray[np.float64], NDArray[np.float64]]

# Rows whose share of dgamma and dbeta is summed together before the chunks are. The result does not
# depend on the number of threads, and no float32 sum runs over more rows than this.
_CHUNK = 128

_FORWARD = "layernorm_forward(x, gamma, beta)"
_BACKWARD = "layernorm_backward(dout, cache)"


def layernorm_forward(
    x: NDArray[Any],
    gamma: NDArray[Any],
    beta: NDArray[Any],
    eps: float = 1e-5,
    *,
    out: NDArray[Any] | None = None,
) -> tuple[NDArray[Any], Cache]:
    """Normalize each row of features, then scale and shift it.

    ``out = gamma * (x - mean) / sqrt(var + eps) + beta``, where mean and variance are taken over
    the last axis and the variance divides by D [1]_.

    Parameters
    ----------
    x : ndarray of float32 or float64, shape (..., D), D >= 1
        Input. Any number of leading axes, which may be empty.
    gamma, beta : ndarray of the dtype of `x`, shape (D,)
        Scale and shift.
    eps : float
        Value added to the variance; 0 or more.
    out : ndarray of the dtype and shape of `x`, optional
        Where to write the output. It must not overlap `x`.

    Returns
    -------
    out : ndarray of the dtype and shape of `x`
        Output.
    cache : tuple (x, gamma, mean, rstd)
        What the backward pass needs: the two inputs, and the mean and the reciprocal of
        ``sqrt(var + eps)`` of each row, both of float64 and shape (number of rows,).

    Raises
    ------
    TypeError, ValueError
        If an argument has another type, dtype, rank or shape.

    Notes
    -----
    The statistics are sums in float64 of the differences from the row's first entry. As that entry
    belongs to the row, its squared distance from the mean is at most D times the variance: however
    far the row is from zero, and even if its first entry is an outlier, the variance loses no more
    than a factor D of float64's precision. Two passes lose nothing, but have to read each row again
    and took 1.2 to 1.3 times as long.

    References
    ----------
    .. [1] Ba, Kiros, Hinton, "Layer Normalization", arXiv:1607.06450, 2016.
    """
    x = validate.rows(_FORWARD, "x", x)
    gamma = validate.feature_vector(_FORWARD, "gamma", gamma, x)
    beta = validate.feature_vector(_FORWARD, "beta", beta, x)
    eps = validate.non_negative(_FORWARD, "eps", eps)
    out = validate.output(_FORWARD, out, x.shape, x.dtype, x=x)
    rows = x.reshape(-1, x.shape[-1])
    mean, rstd = np.empty(len(rows)), np.empty(len(rows))
    _forward(len(rows), x.size, rows, gamma, beta, eps, out.reshape(rows.shape), mean, rstd)
    return out, (x, gamma, mean, rstd)


def layernorm_backward(
    dout: NDArray[Any], cache: Cache, *, out: NDArray[Any] | None = None
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Gradients of layer normalization.

    With ``x_hat = (x - mean) * rstd`` and ``g = dout * gamma``, and means over the last axis::

        dx = rstd * (g - mean(g) - x_hat * mean(g * x_hat))
        dgamma = sum over rows of dout * x_hat
        dbeta = sum over rows of dout

    Parameters
    ----------
    dout : ndarray of the dtype and shape of `x`
        Upstream gradient.
    cache : tuple
        From `layernorm_forward`.
    out : ndarray of the dtype and shape of `x`, optional
        Where to write dx. It must not overlap `x` or `dout`.

    Returns
    -------
    dx : ndarray of the dtype and shape of `x`
    dgamma, dbeta : ndarray of the dtype of `x`, shape (D,)

    Raises
    ------
    TypeError, ValueError
        If `dout` does not fit the input in the cache.
    """
    x, gamma, mean, rstd = validate.from_forward(_BACKWARD, cache, 4)
    dout = validate.float_array(_BACKWARD, "dout", dout)
    validate.same_shape(_BACKWARD, "dout", dout, "x", x)
    dx = validate.output(_BACKWARD, out, x.shape, x.dtype, x=x, dout=dout)
    rows, features = shape = mean.size, x.shape[-1]
    partial = np.empty((2, -(-rows // _CHUNK), features), x.dtype)
    x, dout = x.reshape(shape), dout.reshape(shape)
    _backward(partial.shape[-2], x.size, dout, x, gamma, mean, rstd, dx.reshape(shape), *partial)
    dgamma, dbeta = partial.sum(axis=1, dtype=np.float64).astype(x.dtype)
    return dx, dgamma, dbeta


@by_parts
def _forward(first, end, x, gamma, beta, eps, out, mean, rstd):  # type: ignore[no-untyped-def]
    features = x.shape[1]
    origin, total, squares = _sums(x, first, end)
    for i in range(first, end):
        center = total / features
        mean[i] = origin + center
        rstd[i] = 1.0 / math.sqrt(max(squares / features - center * center, 0.0) + eps)
        nearby, shift, scale = _affine(mean[i], rstd[i], x.dtype)
        # The next row is read while this one is written: memory never waits for arithmetic.
        following = min(i + 1, end - 1)
        origin, total, squares = np.float64(x[following, 0]), 0.0, 0.0
        for j in range(features):
            out[i, j] = ((x[i, j] - nearby) * scale + shift) * gamma[j] + beta[j]
            difference = x[following, j] - origin
            total += difference
            squares += difference * difference


@compiled
def _sums(x, row, end):  # type: ignore[no-untyped-def]
    """Sum the differences of a row from its first entry, and their squares."""
    if row == end:
        return 0.0, 0.0, 0.0
    origin, total, squares = np.float64(x[row, 0]), 0.0, 0.0
    for j in range(x.shape[1]):
        difference = x[row, j] - origin
        total += difference
        squares += difference * difference
    return origin, total, squares


@by_parts
def _backward(first, end, dout, x, gamma, mean, rstd, dx, dgamma, dbeta):  # type: ignore[no-untyped-def]
    rows, features = x.shape
    for chunk in range(first, end):
        dgamma[chunk] = 0
        dbeta[chunk] = 0
        for i in range(chunk * _CHUNK, min(rows, (chunk + 1) * _CHUNK)):
            nearby, shift, scale = _affine(mean[i], rstd[i], x.dtype)
            g_sum = g_x_hat_sum = x.dtype.type(0)
            for j in range(features):
                g = dout[i, j] * gamma[j]
                g_sum += g
                g_x_hat_sum += g * ((x[i, j] - nearby) * scale + shift)
            g_mean = x.dtype.type(g_sum / features)
            g_x_hat_mean = x.dtype.type(g_x_hat_sum / features)
            for j in range(features):
                x_hat = (x[i, j] - nearby) * scale + shift
                dx[i, j] = (dout[i, j] * gamma[j] - g_mean - x_hat * g_x_hat_mean) * scale
            # Apart from the loop above, which would have to keep too many arrays in flight.
            for j in range(features):
                dgamma[chunk, j] += dout[i, j] * ((x[i, j] - nearby) * scale + shift)
                dbeta[chunk, j] += dout[i, j]


@compiled
def _affine(mean, rstd, dtype):  # type: ignore[no-untyped-def]
    """Write ``(x - mean) * rstd`` as ``(x - nearby) * scale + shift`` in the precision of x.

    Far from zero float32 cannot hold the mean. It can hold a number near it, from which x differs
    by little and so without rounding; what is left of the mean goes into the shift.
    """
    nearby = dtype.type(mean)
    return nearby, dtype.type((nearby - mean) * rstd), dtype.type(rstd)
