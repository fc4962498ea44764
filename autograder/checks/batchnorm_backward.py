"""What is asked of BatchNorm's backward pass, given the cache of the student's own forward pass."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.checks.batchnorm_passes import BATCH, WIDE, Inputs, draw, forward
from autograder.checks.compare import Observation, distance
from autograder.checks.core import Check, Functions, Observe, Property
from autograder.checks.inputs import Rng
from autograder.checks.observe import RefusedError, array, call, unpack
from autograder.kernels.batchnorm import batchnorm_backward, batchnorm_forward

GRADIENTS = ("dx", "dgamma", "dbeta")
# As many rows as features, a sequence, and one axis more. Never two rows, whose dx is rounding.
SHAPES = ((4, 4), (3, 2, 4), (2, 2, 3, 5))


def _backward(functions: Functions, data: Inputs) -> dict[str, Any]:
    cache = forward(functions[0], data, True)["cache"]
    returned = unpack(call(functions[1], data.dout.copy(), cache), GRADIENTS)
    return dict(zip(GRADIENTS, returned))


def _gradient(name: str) -> Observe:
    return lambda functions, rng: {
        name: array(_backward(functions, draw(rng, BATCH))[name], name)
    }  # fmt: skip


def _gradients(*shapes: tuple[int, ...], scale: float = 1.0) -> Observe:
    def observe(functions: Functions, rng: Rng) -> Observation:
        return {
            f"{name} for x {shape}": array(gradient, name)
            for shape in shapes
            for name, gradient in _backward(functions, draw(rng, shape, scale)).items()
        }

    return observe


def _blame_forward(functions: Functions, rng: Rng) -> str | None:
    seed = int(rng.integers(2**32))
    for shape, scale, rtol in ((BATCH, 1.0, 1e-3), (WIDE, 1.0, 2e-6), (BATCH, 1e-3, 1e-4)):
        data = draw(np.random.default_rng(seed), shape, scale)
        try:
            out = forward(functions[0], data, True)["out"]
        except RefusedError:
            return "The backward pass is graded with your own cache: write batchnorm_forward first."
        if distance(out, forward(batchnorm_forward, data, True)["out"]) > rtol:
            return (
                "Your batchnorm_forward is not right yet, and the backward pass is graded with "
                "the cache that it makes. Mend the forward pass first."
            )
    return None


_GIVEN = f"x {BATCH} in training, random gamma and dout"

BACKWARD = Check(
    "batchnorm_backward",
    "batchnorm",
    (
        Property("dx on a batch", 0.45, _gradient("dx"), _GIVEN),
        Property("dgamma", 0.15, _gradient("dgamma"), _GIVEN),
        Property("dbeta", 0.1, _gradient("dbeta"), _GIVEN),
        Property(
            "any leading shape", 0.15, _gradients(*SHAPES),
            f"x {', '.join(map(str, SHAPES))} in training",
        ),
        Property("values to 2e-6", 0.05, _gradients(WIDE), f"x {WIDE} in training", rtol=2e-6),
        Property(
            "tiny inputs", 0.1, _gradients(BATCH, scale=1e-3),
            f"x {BATCH} of size 1e-3 in training", rtol=1e-4,
        ),
    ),
    (batchnorm_forward, batchnorm_backward),
    on_failure=_blame_forward,
)  # fmt: skip
