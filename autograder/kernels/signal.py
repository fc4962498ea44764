"""The size of activations and gradients in a deep network.

The network has no biases: ``z = h @ w``, ``n = norm(z)``, ``h = max(n, 0)`` in every layer.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from layerlab.jit import compiled
from numpy.typing import NDArray

from autograder.kernels import _validate as validate
from autograder.kernels.scale_free import dot

NORMS = ("none", "layernorm", "rmsnorm")
EPS = 1e-5

_FORWARD = "activation_scale(x, weights, norm)"
_BACKWARD = "gradient_scale(dout, cache)"


class Cache(NamedTuple):
    """What the backward pass needs.

    Attributes
    ----------
    norm : str
        The norm of every layer.
    weights : list of ndarray, shapes (D[l-1], D[l])
        The matrices.
    inputs : list of ndarray, shapes (N, D[l-1])
        What each layer was given.
    normalized : list of ndarray, shapes (N, D[l])
        What each layer had before its ReLU.
    rstds : list of ndarray, shape (N,)
        What each row was multiplied with by the norm.
    """

    norm: str
    weights: list[NDArray[Any]]
    inputs: list[NDArray[Any]]
    normalized: list[NDArray[Any]]
    rstds: list[NDArray[Any]]


def activation_scale(
    x: NDArray[Any], weights: Sequence[NDArray[Any]], norm: str
) -> tuple[NDArray[Any], NDArray[np.float64], Cache]:
    """Send a batch through a deep network and measure each layer's output.

    ``h[0] = x`` and ``h[l] = max(norm(h[l-1] @ weights[l-1]), 0)``. The size of a layer is
    ``sqrt(mean(h[l]**2))`` over all of its entries, as in the derivation of He's rule [1]_.

    Parameters
    ----------
    x : ndarray of float32 or float64, shape (N, D[0])
        Input, with at least one entry.
    weights : sequence of ndarray of float32 or float64, shapes (D[l-1], D[l])
        The matrix of each layer, at least one; converted to the dtype of `x`.
    norm : {"none", "layernorm", "rmsnorm"}
        Applied to every row before the ReLU, with gain 1, no shift and eps 1e-5.

    Returns
    -------
    out : ndarray of the dtype of `x`, shape (N, D[L])
        Output of the last layer.
    scales : ndarray of float64, shape (L,)
        Root mean square of each layer's output.
    cache : Cache
        What `gradient_scale` needs.

    Raises
    ------
    TypeError, ValueError
        If an argument has another type, rank or shape, or `norm` another value.

    References
    ----------
    .. [1] He, Zhang, Ren, Sun, "Delving Deep into Rectifiers", ICCV 2015, section 2.2.
    """
    x = validate.float_array(_FORWARD, "x", x, rank=2)
    matrices = _chained(x, weights)
    if not isinstance(norm, str) or norm not in NORMS:
        raise ValueError(f"{_FORWARD}: norm must be one of {', '.join(NORMS)}; got {norm!r}.")
    cache = Cache(norm, matrices, [], [], [])
    scales, h = np.empty(len(matrices)), x
    for layer, matrix in enumerate(matrices):
        n, rstd = h @ matrix, np.ones(len(x))
        if norm != "none":
            _normalize(n, rstd, norm == "layernorm", EPS)
        cache.inputs.append(h)
        cache.normalized.append(n)
        cache.rstds.append(rstd)
        h = np.maximum(n, 0)
        scales[layer] = _size(h.ravel())
    return h, scales, cache


def gradient_scale(
    dout: NDArray[Any], cache: Cache
) -> tuple[NDArray[Any], list[NDArray[Any]], NDArray[np.float64]]:
    """Send a gradient back through the network of `activation_scale`, and measure it.

    From the last layer to the first, with bars for the mean over a row and n the normalized row::

        dn = dout where n > 0, else 0
        dz = rstd * (dn - mean(dn) - n * mean(dn * n))
        dw = h.T @ dz
        dh = dz @ w.T, which is dout for the layer before

    Without a norm ``dz = dn``; RMSNorm has no ``mean(dn)``.

    Parameters
    ----------
    dout : ndarray of float32 or float64, shape (N, D[L])
        Gradient with respect to the last layer's output; converted to the dtype of `x`.
    cache : Cache
        From `activation_scale`.

    Returns
    -------
    dx : ndarray of the dtype and shape of `x`
    dweights : list of ndarray of the dtype of `x`, shapes (D[l-1], D[l])
    scales : ndarray of float64, shape (L,)
        Root mean square of the gradient that arrives at the input of each layer, first layer first.

    Raises
    ------
    TypeError, ValueError
        If `dout` does not fit the output in the cache.
    """
    if not isinstance(cache, Cache):
        raise TypeError(
            f"{_BACKWARD}: cache must be what activation_scale returned third; "
            f"got {type(cache).__name__}."
        )
    dout = validate.float_array(_BACKWARD, "dout", dout, rank=2)
    last = cache.normalized[-1]
    if dout.shape != last.shape:
        raise ValueError(
            f"{_BACKWARD}: dout must have the shape of the last output, {last.shape}; "
            f"got {dout.shape}."
        )
    dh, count = dout.astype(last.dtype), len(cache.weights)
    scales = np.empty(count)
    dweights = [np.empty_like(matrix) for matrix in cache.weights]
    for layer in reversed(range(count)):
        dz = dh * (cache.normalized[layer] > 0)
        if cache.norm != "none":
            centre = cache.norm == "layernorm"
            _normalize_backward(dz, cache.normalized[layer], cache.rstds[layer], centre)
        dweights[layer] = cache.inputs[layer].T @ dz
        dh = dz @ cache.weights[layer].T
        scales[layer] = _size(dh.ravel())
    return dh, dweights, scales


def _chained(x: NDArray[Any], weights: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
    """Check that the matrices fit each other and `x`; give them in the dtype of `x`."""
    if not isinstance(weights, (list, tuple)) or not weights or not x.size:
        raise ValueError(
            f"{_FORWARD}: x must have entries, and weights must be a list of at least one matrix; "
            f"got x of shape {x.shape} and weights of type {type(weights).__name__}."
        )
    matrices, width = [], x.shape[1]
    for place, given in enumerate(weights):
        matrix = validate.float_array(_FORWARD, f"weights[{place}]", given, rank=2)
        if matrix.shape[0] != width or not matrix.size:
            raise ValueError(
                f"{_FORWARD}: weights[{place}] must have a row for each of the {width} features "
                f"before it; got shape {matrix.shape}."
            )
        matrices.append(matrix.astype(x.dtype))
        width = matrix.shape[1]
    return matrices


def _size(values: NDArray[Any]) -> float:
    return math.sqrt(dot(values, values) / values.size)


@compiled
def _normalize(z, rstd, centre, eps):  # type: ignore[no-untyped-def]
    rows, features = z.shape
    for i in range(rows):
        mean = squares = 0.0
        if centre:
            for j in range(features):
                mean += z[i, j]
            mean /= features
        for j in range(features):
            squares += (z[i, j] - mean) ** 2
        rstd[i] = 1.0 / math.sqrt(squares / features + eps)
        for j in range(features):
            z[i, j] = (z[i, j] - mean) * rstd[i]


@compiled
def _normalize_backward(g, n, rstd, centre):  # type: ignore[no-untyped-def]
    rows, features = g.shape
    for i in range(rows):
        mean = along = 0.0
        for j in range(features):
            mean += g[i, j]
            along += np.float64(g[i, j]) * np.float64(n[i, j])
        mean = mean / features if centre else 0.0
        along /= features
        for j in range(features):
            g[i, j] = (g[i, j] - mean - n[i, j] * along) * rstd[i]
