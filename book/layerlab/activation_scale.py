"""How the size of activations changes from layer to layer in a freshly initialized network."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from layerlab.activations import ACTIVATIONS
from layerlab.network_loops import NORMS, backpropagate, propagate, transpose

_CALL = "activation_scale(depth, width, batch, std, activation, norm, rng)"


def activation_scale(
    depth: int,
    width: int,
    batch: int,
    std: float,
    activation: str = "relu",
    norm: str = "none",
    rng: np.random.Generator | int = 0,
) -> NDArray[np.float64]:
    """Send a random batch through random layers and measure the size of each layer's output.

    Layer l computes ``h = activation(norm(h @ w))`` with w ~ N(0, std**2) of shape (width, width),
    starting from h ~ N(0, 1) of shape (batch, width). Its size is the root mean square of all
    batch * width entries of its output, after the activation.

    Parameters
    ----------
    depth, width, batch : int
        Number of layers, units in each layer, and examples; 1 or more.
    std : float
        Standard deviation of the weights; 0 or more.
    activation : {"relu", "tanh", "linear", "gelu"}
        Applied to every entry; gelu is GPT-2's, with tanh.
    norm : {"none", "layernorm", "rmsnorm"}
        Applied to every row before the activation, without gain and bias, with eps 1e-5.
    rng : numpy.random.Generator or int
        Generator or seed. The draws do not depend on `std`: with one seed, doubling it doubles
        every weight exactly.

    Returns
    -------
    ndarray of float64, shape (depth,)
        Root mean square of each layer's output. The network computes in float32, so a size beyond
        3e38 shows as inf or NaN. Numbers below 1e-28 count as 0.

    Raises
    ------
    TypeError, ValueError
        If an argument has another type or value.

    Examples
    --------
    >>> he, one = (activation_scale(10, 512, 64, std) for std in (0.0625, 1.0))
    >>> float(one[-1] / he[-1]) == 16.0**10
    True
    """
    _check(depth, width, batch, std)
    codes = _choice("activation", activation, ACTIVATIONS), _choice("norm", norm, NORMS)
    x, weights = draws(depth, width, batch, np.random.default_rng(rng))
    return measure(x, weights, None, depth, width, std, *codes)[0]


def gradient_scale(
    depth: int,
    width: int,
    batch: int,
    std: float,
    activation: str = "relu",
    norm: str = "none",
    rng: np.random.Generator | int = 0,
) -> NDArray[np.float64]:
    """Send a random gradient back through the network of `activation_scale`, and measure its size.

    Parameters
    ----------
    depth, width, batch, std, activation, norm, rng
        As for `activation_scale`: the same seed gives the same network. The gradient with respect
        to the last output is drawn after it, from N(0, 1).

    Returns
    -------
    ndarray of float64, shape (depth,)
        Root mean square of the gradient with respect to each layer's output. The last is near 1.

    Raises
    ------
    TypeError, ValueError
        If an argument has another type or value.
    """
    _check(depth, width, batch, std)
    codes = _choice("activation", activation, ACTIVATIONS), _choice("norm", norm, NORMS)
    generator = np.random.default_rng(rng)
    x, weights = draws(depth, width, batch, generator)
    grad = generator.standard_normal(batch * width, dtype=np.float32)
    return measure(x, weights, grad, depth, width, std, *codes)[1]


def measure(
    x: NDArray[np.float32],
    weights: NDArray[np.float32],
    grad: NDArray[np.float32] | None,
    depth: int,
    width: int,
    std: float,
    activation: int,
    norm: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Measure both directions on given draws, which stay as they are.

    Parameters
    ----------
    x, grad : ndarray of float32, shape (batch * width,)
        Input, and gradient with respect to the last output; without `grad` nothing is sent back.
    weights : ndarray of float32, shape (depth * width * width,)
        Weights of unit standard deviation.
    depth, width, std
        As for `activation_scale`.
    activation, norm : int
        Their places in ACTIVATIONS and NORMS.

    Returns
    -------
    outputs, gradients : ndarray of float64, shape (depth,)
        Root mean squares of each layer's output, and of the gradient with respect to it.
    """
    batch, scale = x.size // width, np.float32(std)
    kept = np.empty(depth * batch * width, np.float32)
    rstds, sizes = np.empty(depth * batch, np.float32), np.empty((2, depth))
    layout = batch, width, depth, scale, activation, norm
    # Overflow is a result here, not an accident; compiled code does not warn, plain Python would.
    with np.errstate(over="ignore", invalid="ignore"):
        propagate(x.copy(), weights, kept, rstds, sizes[0], *layout)
        if grad is not None:
            turned, row = np.empty_like(weights), np.empty(width, np.float32)
            transpose(weights, turned, width, depth)
            backpropagate(grad.copy(), turned, kept, rstds, row, sizes[1], *layout)
    return sizes[0], sizes[1]


def draws(
    depth: int, width: int, batch: int, rng: np.random.Generator
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Draw the input and the weights of unit standard deviation, as flat arrays of float32.

    Returns
    -------
    x : ndarray of float32, shape (batch * width,)
    weights : ndarray of float32, shape (depth * width * width,)
    """
    x = rng.standard_normal(batch * width, dtype=np.float32)
    return x, rng.standard_normal(depth * width * width, dtype=np.float32)


def _check(depth: int, width: int, batch: int, std: float) -> None:
    for name, value in (("depth", depth), ("width", width), ("batch", batch)):
        _whole_number(name, value)
    if isinstance(std, str) or not 0 <= std < np.inf:
        raise ValueError(f"{_CALL}: std must be a finite number of 0 or more; got {std!r}.")


def _whole_number(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{_CALL}: {name} must be an integer; got {type(value).__name__}.")
    if value < 1:
        raise ValueError(f"{_CALL}: {name} must be 1 or more; got {value}.")


def _choice(name: str, value: str, choices: tuple[str, ...]) -> int:
    if value not in choices:
        raise ValueError(f"{_CALL}: {name} must be one of {', '.join(choices)}; got {value!r}.")
    return choices.index(value)
