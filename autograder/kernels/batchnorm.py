"""Batch normalization: reference forward and backward pass."""

from typing import Any

import numpy as np
from layerlab.jit import by_parts
from numpy.typing import NDArray

from autograder.kernels import _validate as validate

Cache = tuple[NDArray[Any], NDArray[Any], NDArray[np.float64], NDArray[np.float64]]

# Rows summed together before the chunks are. The result does not depend on the number of threads,
# no float32 sum is longer, and a variance loses at most this factor of float64's precision.
_CHUNK = 128

# A diverging network shows up in its numbers, without warnings: compiled loops give none either.
_as_the_loops = np.errstate(all="ignore")

_FORWARD = "batchnorm_forward(x, gamma, beta, running_mean, running_var, training)"
_BACKWARD = "batchnorm_backward(dout, cache)"


@_as_the_loops
def batchnorm_forward(
    x: NDArray[Any],
    gamma: NDArray[Any],
    beta: NDArray[Any],
    running_mean: NDArray[Any],
    running_var: NDArray[Any],
    training: bool,
    momentum: float = 0.1,
    eps: float = 1e-5,
    *,
    out: NDArray[Any] | None = None,
) -> tuple[NDArray[Any], Cache | None, NDArray[Any], NDArray[Any]]:
    """Normalize each feature over the batch, then scale and shift it.

    ``out = gamma * (x - mean) / sqrt(var + eps) + beta``. In training mean and variance are those
    of the N vectors of the batch, the variance dividing by N, and the running values move [1]_::

        running_mean = (1 - momentum) * running_mean + momentum * mean
        running_var = (1 - momentum) * running_var + momentum * var * N / (N - 1)

    Outside training the running values take the place of mean and variance, and stay as they are.

    Parameters
    ----------
    x : ndarray of float32 or float64, shape (..., D), D >= 1
        Input. The leading axes together are the batch: at least 2 vectors in training, any number
        outside it.
    gamma, beta : ndarray of the dtype of `x`, shape (D,)
        Scale and shift.
    running_mean, running_var : ndarray of the dtype of `x`, shape (D,)
        What the layer remembers of earlier batches; no variance is below 0.
    training : bool
        Whether the batch is normalized with its own statistics.
    momentum : float
        Weight of the new value in the running ones, in [0, 1].
    eps : float
        Value added to the variance; 0 or more.
    out : ndarray of the dtype and shape of `x`, optional
        Where to write the output. It must not overlap `x`.

    Returns
    -------
    out : ndarray of the dtype and shape of `x`
        Output.
    cache : tuple (x, gamma, mean, rstd), or None outside training
        What the backward pass needs: the two inputs, and the mean and the reciprocal of
        ``sqrt(var + eps)`` of each feature, both of float64 and shape (D,).
    running_mean, running_var : ndarray of the dtype of `x`, shape (D,)
        New arrays in training, the given values outside it.

    Raises
    ------
    TypeError, ValueError
        If an argument has another type, dtype, rank or shape, or a batch in training has fewer
        than 2 vectors, whose variance cannot be estimated.

    References
    ----------
    .. [1] Ioffe, Szegedy, "Batch Normalization: Accelerating Deep Network Training by Reducing
       Internal Covariate Shift", ICML 2015.
    """
    x = validate.rows(_FORWARD, "x", x)
    gamma = validate.feature_vector(_FORWARD, "gamma", gamma, x)
    beta = validate.feature_vector(_FORWARD, "beta", beta, x)
    running_mean, running_var = _running(x, running_mean, running_var)
    momentum, eps = _momentum(momentum), validate.non_negative(_FORWARD, "eps", eps)
    out = validate.output(_FORWARD, out, x.shape, x.dtype, x=x)
    rows = x.reshape(-1, x.shape[-1])
    if _training(training, len(rows)):
        mean, var = _statistics(rows)
    else:
        mean, var = running_mean.astype(np.float64), running_var.astype(np.float64)
    rstd = 1 / np.sqrt(var + eps)
    affine = _affine(mean, rstd, x.dtype)
    _normalize(len(rows), x.size, rows, *affine, gamma, beta, out.reshape(rows.shape))
    if not training:
        return out, None, running_mean, running_var
    unbiased = var * (len(rows) / (len(rows) - 1))
    new = (
        (old + momentum * (value - old)).astype(x.dtype)
        for old, value in ((running_mean, mean), (running_var, unbiased))
    )
    return out, (x, gamma, mean, rstd), *new


@_as_the_loops
def batchnorm_backward(
    dout: NDArray[Any], cache: Cache, *, out: NDArray[Any] | None = None
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Gradients of batch normalization in training.

    With ``x_hat = (x - mean) * rstd``, and sums over the N vectors of the batch::

        dgamma = sum(dout * x_hat)
        dbeta = sum(dout)
        dx = gamma * rstd * (dout - dbeta / N - x_hat * dgamma / N)

    Parameters
    ----------
    dout : ndarray of the dtype and shape of `x`
        Upstream gradient.
    cache : tuple
        From `batchnorm_forward` with ``training=True``.
    out : ndarray of the dtype and shape of `x`, optional
        Where to write dx. It must not overlap `x` or `dout`.

    Returns
    -------
    dx : ndarray of the dtype and shape of `x`
    dgamma, dbeta : ndarray of the dtype of `x`, shape (D,)

    Raises
    ------
    TypeError, ValueError
        If `dout` does not fit the input in the cache, or the cache is not one of training.
    """
    if cache is None:
        made = "got None, which is what training=False gives"
        raise TypeError(f"{_BACKWARD}: cache must come from training=True; {made}.")
    x, gamma, mean, rstd = validate.from_forward(_BACKWARD, cache, 4)
    dout = validate.float_array(_BACKWARD, "dout", dout)
    validate.same_shape(_BACKWARD, "dout", dout, "x", x)
    dx = validate.output(_BACKWARD, out, x.shape, x.dtype, x=x, dout=dout)
    shape = (-1, x.shape[-1])
    x, dout = x.reshape(shape), dout.reshape(shape)
    partial = np.empty((2, -(-len(x) // _CHUNK), x.shape[1]), x.dtype)
    affine = _affine(mean, rstd, x.dtype)
    _parameter_sums(partial.shape[1], x.size, dout, x, *affine, *partial)
    dgamma, dbeta = partial.sum(axis=1, dtype=np.float64)
    means = (dgamma / len(x)).astype(x.dtype), (dbeta / len(x)).astype(x.dtype)
    factor = (gamma * rstd).astype(x.dtype)
    _backward(len(x), x.size, dout, x, *affine, *means, factor, dx.reshape(shape))
    return dx, dgamma.astype(x.dtype), dbeta.astype(x.dtype)


def _training(training: Any, rows: int) -> bool:
    if not isinstance(training, (bool, np.bool_)):
        came = type(training).__name__
        raise TypeError(f"{_FORWARD}: training must be True or False; got {came}.")
    if training and rows < 2:
        raise ValueError(
            f"{_FORWARD}: x must hold at least 2 vectors in training; got {rows}. The spread of a "
            "single one is unknown: use a larger batch, or training=False."
        )
    return bool(training)


def _running(x: NDArray[Any], mean: Any, var: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    mean = validate.feature_vector(_FORWARD, "running_mean", mean, x)
    var = validate.feature_vector(_FORWARD, "running_var", var, x)
    if np.any(var < 0):
        way_out = "Are the running arrays swapped?"
        raise ValueError(f"{_FORWARD}: running_var must be >= 0; got {var.min()}. {way_out}")
    return mean, var


def _momentum(value: Any) -> float:
    value = validate.number(_FORWARD, "momentum", value)
    if not 0 <= value <= 1:
        meaning = "It is the weight of the new value."
        raise ValueError(f"{_FORWARD}: momentum must be in [0, 1]; got {value}. {meaning}")
    return value


def _statistics(rows: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and variance of each column: those of the chunks, put together in float64."""
    counts = np.full(-(-len(rows) // _CHUNK), _CHUNK, np.float64)
    counts[-1] -= counts.sum() - len(rows)
    means, squares = np.empty((2, len(counts), rows.shape[1]))
    _chunk_sums(len(counts), rows.size, rows, means, squares)
    mean = means[0] + counts @ (means - means[0]) / len(rows)
    return mean, (squares.sum(axis=0) + counts @ (means - mean) ** 2) / len(rows)


def _affine(mean: NDArray[np.float64], rstd: NDArray[np.float64], dtype: Any) -> Any:
    """Write ``(x - mean) * rstd`` as ``(x - nearby) * scale + shift`` in the precision of x.

    Far from zero float32 cannot hold the mean. It can hold a number near it, from which x differs
    by little and so without rounding; what is left of the mean goes into the shift.
    """
    nearby = mean.astype(dtype)
    return nearby, rstd.astype(dtype), ((nearby - mean) * rstd).astype(dtype)


@by_parts
def _chunk_sums(first, end, x, means, squares):  # type: ignore[no-untyped-def]
    """Give the means of each chunk, by differences from its first row, and squares around them."""
    rows, features = x.shape
    for chunk in range(first, end):
        begin, stop = chunk * _CHUNK, min(rows, (chunk + 1) * _CHUNK)
        means[chunk], squares[chunk] = 0, 0
        for i in range(begin, stop):
            for j in range(features):
                difference = np.float64(x[i, j]) - np.float64(x[begin, j])
                means[chunk, j] += difference
                squares[chunk, j] += difference * difference
        for j in range(features):
            center = means[chunk, j] / (stop - begin)
            squares[chunk, j] = max(squares[chunk, j] - center * means[chunk, j], 0.0)
            means[chunk, j] = x[begin, j] + center


@by_parts
def _normalize(first, end, x, nearby, scale, shift, gamma, beta, out):  # type: ignore[no-untyped-def]
    for i in range(first, end):
        for j in range(x.shape[1]):
            out[i, j] = ((x[i, j] - nearby[j]) * scale[j] + shift[j]) * gamma[j] + beta[j]


@by_parts
def _parameter_sums(first, end, dout, x, nearby, scale, shift, dgamma, dbeta):  # type: ignore[no-untyped-def]
    rows, features = x.shape
    for chunk in range(first, end):
        dgamma[chunk], dbeta[chunk] = 0, 0
        for i in range(chunk * _CHUNK, min(rows, (chunk + 1) * _CHUNK)):
            for j in range(features):
                dgamma[chunk, j] += dout[i, j] * ((x[i, j] - nearby[j]) * scale[j] + shift[j])
                dbeta[chunk, j] += dout[i, j]


@by_parts
def _backward(first, end, dout, x, nearby, scale, shift, dgamma, dbeta, factor, dx):  # type: ignore[no-untyped-def]
    for i in range(first, end):
        for j in range(x.shape[1]):
            x_hat = (x[i, j] - nearby[j]) * scale[j] + shift[j]
            dx[i, j] = (dout[i, j] - dbeta[j] - x_hat * dgamma[j]) * factor[j]
