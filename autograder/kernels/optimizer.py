"""Optimizers: reference steps of SGD, Adam and AdamW."""

import math
from typing import Any, NamedTuple

import numpy as np
from layerlab.jit import by_parts
from numpy.typing import NDArray

from autograder.kernels import _validate as validate
from autograder.kernels._buffers import Arrays, Layout, by_name, flat, layout_of

_SGD = "sgd_step(params, grads, learning_rate)"
_ADAM = "adam_step(params, grads, state, learning_rate)"
_ADAMW = "adamw_step(params, grads, state, learning_rate, weight_decay)"


class Moments(NamedTuple):
    """What Adam remembers between steps: all parameters one after the other, matrices first.

    Attributes
    ----------
    step : int
        Steps taken.
    first, second : ndarray, shape (number of parameters,)
        Running means of the gradient and of its square, not corrected.
    layout : tuple of (str, tuple of int)
        Names and shapes, in the order of the buffers.
    """

    step: int
    first: NDArray[Any]
    second: NDArray[Any]
    layout: Layout


def sgd_step(params: Arrays, grads: Arrays, learning_rate: float) -> Arrays:
    """Take one step of gradient descent: ``p - learning_rate * g``.

    Parameters
    ----------
    params, grads : dict of str to ndarray of float32 or float64
        Parameters and their gradients, with the same names, shapes and dtype.
    learning_rate : float
        Factor on the gradient; 0 or more.

    Returns
    -------
    dict of str to ndarray
        New parameters; those given stay as they are.

    Raises
    ------
    TypeError, ValueError
        If an argument has another type, or the gradients do not fit the parameters.
    """
    layout = layout_of(_SGD, params, grads)
    rate = validate.non_negative(_SGD, "learning_rate", learning_rate)
    old = flat(params, layout)
    new = np.empty_like(old)
    _sgd(old.size, old.size, old, flat(grads, layout), new, rate)
    return by_name(new, params, layout)


def adam_step(
    params: Arrays,
    grads: Arrays,
    state: Moments | None,
    learning_rate: float,
    beta1: float = 0.9,
    beta2: float = 0.999,
    eps: float = 1e-8,
) -> tuple[Arrays, Moments]:
    """Take one step of Adam [1]_.

    With ``t`` the number of this step, 1 for the first::

        m = beta1 * m + (1 - beta1) * g          v = beta2 * v + (1 - beta2) * g**2
        p = p - learning_rate * m / (1 - beta1**t) / (sqrt(v / (1 - beta2**t)) + eps)

    Parameters
    ----------
    params, grads : dict of str to ndarray of float32 or float64
        Parameters and their gradients, with the same names, shapes and dtype.
    state : Moments or None
        What the step before returned; None at the first step.
    learning_rate : float
        Size of the step; 0 or more.
    beta1, beta2 : float
        Weights of the old value in the two running means, in [0, 1).
    eps : float
        Value added to the root; 0 or more.

    Returns
    -------
    params : dict of str to ndarray
        New parameters; those given stay as they are.
    state : Moments
        For the next step.

    Raises
    ------
    TypeError, ValueError
        If an argument has another type or value, or gradients or state do not fit the parameters.

    References
    ----------
    .. [1] Kingma, Ba, "Adam: A Method for Stochastic Optimization", ICLR 2015, arXiv:1412.6980.
    """
    return _step(_ADAM, params, grads, state, learning_rate, 0.0, (beta1, beta2, eps))


def adamw_step(
    params: Arrays,
    grads: Arrays,
    state: Moments | None,
    learning_rate: float,
    weight_decay: float,
    beta1: float = 0.9,
    beta2: float = 0.999,
    eps: float = 1e-8,
) -> tuple[Arrays, Moments]:
    """Take one step of Adam with decoupled weight decay [1]_ on arrays with two or more axes.

    The step of `adam_step`, minus ``learning_rate * weight_decay * p`` with the ``p`` from before
    the step. Vectors, such as biases and the gains of norms, do not decay.

    Parameters
    ----------
    params, grads : dict of str to ndarray of float32 or float64
        Parameters and their gradients, with the same names, shapes and dtype.
    state : Moments or None
        What the step before returned; None at the first step.
    learning_rate, weight_decay : float
        Size of the step, and of the pull towards 0; 0 or more.
    beta1, beta2 : float
        Weights of the old value in the two running means, in [0, 1).
    eps : float
        Value added to the root; 0 or more.

    Returns
    -------
    params : dict of str to ndarray
        New parameters; those given stay as they are.
    state : Moments
        For the next step.

    Raises
    ------
    TypeError, ValueError
        If an argument has another type or value, or gradients or state do not fit the parameters.

    References
    ----------
    .. [1] Loshchilov, Hutter, "Decoupled Weight Decay Regularization", ICLR 2019, arXiv:1711.05101.
    """
    decay = validate.non_negative(_ADAMW, "weight_decay", weight_decay)
    return _step(_ADAMW, params, grads, state, learning_rate, decay, (beta1, beta2, eps))


def _step(
    call: str,
    params: Arrays,
    grads: Arrays,
    state: Moments | None,
    learning_rate: float,
    decay: float,
    numbers: tuple[float, float, float],
) -> tuple[Arrays, Moments]:
    layout = layout_of(call, params, grads)
    rate = validate.non_negative(call, "learning_rate", learning_rate)
    beta1, beta2 = (_beta(call, name, value) for name, value in zip(("beta1", "beta2"), numbers))
    eps = validate.non_negative(call, "eps", numbers[2])
    p, g = flat(params, layout), flat(grads, layout)
    done, m, v = _memory(call, state, layout, p)
    new_p, new_m, new_v = np.empty_like(p), np.empty_like(p), np.empty_like(p)
    corrections = 1 - beta1 ** (done + 1), 1 - beta2 ** (done + 1)
    # Matrices stand first: what decays is one stretch of the buffer.
    decaying = sum(math.prod(shape) for _, shape in layout if len(shape) >= 2)
    _adamw(
        p.size, p.size, p, g, m, v, new_p, new_m, new_v,
        rate, decay, decaying, beta1, beta2, eps, *corrections,
    )  # fmt: skip
    return by_name(new_p, params, layout), Moments(done + 1, new_m, new_v, layout)


def _beta(call: str, name: str, value: Any) -> float:
    value = validate.number(call, name, value)
    if not 0 <= value < 1:
        raise ValueError(f"{call}: {name} must be in [0, 1), the old value's weight; got {value}.")
    return value


def _memory(
    call: str, state: Moments | None, layout: Layout, like: NDArray[Any]
) -> tuple[int, NDArray[Any], NDArray[Any]]:
    if state is None:
        return 0, np.zeros_like(like), np.zeros_like(like)
    if not isinstance(state, Moments):
        raise TypeError(
            f"{call}: state must be None at the first step, then what the step before returned; "
            f"got {type(state).__name__}."
        )
    if state.layout != layout or state.first.dtype != like.dtype:
        raise ValueError(
            f"{call}: state must come from parameters with the same names, shapes and dtype; it "
            f"comes from {dict(state.layout)} in {state.first.dtype}, for {dict(layout)} in "
            f"{like.dtype}. Start anew with None."
        )
    return state.step, state.first, state.second


@by_parts
def _sgd(first, end, p, g, new, rate):  # type: ignore[no-untyped-def]
    for i in range(first, end):
        new[i] = p[i] - rate * g[i]


@by_parts
def _adamw(  # type: ignore[no-untyped-def]
    first, end, p, g, m, v, new_p, new_m, new_v,
    rate, decay, decaying, beta1, beta2, eps, correction1, correction2,
):  # fmt: skip
    # The numbers are float64, so float32 parameters are rounded once, when they are stored.
    for i in range(first, end):
        mean = beta1 * m[i] + (1 - beta1) * g[i]
        square = beta2 * v[i] + (1 - beta2) * np.float64(g[i]) ** 2
        new_m[i], new_v[i] = mean, square
        pull = decay * p[i] if i < decaying else 0.0
        step = mean / correction1 / (math.sqrt(square / correction2) + eps)
        new_p[i] = p[i] - rate * (step + pull)
