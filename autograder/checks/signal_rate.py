"""What is asked of the functions on the scale of weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.checks.compare import Observation
from autograder.checks.core import Check, Functions, Observe, Property
from autograder.checks.inputs import Array, Rng
from autograder.checks.observe import RefusedError, array, call, leaves_alone, unpack
from autograder.kernels.scale_free import effective_rate, split_gradient, weight_growth

MATRIX = (6, 5)
SHAPES = ((1, 7), (4, 4), (3, 2, 4), (5,))


def _number(value: Any) -> Array:
    """Take a returned number, as Python's or NumPy's, or refuse it with the reason."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return np.array(float(value))
    taken = array(value, "the number")
    if taken.size != 1:
        raise RefusedError(f"must return one number; it returned an array of shape {taken.shape}")
    return taken.reshape(())


def _weight(rng: Rng, shape: tuple[int, ...], size: float = 1.0) -> Array:
    """Draw weights of uneven columns, with a mean."""
    columns = rng.uniform(0.3, 2.0, size=shape[-1])
    return size * columns * (rng.standard_normal(shape) + 0.4)


def _gradient(rng: Rng, weight: Array, along: float) -> Array:
    """Draw a gradient with this share of the weights in it, besides a part across them."""
    drawn = rng.standard_normal(weight.shape) * np.linalg.norm(weight) / np.sqrt(weight.size)
    across = drawn - (drawn * weight).sum() / (weight**2).sum() * weight
    return across + along * weight


def _rates(shapes: tuple[tuple[int, ...], ...], size: float = 1.0) -> Observe:
    def observe(functions: Functions, rng: Rng) -> Observation:
        return {
            f"rate for shape {shape}": _number(
                call(functions[0], _weight(rng, shape, size), float(rng.uniform(0.01, 0.5)))
            )
            for shape in shapes
        }

    return observe


def _rate_untouched(functions: Functions, rng: Rng) -> Observation:
    return {"weight unchanged": leaves_alone(functions[0], _weight(rng, MATRIX), 0.1)}


_RATE = "a matrix"
RATE = Check(
    "effective_rate",
    "signal",
    (
        Property(_RATE, 0.5, _rates((MATRIX,)), f"weight {MATRIX}", rtol=1e-5),
        Property("any shape", 0.2, _rates(SHAPES), f"weight {SHAPES}", rtol=1e-5),
        Property(
            "small weights", 0.2, _rates((MATRIX,), 1e-3), "weights of size 1e-3", rtol=1e-5
        ),
        Property("inputs left alone", 0.1, _rate_untouched, f"weight {MATRIX}", needs=_RATE),
    ),
    (effective_rate,),
)  # fmt: skip


def _parts(functions: Functions, rng: Rng, shape: tuple[int, ...]) -> tuple[Any, Any]:
    weight = _weight(rng, shape)
    gradient = _gradient(rng, weight, float(rng.uniform(-0.9, -0.4)))
    return unpack(call(functions[0], weight, gradient), ("along", "across"))


def _along(functions: Functions, rng: Rng) -> Observation:
    return {"along": array(_parts(functions, rng, MATRIX)[0], "along")}


def _across(functions: Functions, rng: Rng) -> Observation:
    return {"across": array(_parts(functions, rng, MATRIX)[1], "across")}


def _both(functions: Functions, rng: Rng) -> Observation:
    seen = {}
    for shape in SHAPES:
        along, across = _parts(functions, rng, shape)
        seen[f"along for shape {shape}"] = array(along, "along")
        seen[f"across for shape {shape}"] = array(across, "across")
    return seen


def _split_untouched(functions: Functions, rng: Rng) -> Observation:
    weight = _weight(rng, MATRIX)
    kept = leaves_alone(functions[0], weight, _gradient(rng, weight, 0.5))
    return {"weight and gradient unchanged": kept}


_ALONG = "the part along"
SPLIT = Check(
    "split_gradient",
    "signal",
    (
        Property(_ALONG, 0.4, _along, f"weight and gradient {MATRIX}", rtol=1e-5),
        Property("the part across", 0.3, _across, f"weight and gradient {MATRIX}", rtol=1e-5),
        Property("any shape", 0.2, _both, f"weight and gradient {SHAPES}", rtol=1e-5),
        Property("inputs left alone", 0.1, _split_untouched, f"{MATRIX}", needs=_ALONG),
    ),
    (split_gradient,),
)


def _factors(along: float, decay: tuple[float, float]) -> Observe:
    """Observe growth where the gradient contains this share of the weights."""

    def observe(functions: Functions, rng: Rng) -> Observation:
        seen = {}
        for shape in (MATRIX, (3, 8)):
            weight = _weight(rng, shape)
            numbers = float(rng.uniform(0.3, 0.6)), float(rng.uniform(*decay))
            grown = call(functions[0], weight, _gradient(rng, weight, along), *numbers)
            seen[f"factor for shape {shape}"] = _number(grown)
        return seen

    return observe


def _growth_untouched(functions: Functions, rng: Rng) -> Observation:
    weight = _weight(rng, MATRIX)
    kept = leaves_alone(functions[0], weight, _gradient(rng, weight, 0.5), 0.1, 0.1)
    return {"weight and gradient unchanged": kept}


_PLAIN = "gradient across, no decay"
GROWTH = Check(
    "weight_growth",
    "signal",
    (
        Property(_PLAIN, 0.4, _factors(0.0, (0.0, 0.0)), "two gradients across", rtol=1e-5),
        Property(
            "gradient across, with decay", 0.3, _factors(0.0, (0.3, 0.9)),
            "two gradients across", rtol=1e-5,
        ),
        Property(
            "any gradient", 0.2, _factors(0.7, (0.3, 0.9)),
            "two gradients that point along the weights too", rtol=1e-5,
        ),
        Property("inputs left alone", 0.1, _growth_untouched, f"{MATRIX}", needs=_PLAIN),
    ),
    (weight_growth,),
)  # fmt: skip
