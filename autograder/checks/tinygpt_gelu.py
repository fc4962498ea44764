"""What is asked of GELU in its form with tanh."""

from __future__ import annotations

from autograder.checks.compare import Observation, distance
from autograder.checks.core import Check, Functions, Observe, Property
from autograder.checks.inputs import Array, Rng
from autograder.checks.observe import RefusedError, array, call, leaves_alone, unpack
from autograder.kernels.tinygpt import gelu_backward, gelu_forward

BATCH = (6, 16)
SHAPES = ((7,), (1, 3), (3, 2, 4))


def _draw(rng: Rng, shape: tuple[int, ...], largest: float = 4.0) -> Array:
    """Draw numbers on both sides of 0; the last is 0 itself, where the halves meet."""
    x = rng.uniform(-largest, largest, size=shape)
    x.flat[-1] = 0.0
    return x


def _out(functions: Functions, x: Array) -> Array:
    return array(unpack(call(functions[0], x.copy()), ("out", "cache"))[0], "out")


def _dx(functions: Functions, x: Array, dout: Array) -> Array:
    _, cache = unpack(call(functions[0], x.copy()), ("out", "cache"))
    return array(call(functions[1], dout.copy(), cache), "dx")


def _forward(*shapes: tuple[int, ...], largest: float = 4.0) -> Observe:
    return lambda functions, rng: {
        f"out for x {shape}": _out(functions, _draw(rng, shape, largest)) for shape in shapes
    }


def _backward(*shapes: tuple[int, ...], largest: float = 4.0) -> Observe:
    return lambda functions, rng: {
        f"dx for x {shape}": _dx(functions, _draw(rng, shape, largest), rng.standard_normal(shape))
        for shape in shapes
    }


def _untouched(functions: Functions, rng: Rng) -> Observation:
    return {"x unchanged": leaves_alone(functions[0], _draw(rng, (4, 8)))}


def _blame_forward(functions: Functions, rng: Rng) -> str | None:
    x = _draw(rng, (5, 64))
    try:
        seen = _out(functions, x)
    except RefusedError:
        return "The backward pass is graded with your own cache: write gelu_forward first."
    if distance(seen, gelu_forward(x)[0]) > 2e-6:
        return (
            "Your gelu_forward is not right yet, and the backward pass is graded with the cache "
            "that it makes. Mend the forward pass first."
        )
    return None


_OUT, _GIVEN = "values", f"x {BATCH} between -4 and 4"
_SHAPES = f"x {', '.join(map(str, SHAPES))}"

GELU = Check(
    "gelu_forward",
    "tinygpt",
    (
        Property(_OUT, 0.5, _forward(BATCH), _GIVEN),
        Property("values to 2e-6", 0.2, _forward((5, 64)), "x (5, 64) between -4 and 4", rtol=2e-6),
        Property("any shape", 0.1, _forward(*SHAPES), _SHAPES),
        Property(
            "large inputs", 0.1, _forward((3, 9), largest=1e3), "x (3, 9) between -1000 and 1000"
        ),
        Property(
            "x left alone", 0.1, _untouched, "x (4, 8)", expected={"x unchanged": True}, needs=_OUT
        ),
    ),
    (gelu_forward,),
)

GELU_BACKWARD = Check(
    "gelu_backward",
    "tinygpt",
    (
        Property("dx on a batch", 0.5, _backward(BATCH), f"{_GIVEN}, random dout"),
        Property(
            "values to 2e-6", 0.2, _backward((5, 64)), "x (5, 64) between -4 and 4", rtol=2e-6
        ),
        Property("any shape", 0.15, _backward(*SHAPES), _SHAPES),
        Property(
            "large inputs", 0.15, _backward((3, 9), largest=1e3), "x (3, 9) between -1000 and 1000"
        ),
    ),
    (gelu_forward, gelu_backward),
    on_failure=_blame_forward,
)
