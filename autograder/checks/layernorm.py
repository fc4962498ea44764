"""What is asked of LayerNorm."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograder.checks.compare import Observation, distance
from autograder.checks.core import Check, Functions, Property
from autograder.checks.inputs import Array, NormInputs, Rng, norm_inputs
from autograder.checks.observe import RefusedError, array, call, unpack
from autograder.kernels.layernorm import layernorm_backward, layernorm_forward

GRADIENTS = ("dx", "dgamma", "dbeta")
SHAPES = ((5,), (1, 6), (3, 2, 4), (4, 4))


def _out(forward: Callable[..., Any], data: NormInputs, **options: float) -> Array:
    x, _, gamma, beta = data
    returned = call(forward, x.copy(), gamma.copy(), beta.copy(), **options)
    return array(unpack(returned, ("out", "cache"))[0], "out")


def _values(functions: Functions, rng: Rng) -> Observation:
    return {"out": _out(functions[0], norm_inputs(rng, (6, 16)))}


def _precision(functions: Functions, rng: Rng) -> Observation:
    return {"out": _out(functions[0], norm_inputs(rng, (5, 64)))}


def _shapes(functions: Functions, rng: Rng) -> Observation:
    return {f"out for x {shape}": _out(functions[0], norm_inputs(rng, shape)) for shape in SHAPES}


def _tiny(functions: Functions, rng: Rng) -> Observation:
    data = norm_inputs(rng, (6, 16), scale=1e-3)
    return {
        "out": _out(functions[0], data),
        "out with eps=3e-4": _out(functions[0], data, eps=3e-4),
    }


def _hard_rows(functions: Functions, rng: Rng) -> Observation:
    data = norm_inputs(rng, (4, 8))
    data.x[1] = data.x[1, 0]
    far = norm_inputs(rng, (64, 8))
    far = NormInputs(*(np.float32(part) for part in far))._replace(x=np.float32(far.x + 1e4))
    return {
        "out with a constant row": _out(functions[0], data),
        "every entry finite": bool(np.isfinite(_out(functions[0], far)).all()),
    }


def _untouched(functions: Functions, rng: Rng) -> Observation:
    x, _, gamma, beta = norm_inputs(rng, (4, 8))
    mine = (x.copy(), gamma.copy(), beta.copy())
    call(functions[0], *mine)
    kept = all(np.array_equal(a, b) for a, b in zip(mine, (x, gamma, beta)))
    return {"x, gamma, beta unchanged": kept}


def _gradients(functions: Functions, data: NormInputs) -> dict[str, Array]:
    forward, backward = functions
    x, dout, gamma, beta = data
    _, cache = unpack(call(forward, x.copy(), gamma.copy(), beta.copy()), ("out", "cache"))
    returned = unpack(call(backward, dout.copy(), cache), GRADIENTS)
    return {name: array(part, name) for name, part in zip(GRADIENTS, returned)}


def _gradient(name: str) -> Callable[[Functions, Rng], Observation]:
    return lambda functions, rng: {
        name: _gradients(functions, norm_inputs(rng, (6, 16)))[name]
    }  # fmt: skip


def _all_gradients(shapes: tuple[tuple[int, ...], ...], scale: float = 1.0) -> Any:
    def observe(functions: Functions, rng: Rng) -> Observation:
        return {
            f"{name} for x {shape}": gradient
            for shape in shapes
            for name, gradient in _gradients(functions, norm_inputs(rng, shape, scale)).items()
        }

    return observe


def _blame_forward(functions: Functions, rng: Rng) -> str | None:
    data = norm_inputs(rng, (6, 16))
    try:
        out = _out(functions[0], data)
    except RefusedError:
        return "The backward pass is graded with your own cache: write layernorm_forward first."
    if distance(out, _out(layernorm_forward, data)) > 1e-3:
        return (
            "Your layernorm_forward is not right yet, and the backward pass is graded with the "
            "cache that it makes. Mend the forward pass first."
        )
    return None


FORWARD = Check(
    "layernorm_forward",
    "layernorm",
    (
        Property("values on a batch (N, D)", 0.5, _values, "x (6, 16) with random gamma and beta"),
        Property("values to 2e-6", 0.1, _precision, "x (5, 64)", rtol=2e-6),
        Property("any leading shape", 0.15, _shapes, "x (5,), (1, 6), (3, 2, 4), (4, 4)"),
        Property("tiny inputs, eps", 0.15, _tiny, "x (6, 16) of size 1e-3", rtol=1e-4),
        Property("hard rows", 0.05, _hard_rows, "a constant row; float32 x near 1e4"),
        Property(
            "inputs left alone", 0.05, _untouched, "x (4, 8)", needs="values on a batch (N, D)"
        ),
    ),
    (layernorm_forward,),
)

BACKWARD = Check(
    "layernorm_backward",
    "layernorm",
    (
        Property("dx on a batch", 0.4, _gradient("dx"), "x (6, 16), random gamma and dout"),
        Property("dgamma", 0.15, _gradient("dgamma"), "x (6, 16)"),
        Property("dbeta", 0.1, _gradient("dbeta"), "x (6, 16)"),
        Property("any leading shape", 0.15, _all_gradients(SHAPES), "x (5,), (1, 6), (3, 2, 4)"),
        Property("values to 2e-6", 0.1, _all_gradients(((5, 64),)), "x (5, 64)", rtol=2e-6),
        Property(
            "tiny inputs", 0.1, _all_gradients(((6, 16),), 1e-3), "x of size 1e-3", rtol=1e-4
        ),
    ),
    (layernorm_forward, layernorm_backward),
    on_failure=_blame_forward,
)

CHECKS = (FORWARD, BACKWARD)


def check_layernorm_forward(layernorm_forward: Callable[..., Any], points: float) -> float:
    """Grade a LayerNorm forward pass.

    Parameters
    ----------
    layernorm_forward : callable
        ``layernorm_forward(x, gamma, beta, eps=1e-5) -> out, cache``.
    points : float
        What a right answer is worth.

    Returns
    -------
    float
        The score, between 0 and `points`.
    """
    return FORWARD.run((layernorm_forward,), points)


def check_layernorm_backward(
    layernorm_forward: Callable[..., Any], layernorm_backward: Callable[..., Any], points: float
) -> float:
    """Grade a LayerNorm backward pass with the cache of the same student's forward pass.

    Parameters
    ----------
    layernorm_forward, layernorm_backward : callable
        ``layernorm_backward(dout, cache) -> dx, dgamma, dbeta``.
    points : float
        What a right answer is worth.

    Returns
    -------
    float
        The score, between 0 and `points`.
    """
    return BACKWARD.run((layernorm_forward, layernorm_backward), points)
