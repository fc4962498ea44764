"""What a norm behind a matrix means for its training: only the direction of the matrix counts."""

from typing import Any

import numpy as np
from layerlab.jit import compiled
from numpy.typing import NDArray

from autograder.kernels import _validate as validate


def effective_rate(weight: NDArray[Any], learning_rate: float) -> float:
    """Give the learning rate that counts for a matrix whose scale does not.

    ``learning_rate / sum(weight**2)``: with it, training of a matrix in front of a norm does not
    depend on the size of the matrix [1]_.

    Parameters
    ----------
    weight : ndarray of float32 or float64
        The weights, not all of them 0.
    learning_rate : float
        The step size, 0 or more.

    Raises
    ------
    TypeError, ValueError
        If an argument has another type or value.

    References
    ----------
    .. [1] van Laarhoven, "L2 Regularization versus Batch and Weight Normalization",
       arXiv:1706.05350, 2017.
    """
    call = "effective_rate(weight, learning_rate)"
    weight = validate.float_array(call, "weight", weight)
    return validate.non_negative(call, "learning_rate", learning_rate) / _squared(call, weight)


def split_gradient(
    weight: NDArray[Any], gradient: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Split a gradient into its part along the weights and the part across them.

    With ``<a, b>`` the sum over all entries of a * b::

        along = <weight, gradient> / <weight, weight> * weight
        across = gradient - along

    Behind a norm, ``along`` is 0: stretching the weights changes nothing [1]_.

    Parameters
    ----------
    weight : ndarray of float32 or float64
        The weights, not all of them 0.
    gradient : ndarray of the dtype and shape of `weight`

    Returns
    -------
    along, across : ndarray of the dtype and shape of `weight`

    Raises
    ------
    TypeError, ValueError
        If an argument has another type, shape or value.

    References
    ----------
    .. [1] Arora, Li, Lyu, "Theoretical Analysis of Auto Rate-Tuning by Batch Normalization",
       ICLR 2019.
    """
    call = "split_gradient(weight, gradient)"
    weight, gradient = _pair(call, weight, gradient)
    factor = dot(weight.ravel(), gradient.ravel()) / _squared(call, weight)
    along = weight.dtype.type(factor) * weight
    return along, gradient - along


def weight_growth(
    weight: NDArray[Any], gradient: NDArray[Any], learning_rate: float, weight_decay: float
) -> float:
    """Give the factor by which one step changes the squared length of the weights.

    The step is ``new = weight - learning_rate * (gradient + weight_decay * weight)``, and the
    factor ``sum(new**2) / sum(weight**2)``. For a gradient across the weights it is
    ``(1 - learning_rate * weight_decay)**2 + learning_rate**2 * |gradient|**2 / |weight|**2``.

    Parameters
    ----------
    weight : ndarray of float32 or float64
        The weights, not all of them 0.
    gradient : ndarray of the dtype and shape of `weight`
    learning_rate, weight_decay : float
        Each 0 or more.

    Raises
    ------
    TypeError, ValueError
        If an argument has another type, shape or value.
    """
    call = "weight_growth(weight, gradient, learning_rate, weight_decay)"
    weight, gradient = _pair(call, weight, gradient)
    rate = validate.non_negative(call, "learning_rate", learning_rate)
    decay = validate.non_negative(call, "weight_decay", weight_decay)
    before = _squared(call, weight)
    new = (1 - rate * decay) * weight - rate * gradient
    return float(dot(new.ravel(), new.ravel())) / before


def _pair(
    call: str, weight: NDArray[Any], gradient: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    weight = validate.float_array(call, "weight", weight)
    gradient = validate.float_array(call, "gradient", gradient)
    validate.same_shape(call, "gradient", gradient, "weight", weight)
    return weight, gradient


def _squared(call: str, weight: NDArray[Any]) -> float:
    squared = float(dot(weight.ravel(), weight.ravel()))
    if squared == 0:
        raise ValueError(f"{call}: weight must not be 0 everywhere; got shape {weight.shape}.")
    return squared


@compiled
def dot(a, b):  # type: ignore[no-untyped-def]
    """Sum the products of the entries of two flat arrays, in float64."""
    total = 0.0
    for i in range(a.size):
        total += np.float64(a[i]) * np.float64(b[i])
    return total
