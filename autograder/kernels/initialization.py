"""Initialization: reference draws of weights.

Every matrix has shape (fan_in, fan_out), for ``y = x @ w``.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from autograder.kernels import _validate as validate

_GPT2_STD = 0.02


def xavier_normal(
    fan_in: int, fan_out: int, rng: np.random.Generator, *, dtype: DTypeLike = np.float64
) -> NDArray[Any]:
    """Draw weights that keep the size of activations and gradients in a linear or tanh layer.

    ``w ~ N(0, std**2)`` with ``std = sqrt(2 / (fan_in + fan_out))`` [1]_.

    Parameters
    ----------
    fan_in, fan_out : int
        Number of inputs and outputs of the layer, 1 or more.
    rng : numpy.random.Generator
        Where the random numbers come from.
    dtype : float32 or float64
        Precision of the weights.

    Returns
    -------
    ndarray of `dtype`, shape (fan_in, fan_out)
        Weights.

    Raises
    ------
    TypeError, ValueError
        If a fan is not an integer of 1 or more, `rng` no generator, `dtype` another one.

    References
    ----------
    .. [1] Glorot, Bengio, "Understanding the difficulty of training deep feedforward neural
       networks", AISTATS 2010.
    """
    shape = _shape("xavier_normal(fan_in, fan_out, rng)", fan_in, fan_out, rng, dtype)
    return _normal(rng, math.sqrt(2 / (fan_in + fan_out)), shape, dtype)


def xavier_uniform(
    fan_in: int, fan_out: int, rng: np.random.Generator, *, dtype: DTypeLike = np.float64
) -> NDArray[Any]:
    """Draw uniform weights with the standard deviation of `xavier_normal`.

    ``w ~ U(-a, a)`` with ``a = sqrt(6 / (fan_in + fan_out))``: the standard deviation of U(-a, a)
    is a / sqrt(3). Parameters, result and errors are those of `xavier_normal`.
    """
    shape = _shape("xavier_uniform(fan_in, fan_out, rng)", fan_in, fan_out, rng, dtype)
    return _uniform(rng, math.sqrt(6 / (fan_in + fan_out)), shape, dtype)


def he_normal(
    fan_in: int, fan_out: int, rng: np.random.Generator, *, dtype: DTypeLike = np.float64
) -> NDArray[Any]:
    """Draw weights that keep the size of activations in a ReLU layer.

    ``w ~ N(0, std**2)`` with ``std = sqrt(2 / fan_in)``: ReLU halves the second moment [1]_.
    Parameters, result and errors are those of `xavier_normal`.

    References
    ----------
    .. [1] He, Zhang, Ren, Sun, "Delving Deep into Rectifiers", ICCV 2015, arXiv:1502.01852.
    """
    shape = _shape("he_normal(fan_in, fan_out, rng)", fan_in, fan_out, rng, dtype)
    return _normal(rng, math.sqrt(2 / fan_in), shape, dtype)


def he_uniform(
    fan_in: int, fan_out: int, rng: np.random.Generator, *, dtype: DTypeLike = np.float64
) -> NDArray[Any]:
    """Draw uniform weights with the standard deviation of `he_normal`.

    ``w ~ U(-a, a)`` with ``a = sqrt(6 / fan_in)``. Parameters, result and errors are those of
    `xavier_normal`.
    """
    shape = _shape("he_uniform(fan_in, fan_out, rng)", fan_in, fan_out, rng, dtype)
    return _uniform(rng, math.sqrt(6 / fan_in), shape, dtype)


def gpt2_normal(
    fan_in: int, fan_out: int, rng: np.random.Generator, *, dtype: DTypeLike = np.float64
) -> NDArray[Any]:
    """Draw weights as GPT-2 does: ``w ~ N(0, 0.02**2)`` whatever the shape [1]_.

    Parameters, result and errors are those of `xavier_normal`.

    References
    ----------
    .. [1] Radford, Wu, Child, Luan, Amodei, Sutskever, "Language Models are Unsupervised Multitask
       Learners", 2019.
    """
    shape = _shape("gpt2_normal(fan_in, fan_out, rng)", fan_in, fan_out, rng, dtype)
    return _normal(rng, _GPT2_STD, shape, dtype)


def gpt2_residual(
    fan_in: int,
    fan_out: int,
    n_layer: int,
    rng: np.random.Generator,
    *,
    dtype: DTypeLike = np.float64,
) -> NDArray[Any]:
    """Draw the weights of a projection that is added to GPT-2's residual stream.

    ``w ~ N(0, std**2)`` with ``std = 0.02 / sqrt(2 * n_layer)``: each of the `n_layer` blocks adds
    two such projections, and the variance of a sum of independent terms is the sum of theirs.
    `n_layer` is 1 or more; the rest is as in `gpt2_normal`.
    """
    call = "gpt2_residual(fan_in, fan_out, n_layer, rng)"
    shape = _shape(call, fan_in, fan_out, rng, dtype)
    return _normal(rng, _residual_std(call, n_layer), shape, dtype)


def gpt2_init(
    shapes: Mapping[str, tuple[int, ...]],
    n_layer: int,
    rng: np.random.Generator,
    *,
    dtype: DTypeLike = np.float64,
) -> dict[str, NDArray[Any]]:
    """Draw all parameters of a GPT-2 by their names.

    ====================================  ==========================================
    name and shape                        values
    ====================================  ==========================================
    ends in ``c_proj.weight``, 2 axes     N(0, std**2), std = 0.02 / sqrt(2 n_layer)
    any other ``.weight`` of 2 axes       N(0, 0.02**2)
    ends in ``.bias``                     zeros
    ``.weight`` of 1 axis (norm gains)    ones
    ====================================  ==========================================

    Parameters
    ----------
    shapes : mapping of str to tuple of int
        The parameters' names and shapes. Random numbers are drawn in this order.
    n_layer : int
        Number of blocks, 1 or more.
    rng : numpy.random.Generator
        Where the random numbers come from.
    dtype : float32 or float64
        Precision of the parameters.

    Returns
    -------
    dict of str to ndarray of `dtype`
        The parameters.

    Raises
    ------
    TypeError, ValueError
        If an argument has another type, or no row of the table fits a parameter.
    """
    call = "gpt2_init(shapes, n_layer, rng)"
    if not isinstance(shapes, Mapping):
        raise TypeError(
            f"{call}: shapes must be a dict of names and shapes; got {type(shapes).__name__}."
        )
    residual_std = _residual_std(call, n_layer)
    rng, dtype = validate.generator(call, rng), _float_dtype(call, dtype)
    parameters = {}
    for name, shape in shapes.items():
        if not isinstance(shape, (tuple, list)):
            raise TypeError(
                f"{call}: shapes[{name!r}] must be a tuple of sizes; got {type(shape).__name__}."
            )
        for size in shape:
            validate.whole_number(call, f"each size in shapes[{name!r}]", size)
        if name.endswith(".bias"):
            parameters[name] = np.zeros(shape, dtype)
        elif name.endswith(".weight") and len(shape) == 1:
            parameters[name] = np.ones(shape, dtype)
        elif name.endswith(".weight") and len(shape) == 2:
            std = residual_std if name.endswith("c_proj.weight") else _GPT2_STD
            parameters[name] = _normal(rng, std, shape, dtype)
        else:
            raise ValueError(
                f"{call}: a name must end in .weight (1 or 2 axes) or .bias; "
                f"got {name!r} with shape {tuple(shape)}."
            )
    return parameters


def _residual_std(call: str, n_layer: int) -> float:
    return _GPT2_STD / math.sqrt(2 * validate.whole_number(call, "n_layer", n_layer))


def _shape(
    call: str, fan_in: int, fan_out: int, rng: np.random.Generator, dtype: DTypeLike
) -> tuple[int, int]:
    validate.generator(call, rng)
    _float_dtype(call, dtype)
    return (
        validate.whole_number(call, "fan_in", fan_in),
        validate.whole_number(call, "fan_out", fan_out),
    )


def _float_dtype(call: str, dtype: DTypeLike) -> np.dtype[Any]:
    if np.dtype(dtype) not in (np.float32, np.float64):
        raise TypeError(f"{call}: dtype must be float32 or float64; got {np.dtype(dtype)}.")
    return np.dtype(dtype)


def _normal(
    rng: np.random.Generator, std: float, shape: tuple[int, ...], dtype: DTypeLike
) -> NDArray[Any]:
    return rng.normal(0.0, std, shape).astype(dtype, copy=False)


def _uniform(
    rng: np.random.Generator, limit: float, shape: tuple[int, ...], dtype: DTypeLike
) -> NDArray[Any]:
    return rng.uniform(-limit, limit, shape).astype(dtype, copy=False)
