"""What is asked of every layer that normalizes the features of one vector."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder.checks.compare import Observation, distance
from autograder.checks.core import Check, Functions, Observe, Property
from autograder.checks.inputs import Array, NormInputs, Rng, norm_inputs
from autograder.checks.observe import RefusedError, array, call, leaves_alone, unpack

BATCH = (6, 16)
# One vector, one row, a sequence, and as many rows as features, where a lost axis goes unnoticed.
SHAPES = ((5,), (1, 6), (3, 2, 4), (4, 4))


@dataclass(frozen=True)
class Normalization:
    """A normalization layer as its checks see it.

    Attributes
    ----------
    layer : str
        Stem of the layer; its functions are ``<layer>_forward`` and ``<layer>_backward``.
    parameters : tuple of str
        What the forward pass takes after x: fields of `NormInputs`, each of shape (D,).
    reference : tuple of callable
        The right forward and backward pass.
    """

    layer: str
    parameters: tuple[str, ...]
    reference: Functions

    @property
    def gradients(self) -> tuple[str, ...]:
        """Names of what the backward pass returns, in order."""
        return ("dx", *(f"d{name}" for name in self.parameters))

    def forward_check(self, hard: Property) -> Check:
        """Make the check of the forward pass; `hard` asks for the rows that break this layer."""
        values, given = "values on a batch (N, D)", f"x {BATCH} with random {self._named(' and ')}"
        tiny = f"x {BATCH} of size 1e-3"
        return Check(
            f"{self.layer}_forward",
            self.layer,
            (
                Property(values, 0.5, self._values(BATCH), given),
                Property("values to 2e-6", 0.1, self._values((5, 64)), "x (5, 64)", rtol=2e-6),
                Property("any leading shape", 0.15, self._shapes, _listed(SHAPES)),
                Property("tiny inputs, eps", 0.15, self._tiny, tiny, rtol=1e-4),
                hard,
                Property("inputs left alone", 0.05, self._untouched, "x (4, 8)", needs=values),
            ),
            self.reference[:1],
        )

    def backward_check(self, weights: Mapping[str, float]) -> Check:
        """Make the check of the backward pass; `weights` holds the share of each gradient."""
        alone = tuple(
            Property(
                f"{name} on a batch" if name == "dx" else name,
                weight,
                self._gradients((BATCH,), name),
                f"x {BATCH}, random gamma and dout",
            )
            for name, weight in weights.items()
        )
        precise, tiny = self._gradients(((5, 64),)), self._gradients((BATCH,), scale=1e-3)
        return Check(
            f"{self.layer}_backward",
            self.layer,
            (
                *alone,
                Property("any leading shape", 0.15, self._gradients(SHAPES), _listed(SHAPES)),
                Property("values to 2e-6", 0.1, precise, "x (5, 64)", rtol=2e-6),
                Property("tiny inputs", 0.1, tiny, f"x {BATCH} of size 1e-3", rtol=1e-4),
            ),
            self.reference,
            on_failure=self._blame_forward,
        )

    def out(self, forward: Callable[..., Any], data: NormInputs, **options: float) -> Array:
        """Call a forward pass and take its output, or refuse it with the reason."""
        returned = call(forward, *self._arguments(data), **options)
        return array(unpack(returned, ("out", "cache"))[0], "out")

    def _arguments(self, data: NormInputs) -> tuple[Array, ...]:
        return tuple(getattr(data, name).copy() for name in ("x", *self.parameters))

    def _named(self, between: str) -> str:
        return between.join(self.parameters)

    def _values(self, shape: tuple[int, ...]) -> Observe:
        return lambda functions, rng: {"out": self.out(functions[0], norm_inputs(rng, shape))}

    def _shapes(self, functions: Functions, rng: Rng) -> Observation:
        return {
            f"out for x {shape}": self.out(functions[0], norm_inputs(rng, shape))
            for shape in SHAPES
        }

    def _tiny(self, functions: Functions, rng: Rng) -> Observation:
        data = norm_inputs(rng, BATCH, scale=1e-3)
        return {
            "out": self.out(functions[0], data),
            "out with eps=3e-4": self.out(functions[0], data, eps=3e-4),
        }

    def _untouched(self, functions: Functions, rng: Rng) -> Observation:
        arguments = self._arguments(norm_inputs(rng, (4, 8)))
        kept = leaves_alone(functions[0], *arguments)
        return {f"x, {self._named(', ')} unchanged": kept}

    def _backward(self, functions: Functions, data: NormInputs) -> dict[str, Any]:
        forward, backward = functions
        _, cache = unpack(call(forward, *self._arguments(data)), ("out", "cache"))
        returned = unpack(call(backward, data.dout.copy(), cache), self.gradients)
        return dict(zip(self.gradients, returned))

    def _gradients(
        self, shapes: tuple[tuple[int, ...], ...], only: str | None = None, scale: float = 1.0
    ) -> Observe:
        def observe(functions: Functions, rng: Rng) -> Observation:
            seen = {}
            for shape in shapes:
                returned = self._backward(functions, norm_inputs(rng, shape, scale))
                for name in (only,) if only else self.gradients:
                    label = name if only else f"{name} for x {shape}"
                    seen[label] = array(returned[name], name)
            return seen

        return observe

    def _blame_forward(self, functions: Functions, rng: Rng) -> str | None:
        forward, seed = f"{self.layer}_forward", int(rng.integers(2**32))
        looks = ((self._values(BATCH), 1e-3), (self._values((5, 64)), 2e-6), (self._tiny, 1e-4))
        for observe, rtol in looks:
            right = observe(self.reference, np.random.default_rng(seed))
            try:
                seen = observe(functions, np.random.default_rng(seed))
            except RefusedError:
                return f"The backward pass is graded with your own cache: write {forward} first."
            if any(distance(seen[name], right[name]) > rtol for name in right):
                return (
                    f"Your {forward} is not right yet, and the backward pass is graded with the "
                    "cache that it makes. Mend the forward pass first."
                )
        return None


def _listed(shapes: tuple[tuple[int, ...], ...]) -> str:
    return f"x {', '.join(map(str, shapes))}"
