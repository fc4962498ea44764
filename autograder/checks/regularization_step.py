"""What is asked of a step with weight decay: which parameters shrink, and by how much."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from autograder.checks.compare import Observation
from autograder.checks.core import Check, Functions, Observe, Property
from autograder.checks.inputs import Array, Rng
from autograder.checks.observe import RefusedError, array, call
from autograder.kernels.regularization import decayed_step

Params = dict[str, Array]
Shapes = dict[str, tuple[int, ...]]

MATRICES: Shapes = {"w1": (4, 3), "w2": (3, 3)}
VECTORS: Shapes = {"b1": (3,), "gain": (3,)}
# Names that suggest the opposite of what the shape says, and more than two axes.
MISLEADING: Shapes = {"bias_table": (5, 2), "weight": (4,), "kernel": (2, 3, 2), "temperature": ()}
_ALL = MATRICES | VECTORS
RATE, DECAY = 0.3, 0.7


def _draw(rng: Rng, shapes: Shapes) -> Params:
    return {name: np.asarray(rng.normal(0.5, 1.0, shape)) for name, shape in shapes.items()}


def _copy(arrays: Params) -> Params:
    return {name: value.copy() for name, value in arrays.items()}


def _step(functions: Functions, params: Params, grads: Params, decay: float) -> Observation:
    moved = call(functions[0], _copy(params), _copy(grads), RATE, decay)
    if not isinstance(moved, Mapping):
        kind = "None" if moved is None else type(moved).__name__
        raise RefusedError(f"must return a dict of arrays by name; it returned {kind}")
    missing = [name for name in params if name not in moved]
    if missing:
        raise RefusedError(f"returned no {missing[0]}")
    return {f"new {name}": array(moved[name], name) for name in params} | {
        "number of parameters": len(moved)
    }


def _moves(shapes: Shapes, among: Shapes, decay: float = DECAY) -> Observe:
    def observe(functions: Functions, rng: Rng) -> Observation:
        params, grads = _draw(rng, shapes), _draw(rng, shapes)
        seen = _step(functions, params, grads, decay)
        return {f"new {name}": seen[f"new {name}"] for name in among} | {
            "number of parameters": seen["number of parameters"]
        }

    return observe


def _untouched(functions: Functions, rng: Rng) -> Observation:
    params, grads = _draw(rng, _ALL), _draw(rng, _ALL)
    before = _copy(params), _copy(grads)
    call(functions[0], params, grads, RATE, DECAY)
    # Behind a process boundary the function works on copies and reports what it changed.
    elsewhere = getattr(functions[0], "changed", ())
    return {
        f"{name} unchanged": place not in elsewhere and _same(before[place], now)
        for place, (name, now) in enumerate((("params", params), ("grads", grads)))
    }


def _same(kept: Params, now: Params) -> bool:
    return kept.keys() == now.keys() and all(np.array_equal(kept[key], now[key]) for key in kept)


_FIRST = "matrices move and shrink"
_WORDS = f"learning_rate = {RATE}, weight_decay = {DECAY}"
STEP = Check(
    "decayed_step",
    "regularization",
    (
        Property(_FIRST, 0.4, _moves(_ALL, MATRICES), f"two matrices and two vectors, {_WORDS}"),
        Property("vectors do not shrink", 0.2, _moves(_ALL, VECTORS), f"the same, {_WORDS}"),
        Property(
            "axes decide, not names", 0.1, _moves(MISLEADING, MISLEADING),
            f"0 to 3 axes under odd names, {_WORDS}",
        ),
        Property(
            "weight_decay = 0", 0.1, _moves(_ALL, _ALL, decay=0.0), "weight_decay = 0",
            needs=_FIRST,
        ),
        Property(
            "params and grads left alone", 0.2, _untouched, f"the same, {_WORDS}",
            expected={"params unchanged": True, "grads unchanged": True}, needs=_FIRST,
        ),
    ),
    (decayed_step,),
)  # fmt: skip
