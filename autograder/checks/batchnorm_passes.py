"""Draw inputs of BatchNorm, call a student's passes, and take what they return."""

from __future__ import annotations

from typing import Any, NamedTuple

from autograder.checks.inputs import Array, Rng
from autograder.checks.observe import array, call, unpack

BATCH = (6, 16)
WIDE = (16, 24)
RETURNED = ("out", "cache", "running_mean", "running_var")


class Inputs(NamedTuple):
    """Inputs of BatchNorm: x and dout ``(..., D)``, everything else ``(D,)``."""

    x: Array
    dout: Array
    gamma: Array
    beta: Array
    running_mean: Array
    running_var: Array

    @property
    def arguments(self) -> tuple[Array, ...]:
        """Copies of what the forward pass takes before its flag, in order."""
        return tuple(part.copy() for part in (self.x, *self[2:]))


def draw(rng: Rng, shape: tuple[int, ...], scale: float = 1.0) -> Inputs:
    """Draw inputs with uneven features, and gains, shifts and running values that hide nothing.

    With running values of 0 and 1 no mistake in their use is visible, with gamma = 1 none in its
    place, and with ones for dout the right gradient is 0.

    Parameters
    ----------
    rng : numpy.random.Generator
    shape : tuple of int
        Shape of x, features last.
    scale : float
        Factor on x and on what is remembered of it.
    """
    features = shape[-1]
    spread = rng.uniform(0.5, 2.0, features)
    x = scale * (spread * rng.standard_normal(shape) + rng.uniform(0.5, 1.5, features))
    signs = rng.choice([-1.0, 1.0], size=(3, features))
    gamma = signs[0] * rng.uniform(0.5, 1.5, features)
    beta = signs[1] * rng.uniform(0.3, 1.0, features)
    running_mean = scale * signs[2] * rng.uniform(0.3, 1.0, features)
    running_var = scale**2 * rng.uniform(1.5, 4.0, features)
    return Inputs(x, rng.standard_normal(shape), gamma, beta, running_mean, running_var)


def forward(function: Any, data: Inputs, training: bool, **options: float) -> dict[str, Any]:
    """Call a forward pass, and give its three arrays and its cache by name, or refuse them."""
    returned = unpack(call(function, *data.arguments, training, **options), RETURNED)
    seen = dict(zip(RETURNED, returned))
    return {name: seen[name] if name == "cache" else array(seen[name], name) for name in RETURNED}
