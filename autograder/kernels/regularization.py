"""Regularization: what dropout averages over, decayed steps, and fair comparisons over splits.

Each function raises TypeError or ValueError for an argument of another type, shape or range.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from layerlab.jit import compiled
from numpy.typing import NDArray

from autograder.kernels import _validate as validate

MOST_UNITS = 12

_MEANS = "thinned_means(x, w, p)"
_GAP = "top2_gap(logits)"
_SPLIT = "train_split(n, n_train, n_val, rng)"
_STEP = "decayed_step(params, grads, learning_rate, weight_decay)"
_PAIRED = "paired_difference(a, b, n_train, n_val)"


def thinned_means(x: NDArray[Any], w: NDArray[Any], p: float) -> tuple[NDArray[Any], NDArray[Any]]:
    """Average a layer over every dropout mask on its inputs, before and after a ReLU.

    With masks m of n zeros and ones, ``share(m) = p**zeros * (1 - p)**ones`` and
    ``z(m) = (m * x / (1 - p)) @ w``::

        linear_mean = sum over m of share(m) * z(m)
        relu_mean = sum over m of share(m) * max(z(m), 0)

    The first is ``x @ w``; the second has no such short form [1]_.

    Parameters
    ----------
    x : ndarray of float32 or float64, shape (n,), 1 <= n <= 12
        Inputs, each zeroed with probability p.
    w : ndarray of the dtype of `x`, shape (n, k)
        Weights.
    p : float
        Probability of zeroing, 0 <= p < 1.

    Returns
    -------
    linear_mean, relu_mean : ndarray of the dtype of `x`, shape (k,)

    References
    ----------
    .. [1] Srivastava, Hinton, Krizhevsky, Sutskever, Salakhutdinov, "Dropout: A Simple Way to
       Prevent Neural Networks from Overfitting", JMLR 15, 2014.
    """
    x = validate.float_array(_MEANS, "x", x, rank=1)
    w = validate.float_array(_MEANS, "w", w, rank=2)
    validate.same_dtype(_MEANS, "w", w, "x", x)
    if not 1 <= len(x) <= MOST_UNITS or len(w) != len(x):
        raise ValueError(
            f"{_MEANS}: x must have 1 to {MOST_UNITS} entries and w a row for each; "
            f"got shapes {x.shape} and {w.shape}."
        )
    p = validate.number(_MEANS, "p", p)
    if not 0 <= p < 1:
        raise ValueError(f"{_MEANS}: p must lie in 0 <= p < 1; got {p}.")
    linear, relu = np.zeros((2, w.shape[1]))
    _enumerate(x, w, p, linear, relu)
    return linear.astype(x.dtype), relu.astype(x.dtype)


@compiled
def _enumerate(x, w, p, linear, relu):  # type: ignore[no-untyped-def]
    units, outputs = w.shape
    for mask in range(1 << units):
        share = 1.0
        for i in range(units):
            share *= 1 - p if mask >> i & 1 else p
        for j in range(outputs):
            z = 0.0
            for i in range(units):
                if mask >> i & 1:
                    z += x[i] / (1 - p) * w[i, j]
            linear[j] += share * z
            relu[j] += share * max(z, 0.0)


def top2_gap(logits: NDArray[Any]) -> float:
    """Average the distance between the largest and the second largest logit: how sure a net is.

    Two equal largest logits are 0 apart.

    Parameters
    ----------
    logits : ndarray of float32 or float64, shape (..., K), K >= 2
        Any number of leading axes, at least one row in all.

    Returns
    -------
    float
    """
    logits = validate.float_array(_GAP, "logits", logits)
    if logits.ndim == 0 or logits.shape[-1] < 2 or logits.size == 0:
        raise ValueError(
            f"{_GAP}: logits must have shape (..., K) with K >= 2 classes and at least one row; "
            f"got {logits.shape}."
        )
    return float(_mean_gap(logits.reshape(-1, logits.shape[-1])))


@compiled
def _mean_gap(rows):  # type: ignore[no-untyped-def]
    total = 0.0
    for i in range(rows.shape[0]):
        first, second = -math.inf, -math.inf
        for j in range(rows.shape[1]):
            value = rows[i, j]
            if value > first:
                first, second = value, first
            elif value > second:
                second = value
        total += first - second
    return total / rows.shape[0]


def train_split(
    n: int, n_train: int, n_val: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Draw two sets of examples that have none in common.

    Parameters
    ----------
    n : int
        Number of examples there are.
    n_train, n_val : int
        Numbers to draw, 1 or more each and n at most together.
    rng : numpy.random.Generator
        Where the random numbers come from.

    Returns
    -------
    train, val : ndarray of int64, shapes (n_train,) and (n_val,)
        Indices 0 .. n - 1 in random order, all different. Every choice is equally likely.
    """
    validate.generator(_SPLIT, rng)
    for name, value in (("n", n), ("n_train", n_train), ("n_val", n_val)):
        validate.whole_number(_SPLIT, name, value)
    if n_train + n_val > n:
        raise ValueError(
            f"{_SPLIT}: n_train + n_val must be at most n = {n}; got {n_train} + {n_val}."
        )
    order = rng.permutation(n)
    return order[:n_train], order[n_train : n_train + n_val]


def decayed_step(
    params: Mapping[str, NDArray[Any]],
    grads: Mapping[str, NDArray[Any]],
    learning_rate: float,
    weight_decay: float,
) -> dict[str, NDArray[Any]]:
    """Take one step of gradient descent with weight decay on the matrices only.

    ``param - learning_rate * (grad + weight_decay * param)`` where the parameter has two or more
    axes, ``param - learning_rate * grad`` for biases and gains [1]_.

    Parameters
    ----------
    params, grads : mapping of str to ndarray of float32 or float64
        Parameters and their gradients, by the same names, of equal shapes and dtypes.
    learning_rate, weight_decay : float
        Finite, 0 or more.

    Returns
    -------
    dict of str to ndarray
        New arrays.

    References
    ----------
    .. [1] Loshchilov, Hutter, "Decoupled Weight Decay Regularization", ICLR 2019.
    """
    rate = validate.non_negative(_STEP, "learning_rate", learning_rate)
    decay = validate.non_negative(_STEP, "weight_decay", weight_decay)
    if not isinstance(params, Mapping) or not isinstance(grads, Mapping):
        raise TypeError(f"{_STEP}: params and grads must be dicts of arrays by name.")
    if params.keys() != grads.keys():
        odd = ", ".join(sorted(map(str, params.keys() ^ grads.keys())))
        raise ValueError(f"{_STEP}: params and grads must have the same names; not in both: {odd}.")
    moved = {}
    for name, value in params.items():
        param = validate.float_array(_STEP, f"params[{name!r}]", value)
        grad = validate.float_array(_STEP, f"grads[{name!r}]", grads[name])
        validate.same_shape(_STEP, f"grads[{name!r}]", grad, f"params[{name!r}]", param)
        moved[name] = np.empty_like(param)
        shrink = decay if param.ndim >= 2 else 0.0
        _descend(param.ravel(), grad.ravel(), rate, shrink, moved[name].reshape(-1))
    return moved


@compiled
def _descend(param, grad, rate, decay, out):  # type: ignore[no-untyped-def]
    for i in range(param.size):
        out[i] = param[i] - rate * (grad[i] + decay * param[i])


def paired_difference(
    a: NDArray[Any], b: NDArray[Any], n_train: int, n_val: int
) -> tuple[float, float]:
    """Compare two methods over random splits of one data set, with a corrected error.

    With ``d = b - a``, one difference for each of the n splits::

        mean = mean(d)
        standard_error = std(d) * sqrt(1 / n + n_val / n_train)

    with n - 1 in the denominator of the variance. The splits share examples, so their differences
    are correlated; the second term under the root makes up for it [1]_.

    Parameters
    ----------
    a, b : ndarray of float32 or float64, shape (n,), n >= 2
        Results of the two methods, split by split.
    n_train, n_val : int
        Numbers of examples for training and for measuring in each split, 1 or more.

    Returns
    -------
    mean, standard_error : float

    References
    ----------
    .. [1] Nadeau, Bengio, "Inference for the Generalization Error", Machine Learning 52, 2003.
    """
    a = validate.float_array(_PAIRED, "a", a, rank=1)
    b = validate.float_array(_PAIRED, "b", b, rank=1)
    validate.same_shape(_PAIRED, "b", b, "a", a)
    validate.whole_number(_PAIRED, "n_train", n_train)
    validate.whole_number(_PAIRED, "n_val", n_val)
    if len(a) < 2:
        raise ValueError(f"{_PAIRED}: a spread needs 2 splits or more; got {len(a)}.")
    difference = b.astype(np.float64) - a
    factor = math.sqrt(1 / len(a) + n_val / n_train)
    return float(difference.mean()), float(difference.std(ddof=1)) * factor
