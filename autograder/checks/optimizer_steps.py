"""What a check sees of an optimizer: parameters after some steps, with the student's own state."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from autograder.checks.compare import Observation
from autograder.checks.core import Functions, Observe
from autograder.checks.inputs import Array, Rng
from autograder.checks.observe import RefusedError, array, call, unpack

Arrays = dict[str, Array]
Shapes = Mapping[str, tuple[int, ...]]

MATRIX: Shapes = {"weight": (5, 4)}
# Of three sizes, so that memory or a counter shared by two arrays shows.
SEVERAL: Shapes = {"block.weight": (4, 6), "block.bias": (6,), "norm.weight": (3,)}


def draw(rng: Rng, shapes: Shapes, size: float = 1.0) -> Arrays:
    """Draw arrays of these shapes, no two of them of the same scale."""
    scales = size * 3.0 ** -np.arange(len(shapes))
    return {
        name: scale * rng.standard_normal(shape)
        for scale, (name, shape) in zip(scales, shapes.items())
    }


def _take(made: Any, like: Arrays) -> Arrays:
    """Take the new parameters, whose names must be those of the old ones."""
    if not isinstance(made, Mapping):
        kind = "None" if made is None else type(made).__name__
        raise RefusedError(f"must return a dict of arrays by name; it returned {kind}")
    missing = [name for name in like if name not in made]
    if missing:
        raise RefusedError(f"returned no {missing[0]}")
    if len(made) > len(like):
        raise RefusedError("returned names that are not in params")
    return {name: array(made[name], f"the new {name}") for name in like}


def _copies(arrays: Arrays) -> Arrays:
    return {name: value.copy() for name, value in arrays.items()}


class Run:
    """A student's optimizer at work on some parameters, step by step.

    Attributes
    ----------
    params : dict of str to ndarray
        The parameters as they are now.
    """

    def __init__(self, function: Callable[..., Any], params: Arrays, *numbers: float) -> None:
        self.params = params
        self._function, self._numbers, self._state = function, numbers, None

    def step(self, grads: Arrays, **numbers: float) -> None:
        """Take a step. State is whatever the student's function returned; copies are given."""
        returned = call(
            self._function, _copies(self.params), _copies(grads), self._state,
            *self._numbers, **numbers,
        )  # fmt: skip
        made, self._state = unpack(returned, ("params", "state"))
        self.params = _take(made, self.params)

    def seen(self, names: Sequence[str] = (), label: str = "") -> Observation:
        """Give the parameters of these names, all by default, as a check compares them."""
        return {f"the new {name}{label}": self.params[name] for name in names or self.params}


def steps(
    shapes: Shapes,
    sizes: Sequence[float],
    numbers: Sequence[float],
    names: Sequence[str] = (),
    **others: float,
) -> Observe:
    """Observe the parameters after one step for each size of the gradients.

    Parameters
    ----------
    shapes : mapping of str to tuple of int
        Names and shapes of the parameters.
    sizes : sequence of float
        Scale of the gradients in each step.
    numbers : sequence of float
        What stands after the state: the learning rate, then for AdamW the decay.
    names : sequence of str
        Which parameters to compare; all by default.
    **others
        beta1, beta2, eps, where they are not the default.
    """

    def observe(functions: Functions, rng: Rng) -> Observation:
        run = Run(functions[0], draw(rng, shapes), *numbers)
        for size in sizes:
            run.step(draw(rng, shapes, size), **others)
        return run.seen(names)

    return observe


def fading(numbers: Sequence[float]) -> Observe:
    """Observe a parameter whose gradients are 0, and one whose gradients become 0."""

    def observe(functions: Functions, rng: Rng) -> Observation:
        shapes: Shapes = {"still": (3, 4), "moved": (4, 3)}
        run = Run(functions[0], draw(rng, shapes), *numbers)
        grads = draw(rng, shapes)
        for factor in (1.0, 0.0, 0.0):
            run.step({"still": np.zeros((3, 4)), "moved": factor * grads["moved"]})
        return run.seen()

    return observe


def in_turn(numbers: Sequence[float]) -> Observe:
    """Observe two models whose steps alternate, the second beginning after the first."""

    def observe(functions: Functions, rng: Rng) -> Observation:
        one, two = (Run(functions[0], draw(rng, MATRIX), *numbers) for _ in range(2))
        one.step(draw(rng, MATRIX))
        for _ in range(2):
            two.step(draw(rng, MATRIX))
            one.step(draw(rng, MATRIX))
        return {**one.seen(label=" of the first model"), **two.seen(label=" of the second model")}

    return observe


def left_alone(*rest: Any) -> Observe:
    """Observe whether a call leaves the arrays in params and grads as they were.

    Arguments after these two are `rest`. Behind a process boundary the function works on copies
    and reports what it changed; in the same process the arrays themselves are looked at.
    """

    def observe(functions: Functions, rng: Rng) -> Observation:
        given = [draw(rng, SEVERAL), draw(rng, SEVERAL)]
        arrays = [list(each.values()) for each in given]
        before = [[value.copy() for value in each] for each in arrays]
        call(functions[0], *given, *rest)
        reported = getattr(functions[0], "changed", ())
        kept = [all(map(np.array_equal, now, old)) for now, old in zip(arrays, before)]
        names = ("params", "grads")
        return {
            f"{name} unchanged": kept[place] and place not in reported
            for place, name in enumerate(names)
        }

    return observe


def plain_steps(shapes: Shapes, count: int) -> Observe:
    """Observe parameters after some steps of a function without a state."""

    def observe(functions: Functions, rng: Rng) -> Observation:
        params = draw(rng, shapes)
        for _ in range(count):
            made = call(functions[0], _copies(params), draw(rng, shapes), 0.3)
            params = _take(made, params)
        return {f"the new {name}": value for name, value in params.items()}

    return observe
