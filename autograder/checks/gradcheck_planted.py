"""What is asked of a gradient checker: to pass a right backward pass and to catch planted ones."""

from __future__ import annotations

import numpy as np

from autograder.checks.compare import Observation, Within
from autograder.checks.core import Check, Functions, Property
from autograder.checks.gradcheck_layer import SHAPE, Cache, Planted, Wrong
from autograder.checks.inputs import Array, Rng
from autograder.checks.observe import call, leaves_alone
from autograder.kernels.gradcheck import gradcheck

SHAPES = ((2, 3), (4,), (2, 1, 2))


def _times(factor: float) -> Wrong:
    return lambda dx, *_: factor * dx


def _largest_times(factor: float) -> Wrong:
    def planted(dx: Array, *_: object) -> Array:
        dx.reshape(-1)[np.argmax(np.abs(dx))] *= factor
        return dx

    return planted


def _first_row(dx: Array, *_: object) -> Array:
    dx[1:] = 0
    return dx


def _without_gain(dx: Array, layer: Planted, dout: Array, cache: Cache) -> Array:
    return layer.backward(dout / layer.gain, cache)


def _ones_for_dout(dx: Array, layer: Planted, dout: Array, cache: Cache) -> Array:
    return layer.backward(np.ones_like(dout), cache)


_OTHERS: dict[str, Wrong] = {
    "right in its first row only": _first_row,
    "that leaves out the gain": _without_gain,
    "that takes dout for ones": _ones_for_dout,
}


def _right_or_scaled(functions: Functions, rng: Rng) -> Observation:
    seen: dict[str, object] = {}
    for shape in SHAPES:
        layer = Planted(rng, shape)
        seen[f"a right gradient for x {shape} is below 1e-6"] = layer.passes(functions)
    seen["error of a gradient 5 % too large"] = layer.error(functions, _times(1.05))
    return seen


def _one_of_many(functions: Functions, rng: Rng) -> Observation:
    layer = Planted(rng, (2, 3))
    return {
        "error with the largest entry 20 % too small": layer.error(functions, _largest_times(0.8)),
        "error with the largest entry 20 % too large": layer.error(functions, _largest_times(1.2)),
    }


def _caught(functions: Functions, rng: Rng) -> Observation:
    layer = Planted(rng)
    seen: dict[str, object] = {
        "error of a gradient with the wrong sign": layer.error(functions, _times(-1.0)),
        "error of a gradient of 0": layer.error(functions, _times(0.0)),
    }
    for name, wrong in _OTHERS.items():
        error = layer.error(functions, wrong)[0]
        seen[f"a gradient {name} is above 1e-3"] = bool(error > 1e-3)
    return seen


def _small(functions: Functions, rng: Rng) -> Observation:
    tiny, still, partly = (Planted(rng, size=size) for size in (1e-6, 1.0, 1.0))
    still.weight[...] = 0
    partly.weight[1] = 0
    return {
        "a right gradient near 1e-6 is below 1e-6": tiny.passes(functions),
        "error of one near 1e-6 and 5 % too large": tiny.error(functions, _times(1.05)),
        "a right gradient of 0 is below 1e-6": still.passes(functions),
        "error of 0.001 where the gradient is 0": still.error(functions, lambda dx, *_: dx + 1e-3),
        "a right gradient with entries of 0 is below 1e-6": partly.passes(functions),
    }


def _drawn(functions: Functions, rng: Rng) -> Observation:
    layer = Planted(rng, (1, 1), outputs=400)
    drawn = []
    for seed in (layer.seed, layer.seed, layer.seed + 1):
        backward = layer.lent()
        x = layer.x.copy()
        call(functions[0], layer.forward, backward, x, np.random.default_rng(seed))
        drawn.append(np.concatenate([dout.reshape(-1) for dout in backward.douts] or [np.zeros(1)]))
    first, again, other = drawn
    return {
        "mean of dout": float(first.mean()),
        "standard deviation of dout": float(first.std()),
        "the same dout from the same seed": np.array_equal(first, again),
        "another dout from another seed": not np.array_equal(first, other),
    }


def _steps(functions: Functions, rng: Rng) -> Observation:
    layer, other = Planted(rng), Planted(rng)
    layer.error(functions, None, 1e-2)
    other.error(functions)
    return {
        "the largest distance from x with step=0.01, in steps": np.array(
            [layer.forward.farthest(layer.x, 1e-2)]
        ),
        "the largest distance from x, in steps of 1e-5": np.array(
            [other.forward.farthest(other.x, 1e-5)]
        ),
    }


def _kept(functions: Functions, rng: Rng) -> Observation:
    layer = Planted(rng, (4, 4), outputs=2)
    given = layer.forward, layer.lent(), layer.x.copy(), np.random.default_rng(layer.seed)
    return {"x unchanged": leaves_alone(functions[0], *given)}


def _close(*names: str) -> dict[str, object]:
    return dict.fromkeys(names, True)


_FIRST = "right and scaled gradients"
_RIGHT = {
    **_close(*(f"a right gradient for x {shape} is below 1e-6" for shape in SHAPES)),
    "error of a gradient 5 % too large": np.array([0.05]),
}
_LARGEST = {
    f"error with the largest entry 20 % too {how}": np.array([0.2]) for how in ("small", "large")
}
_WRONG = {
    "error of a gradient with the wrong sign": np.array([2.0]),
    "error of a gradient of 0": np.array([1.0]),
    **_close(*(f"a gradient {name} is above 1e-3" for name in _OTHERS)),
}
_NEAR_ZERO = {
    **_close(
        "a right gradient near 1e-6 is below 1e-6",
        "a right gradient of 0 is below 1e-6",
        "a right gradient with entries of 0 is below 1e-6",
    ),
    "error of one near 1e-6 and 5 % too large": np.array([0.05]),
    "error of 0.001 where the gradient is 0": np.array([1e-3]),
}
_DOUT = {
    "mean of dout": Within(0.0, 0.3),
    "standard deviation of dout": Within(1.0, 0.2),
    **_close("the same dout from the same seed", "another dout from another seed"),
}
_MOVED = {
    "the largest distance from x with step=0.01, in steps": np.array([1.0]),
    "the largest distance from x, in steps of 1e-5": np.array([1.0]),
}
PLANTED = Check(
    "gradcheck",
    "gradcheck",
    (
        Property(_FIRST, 0.35, _right_or_scaled, "x (2, 3), (4,) and (2, 1, 2)", 1e-4, _RIGHT),
        Property("one wrong entry", 0.2, _one_of_many, "x (2, 3)", 1e-4, _LARGEST),
        Property("other wrong gradients", 0.15, _caught, f"x {SHAPE}", 1e-4, _WRONG),
        Property("small and zero gradients", 0.1, _small, f"x {SHAPE}", 1e-4, _NEAR_ZERO),
        Property(
            "dout drawn from rng", 0.1, _drawn, "x (1, 1), out (1, 400)", expected=_DOUT, noise=0.3
        ),
        Property(
            "the argument step", 0.05, _steps, f"x {SHAPE}, step = 0.01 and 1e-5", 1e-3, _MOVED,
            needs=_FIRST,
        ),
        Property(
            "x left alone", 0.05, _kept, "x (4, 4)", expected={"x unchanged": True}, needs=_FIRST
        ),
    ),
    (gradcheck,),
)  # fmt: skip
