"""What is asked of the softmax cross-entropy, from logits, and of its gradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograder.checks.compare import Observation, distance
from autograder.checks.core import Check, Functions, Observe, Property
from autograder.checks.inputs import Array, Rng
from autograder.checks.observe import RefusedError, array, call, leaves_alone, unpack
from autograder.kernels.tinygpt import cross_entropy_backward, cross_entropy_forward

BATCH = (6, 9)
SEQUENCES = (3, 4, 7)
GAP = 60.0


def _draw(rng: Rng, shape: tuple[int, ...], size: float = 2.0) -> tuple[Array, Array]:
    targets = np.asarray(rng.integers(0, shape[-1], shape[:-1]))
    return size * rng.standard_normal(shape) + 0.5, targets


def _wrong_guess(rng: Rng) -> tuple[Array, Array]:
    """Draw logits of a network that is sure of a token, and right answers that are others."""
    logits, targets = _draw(rng, (5, 8))
    favourite = (targets + rng.integers(1, 8, targets.shape)) % 8
    logits[np.arange(5), favourite] = GAP + logits[np.arange(5), targets]
    return logits, targets


def number(value: Any) -> Array:
    """Take the loss, as Python's number or NumPy's, or refuse it with the reason."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return np.array(float(value))
    loss = array(value, "loss")
    if loss.size != 1:
        raise RefusedError(f"returned loss with shape {loss.shape}; one number is needed")
    return loss.reshape(())


def _loss(functions: Functions, logits: Array, targets: Array) -> Observation:
    returned = unpack(call(functions[0], logits.copy(), targets.copy()), ("loss", "cache"))
    return {"loss": number(returned[0])}


def _gradient(functions: Functions, logits: Array, targets: Array) -> Observation:
    _, cache = unpack(call(functions[0], logits.copy(), targets.copy()), ("loss", "cache"))
    return {"dlogits": array(call(functions[1], cache), "dlogits")}


def _loss_of(shape: tuple[int, ...], size: float = 2.0) -> Observe:
    return lambda functions, rng: _loss(functions, *_draw(rng, shape, size))


def _gradient_of(shape: tuple[int, ...], size: float = 2.0) -> Observe:
    return lambda functions, rng: _gradient(functions, *_draw(rng, shape, size))


def _far_out(observe: Callable[..., Observation]) -> Observe:
    """Observe logits far from 0, close together first and then far apart."""

    def observe_all(functions: Functions, rng: Rng) -> Observation:
        seen = {}
        for where, offset, size in (
            ("near 1,000", 1e3, 2.0), ("near -1,000", -1e3, 2.0), ("1,000 apart", 0.0, 1e3)
        ):  # fmt: skip
            logits, targets = _draw(rng, (5, 8), size)
            for name, value in observe(functions, logits + offset, targets).items():
                seen[f"{name} for logits {where}"] = value
        return seen

    return observe_all


def _untouched(functions: Functions, rng: Rng) -> Observation:
    return {"logits and targets unchanged": leaves_alone(functions[0], *_draw(rng, (4, 5)))}


def _blame_forward(functions: Functions, rng: Rng) -> str | None:
    logits, targets = _draw(rng, BATCH)
    try:
        seen = _loss(functions, logits, targets)["loss"]
    except RefusedError:
        return "The gradient is graded with your own cache: write cross_entropy_forward first."
    if distance(seen, np.array(cross_entropy_forward(logits, targets)[0])) > 1e-3:
        return (
            "Your cross_entropy_forward is not right yet, and the gradient is graded with the "
            "cache that it makes. Mend the forward pass first."
        )
    return None


_FIRST = "loss of a batch (N, V)"
_FAR = "logits (5, 8) near 1000, near -1000, and 1000 apart"

LOSS = Check(
    "cross_entropy_forward",
    "tinygpt",
    (
        Property(_FIRST, 0.4, _loss_of(BATCH), f"logits {BATCH}"),
        Property("logits (B, T, V)", 0.25, _loss_of(SEQUENCES), f"logits {SEQUENCES}"),
        Property("values to 2e-6", 0.1, _loss_of((40, 12)), "logits (40, 12)", rtol=2e-6),
        Property(
            "a confident wrong guess", 0.1,
            lambda functions, rng: _loss(functions, *_wrong_guess(rng)),
            f"logits (5, 8) in which a wrong token leads by {GAP:g}",
        ),
        Property("logits of 1,000", 0.1, _far_out(_loss), _FAR),
        Property(
            "inputs left alone", 0.05, _untouched, "logits (4, 5)",
            expected={"logits and targets unchanged": True}, needs=_FIRST,
        ),
    ),
    (cross_entropy_forward,),
)  # fmt: skip

LOSS_BACKWARD = Check(
    "cross_entropy_backward",
    "tinygpt",
    (
        Property("dlogits of a batch (N, V)", 0.5, _gradient_of(BATCH), f"logits {BATCH}"),
        Property("logits (B, T, V)", 0.25, _gradient_of(SEQUENCES), f"logits {SEQUENCES}"),
        Property("values to 2e-6", 0.1, _gradient_of((10, 12)), "logits (10, 12)", rtol=2e-6),
        Property("logits of 1,000", 0.15, _far_out(_gradient), _FAR),
    ),
    (cross_entropy_forward, cross_entropy_backward),
    on_failure=_blame_forward,
)
