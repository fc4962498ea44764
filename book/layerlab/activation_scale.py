"""How the size of activations changes from layer to layer in a freshly initialized network.

The loop works on flat buffers of float32 and is given its random numbers, so that the same code can
be compiled to WebAssembly and move with a slider.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from layerlab.jit import compiled

ACTIVATIONS = ("relu", "tanh", "linear", "gelu")
NORMS = ("none", "layernorm", "rmsnorm")

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
        3e38 shows as inf or NaN, and one below 1e-45 as 0.

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
    for name, value in (("depth", depth), ("width", width), ("batch", batch)):
        _whole_number(name, value)
    if isinstance(std, str) or not 0 <= std < np.inf:
        raise ValueError(f"{_CALL}: std must be a finite number of 0 or more; got {std!r}.")
    codes = _choice("activation", activation, ACTIVATIONS), _choice("norm", norm, NORMS)
    x, weights = draws(depth, width, batch, np.random.default_rng(rng))
    sizes = np.empty(depth)
    # Overflow is a result here, not an accident; compiled code does not warn, plain Python would.
    with np.errstate(over="ignore", invalid="ignore"):
        _propagate(
            x, weights, np.empty_like(x), sizes, batch, width, depth, np.float32(std), *codes
        )
    return sizes


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


@compiled
def _propagate(  # type: ignore[no-untyped-def]
    h, weights, z, sizes, batch, width, depth, std, activation, norm
):
    for layer in range(depth):
        first = layer * width * width
        total = 0.0
        for example in range(batch):
            row = example * width
            _times_weights(h, weights, z, row, first, width, std)
            if norm != 0:
                _normalize(z, row, width, norm == 1)
            for j in range(row, row + width):
                value = _activate(z[j], activation)
                h[j] = value
                total += np.float64(value) ** 2
        sizes[layer] = math.sqrt(total / (batch * width))


@compiled
def _times_weights(h, weights, z, row, first, width, std):  # type: ignore[no-untyped-def]
    for j in range(width):
        z[row + j] = np.float32(0.0)
    for k in range(width):
        # Scaling the input, not the weights, keeps powers of two exact and costs nothing.
        scaled = h[row + k] * std
        for j in range(width):
            z[row + j] += scaled * weights[first + k * width + j]


@compiled
def _normalize(z, row, width, center):  # type: ignore[no-untyped-def]
    total = 0.0
    if center:
        for j in range(row, row + width):
            total += z[j]
    mean = total / width
    squares = 0.0
    for j in range(row, row + width):
        squares += (z[j] - mean) ** 2
    rstd = 1.0 / math.sqrt(squares / width + 1e-5)
    for j in range(row, row + width):
        z[j] = np.float32((z[j] - mean) * rstd)


@compiled
def _activate(value, activation):  # type: ignore[no-untyped-def]
    if activation == 0:
        # Written so that NaN stays NaN.
        return np.float32(0.0) if value < 0 else value
    if activation == 1:
        return np.float32(math.tanh(value))
    if activation == 3:
        inner = 0.7978845608028654 * (value + 0.044715 * value * value * value)
        return np.float32(0.5 * value * (1.0 + math.tanh(inner)))
    return value


def _whole_number(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{_CALL}: {name} must be an integer; got {type(value).__name__}.")
    if value < 1:
        raise ValueError(f"{_CALL}: {name} must be 1 or more; got {value}.")


def _choice(name: str, value: str, choices: tuple[str, ...]) -> int:
    if value not in choices:
        raise ValueError(f"{_CALL}: {name} must be one of {', '.join(choices)}; got {value!r}.")
    return choices.index(value)
