"""The sizes that theory expects in a wide network, without drawing any weights.

In a wide layer the entries of ``h @ w`` are nearly normal, with variance width * std**2 * q where q
is the mean square of h. So one number per layer is enough, and what the activation makes of it is
an average over a normal number.
"""

import math

import numpy as np
from numpy.typing import NDArray

from layerlab.activations import activate, slope
from layerlab.jit import Doubles, on_buffers, reproducible
from layerlab.network_loops import EPS

# Places at which the average is taken: half steps, so that the kink of ReLU at 0 is between two.
_STEP = 0.125
_PLACES = 64
# exp(-_STEP**2): the bell curve without exp, which browsers and systems round differently.
_FALL = 0.9844964370054085


def expected_scale(
    depth: int, width: int, std: float, activation: int, norm: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Compute the expected sizes of outputs and gradients in each layer.

    With ``v = width * std**2 * q`` the mean square of ``h @ w``, a norm divides it by v + eps, and
    the next q is the mean of ``activation(sqrt(v) * N(0, 1))**2`` [1]_. Going back, the mean square
    of the gradient is multiplied by the mean of the squared slope and by width * std**2 [2]_; a
    norm divides it by v + eps too, and removes one of the width directions, or two with a mean.

    Parameters
    ----------
    depth, width : int
        Number of layers and of units in each.
    std : float
        Standard deviation of the weights.
    activation, norm : int
        Their places in ACTIVATIONS and NORMS.

    Returns
    -------
    outputs, gradients : ndarray of float64, shape (depth,)
        Root mean squares, for an input of size 1 and a gradient of size 1 at the last output.

    References
    ----------
    .. [1] Poole et al., "Exponential expressivity in deep neural networks through transient chaos",
       2016.
    .. [2] Schoenholz et al., "Deep information propagation", 2017.
    """
    outputs, gradients = np.empty(depth), np.empty(depth)
    with np.errstate(over="ignore", invalid="ignore"):
        expect(outputs, gradients, depth, width, np.float32(std), activation, norm)
    return outputs, gradients


@on_buffers
def expect(
    outputs: Doubles,
    gradients: Doubles,
    depth: int,
    width: int,
    std: float,
    activation: int,
    norm: int,
) -> None:
    """Write the expected sizes; `gradients` first holds the factor of each layer."""
    gain = width * np.float64(std) * np.float64(std)
    kept_directions = 1.0 - (3.0 - norm) / width if norm != 0 else 1.0
    square = 1.0
    for layer in range(depth):
        entering = gain * square
        scale = 1.0 / (entering + EPS) if norm != 0 else 1.0
        square, slopes = _averages(math.sqrt(entering * scale), activation)
        outputs[layer] = math.sqrt(square)
        gradients[layer] = slopes * scale * gain * kept_directions
    below = 1.0
    for layer in range(depth - 1, -1, -1):
        factor = gradients[layer]
        gradients[layer] = math.sqrt(below)
        below *= factor


@reproducible
def _averages(size, activation):  # type: ignore[no-untyped-def]
    """Mean squares of activation and slope over N(0, size**2)."""
    # Heights at 1/2, 3/2, 5/2 ... steps: their quotients fall by a constant factor.
    height, fall = 1.0, _FALL
    heights = squares = slopes = 0.0
    for place in range(_PLACES):
        value = size * _STEP * (place + 0.5)
        up, down = activate(value, activation), activate(-value, activation)
        up_slope, down_slope = slope(value, activation), slope(-value, activation)
        heights += 2.0 * height
        squares += height * (up * up + down * down)
        slopes += height * (up_slope * up_slope + down_slope * down_slope)
        height *= fall
        fall *= _FALL
    return squares / heights, slopes / heights
