"""Inverted dropout: reference forward and backward pass."""

from typing import Any

import numpy as np
from layerlab.jit import by_parts
from numpy.typing import NDArray

from autograder.kernels import _validate as validate

# None stands for "nothing was dropped".
Cache = tuple[NDArray[np.bool_] | None, float]

_FORWARD = "dropout_forward(x, p, training, rng)"
_BACKWARD = "dropout_backward(dout, cache)"


def dropout_forward(
    x: NDArray[Any],
    p: float,
    training: bool,
    rng: np.random.Generator,
    *,
    out: NDArray[Any] | None = None,
) -> tuple[NDArray[Any], Cache]:
    """Zero entries at random in training, and scale up the others.

    ``out = x * keep / (1 - p)`` with ``keep = rng.random(x.shape) >= p``, so that the expected
    output is `x` [1]_. Outside training, and for p = 0, the output is a copy of `x`.

    Parameters
    ----------
    x : ndarray of float32 or float64, any shape
        Input.
    p : float
        Probability of zeroing an entry, in [0, 1).
    training : bool
        Whether to drop at all.
    rng : numpy.random.Generator
        Where the random numbers come from. One number per entry is drawn in training, also for
        p = 0; none outside it.
    out : ndarray of the dtype and shape of `x`, optional
        Where to write the output. It must not overlap `x`.

    Returns
    -------
    out : ndarray of the dtype and shape of `x`
        Output. A dropped entry is 0 even where `x` is NaN or infinite.
    cache : tuple (keep, scale)
        The mask (None outside training) and ``1 / (1 - p)`` (1 outside training).

    Raises
    ------
    TypeError, ValueError
        If an argument has another type or dtype, or `p` is outside [0, 1).

    References
    ----------
    .. [1] Srivastava, Hinton, Krizhevsky, Sutskever, Salakhutdinov, "Dropout: A Simple Way to
       Prevent Neural Networks from Overfitting", JMLR 15, 2014.
    """
    x = validate.float_array(_FORWARD, "x", x)
    p = validate.number(_FORWARD, "p", p)
    if not 0 <= p < 1:
        raise ValueError(
            f"{_FORWARD}: p must be in [0, 1); got {p}. p is the probability of zeroing, and "
            "the entries kept are divided by 1 - p."
        )
    if not isinstance(training, (bool, np.bool_)):
        raise TypeError(
            f"{_FORWARD}: training must be True or False; got {type(training).__name__}."
        )
    rng = validate.generator(_FORWARD, rng)
    out = validate.output(_FORWARD, out, x.shape, x.dtype, x=x)
    cache: Cache = (np.asarray(rng.random(x.shape) >= p), 1 / (1 - p)) if training else (None, 1.0)
    return _apply(x, cache, out), cache


def dropout_backward(
    dout: NDArray[Any], cache: Cache, *, out: NDArray[Any] | None = None
) -> NDArray[Any]:
    """Gradient of dropout: the same mask and the same scale.

    ``dx = dout * keep / (1 - p)``; a copy of `dout` outside training.

    Parameters
    ----------
    dout : ndarray of float32 or float64, shape of `x`
        Upstream gradient.
    cache : tuple
        From `dropout_forward`.
    out : ndarray of the dtype and shape of `dout`, optional
        Where to write dx. It must not overlap `dout`.

    Returns
    -------
    ndarray of the dtype and shape of `dout`
        dx.

    Raises
    ------
    TypeError, ValueError
        If `dout` has another type, or not the shape of the mask in the cache.
    """
    dout = validate.float_array(_BACKWARD, "dout", dout)
    keep, _ = validate.from_forward(_BACKWARD, cache, 2)
    if keep is not None and keep.shape != dout.shape:
        raise ValueError(
            f"{_BACKWARD}: dout must have the shape of x, {keep.shape}; got {dout.shape}."
        )
    return _apply(dout, cache, validate.output(_BACKWARD, out, dout.shape, dout.dtype, dout=dout))


def _apply(x: NDArray[Any], cache: Cache, out: NDArray[Any]) -> NDArray[Any]:
    keep, scale = cache
    if keep is None:
        np.copyto(out, x)
    else:
        _mask(x.size, x.size, x.reshape(-1), keep.reshape(-1), x.dtype.type(scale), out.reshape(-1))
    return out


@by_parts
def _mask(first, end, x, keep, scale, out):  # type: ignore[no-untyped-def]
    # Slices, because an index that may be negative, for all the compiler knows, is not vectorized.
    x, keep, out = x[first:end], keep[first:end], out[first:end]
    zero = x.dtype.type(0)
    for i in range(len(x)):
        scaled = x[i] * scale
        out[i] = scaled if keep[i] else zero
