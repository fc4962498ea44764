"""A layer with a right backward pass and room for a planted mistake, for gradient checkers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from autograder.checks.core import Functions
from autograder.checks.gradcheck_numeric import as_error, exact
from autograder.checks.inputs import Array, Rng
from autograder.checks.lent import Lent, LentBackward
from autograder.checks.observe import call

SHAPE = (2, 2)
PASSES = 1e-6

# From the right dx, the layer, dout and the cache to what a backward pass returns.
Wrong = Callable[[Array, "Planted", Array, "Cache"], Array]


class Cache:
    """What the forward pass of `Planted` leaves for the backward pass."""

    def __init__(self, angle: Array) -> None:
        self.angle = angle


class Planted:
    """A layer ``out = size * gain * sin(2 (x @ weight + bias))`` with right and wrong gradients.

    Parameters
    ----------
    rng : numpy.random.Generator
    shape : tuple of int
        Shape of x, (..., D).
    outputs : int
        Features of the output.
    size : float
        Factor on the output, and so on its gradient.
    """

    def __init__(
        self, rng: Rng, shape: tuple[int, ...] = SHAPE, outputs: int = 4, size: float = 1.0
    ) -> None:
        self.x = exact(rng.uniform(-1.0, 1.0, size=shape))
        self.weight = rng.uniform(0.5, 1.5, size=(shape[-1], outputs))
        self.weight *= rng.choice([-1.0, 1.0], size=self.weight.shape)
        self.bias = rng.uniform(-1.0, 1.0, size=outputs)
        self.gain = rng.uniform(0.5, 2.0, size=outputs)
        self.size = size
        self.seed = int(rng.integers(2**32))
        self.forward = Lent("forward", self._forward, shape)

    def _forward(self, x: Array) -> tuple[Array, Cache]:
        angle = 2 * (x @ self.weight + self.bias)
        return self.size * self.gain * np.sin(angle), Cache(angle)

    def backward(self, dout: Array, cache: Cache) -> Array:
        """Give the right gradient."""
        slope: Array = self.size * self.gain * 2 * np.cos(cache.angle)
        dx: Array = (dout * slope) @ self.weight.T
        return dx

    def lent(self, wrong: Wrong | None = None) -> LentBackward:
        """Give the backward pass to lend: right, or with a planted mistake."""

        def planted(dout: Array, cache: Cache) -> Array:
            dx = self.backward(dout, cache)
            return dx if wrong is None else wrong(dx, self, dout, cache)

        shape = (*self.x.shape[:-1], self.weight.shape[1])
        return LentBackward(planted, shape, Cache)

    def error(self, functions: Functions, wrong: Wrong | None = None, *step: float) -> Array:
        """Let a checker look at the layer with a right or a planted gradient."""
        rng = np.random.default_rng(self.seed)
        given = self.forward, self.lent(wrong), self.x.copy(), rng
        return as_error(call(functions[0], *given, *step))

    def passes(self, functions: Functions) -> bool:
        """Tell whether the checker finds nothing wrong with the right gradient."""
        return bool(self.error(functions)[0] < PASSES)
