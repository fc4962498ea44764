"""The mistakes that every initialization can have, whatever its standard deviation."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from autograder.mistakes.registry import Family, Function

# Name, how the numbers are drawn, and the sentence of the mistake.
Ways = tuple[tuple[str, Function, str], ...]

ROOT_3 = np.sqrt(3)  # U(-a, a) has standard deviation a / sqrt(3)


def normal(rng, std, shape):
    """Draw from N(0, std**2)."""
    return rng.normal(0, std, shape)


def uniform(rng, bound, shape):
    """Draw from U(-bound, bound)."""
    return rng.uniform(-bound, bound, shape)


def truncated(rng, std, shape):
    """Draw from N(0, std**2) and draw again whatever lies beyond 2 std; its spread is 0.88 std."""
    weights = normal(rng, std, shape)
    while (far := np.abs(weights) > 2 * std).any():
        weights[far] = normal(rng, std, far.sum())
    return weights


def _transposed(draw: Function, rng, size, shape):
    return draw(rng, size, shape[::-1])


def _fixed_seed(draw: Function, rng, size, shape):
    return draw(np.random.default_rng(0), size, shape)


def _own_generator(draw: Function, rng, size, shape):
    return draw(np.random.default_rng(), size, shape)


def _global_state(draw: Function, rng, size, shape):
    return draw(np.random, size, shape)


def _global_seed(draw: Function, rng, size, shape):
    np.random.seed(0)  # noqa: NPY002 (the mistake itself)
    return draw(np.random, size, shape)


def _all_equal(draw: Function, rng, size, shape):
    return np.full(shape, size)


def _not_centred(draw: Function, rng, size, shape):
    return rng.random(shape) * size


def _one_row(draw: Function, rng, size, shape):
    return np.tile(draw(rng, size, shape[1:]), (shape[0], 1))


EVERYWHERE: Ways = (
    (
        "shape turned over", _transposed,
        "Your matrix has shape (fan_out, fan_in). In this course y = x @ w with x (N, fan_in), so "
        "w is (fan_in, fan_out); some libraries store the transpose.",
    ),
    (
        "a fixed seed inside the function", _fixed_seed,
        "You made a generator with a fixed seed inside the function, so every layer of the same "
        "shape starts with the same weights. Draw from the rng that is passed in.",
    ),
    (
        "a generator of its own", _own_generator,
        "You made a new generator inside the function, so nobody can repeat a run: the same seed "
        "gives other weights each time. Draw from the rng that is passed in.",
    ),
    (
        "NumPy's global generator", _global_state,
        "You drew with np.random.<something>, the generator that all code shares. Whoever else "
        "draws from it changes your weights: use the methods of rng.",
    ),
    (
        "NumPy's global generator seeded", _global_seed,
        "You seeded NumPy's global generator inside the function: every layer gets the same "
        "numbers, and all other code that draws is reset too. Use rng as it comes.",
    ),
    (
        "all weights equal", _all_equal,
        "Every weight has the same value. Then all units of a layer compute the same, receive the "
        "same gradient and stay alike for ever: the numbers must be random.",
    ),
    (
        "only positive weights", _not_centred,
        "You scaled rng.random, which gives numbers from 0 to 1. Weights must spread evenly around "
        "0; with a positive mean, the outputs of a wide layer are mostly mean.",
    ),
    (
        "one row repeated", _one_row,
        "All rows of your matrix are the same: you drew one row and repeated it. Draw as many "
        "numbers as the matrix has entries, with size=(fan_in, fan_out).",
    ),
)  # fmt: skip

INSTEAD_OF_NORMAL: Ways = (
    (
        "uniform instead of normal", lambda rng, std, shape: uniform(rng, std * ROOT_3, shape),
        "The standard deviation is right, but your numbers are uniform. The name of the function "
        "asks for a normal distribution: rng.normal or rng.standard_normal.",
    ),
    (
        "uniform between -std and std", uniform,
        "You drew uniformly between -std and std. That distribution is not normal, and its "
        "standard deviation is only std / sqrt(3) = 0.577 std.",
    ),
    (
        "truncated and not scaled back", truncated,
        "You cut the normal distribution off at two standard deviations. That leaves a standard "
        "deviation of 0.88 of what was asked for: divide by 0.8796, or do not cut.",
    ),
)  # fmt: skip

INSTEAD_OF_UNIFORM: Ways = (
    (
        "normal instead of uniform", lambda rng, bound, shape: normal(rng, bound / ROOT_3, shape),
        "The standard deviation is right, but your numbers are normal. The name of the function "
        "asks for a uniform distribution: rng.uniform(-a, a).",
    ),
    (
        "half the width", lambda rng, bound, shape: (rng.random(shape) - 0.5) * bound,
        "rng.random() - 0.5 lies between -1/2 and 1/2, so your weights reach only half of the "
        "bound a. Multiply by 2 * a, or use rng.uniform(-a, a).",
    ),
)  # fmt: skip


def numbered(prefix: str, first: int, last: int) -> list[str]:
    """Give the ids from ``prefix + first`` to ``prefix + last``."""
    return [f"{prefix}{number}" for number in range(first, last + 1)]


def in_size(wrong: Family, draw: Function) -> Function:
    """Give the registrar of mistakes in nothing but the standard deviation or the bound.

    Parameters
    ----------
    wrong : Family
        Of a function of (fan_in, fan_out, ..., rng).
    draw : callable
        `normal` or `uniform`.

    Returns
    -------
    callable
        ``register(id, name, sentence, size)`` with ``size(fan_in, fan_out, ...)``.
    """

    def register(id: str, name: str, sentence: str, size: Function) -> None:
        wrong(id, name, sentence)(_with(draw, size))

    return register


def in_drawing(
    wrong: Family, draw: Function, size: Function, everywhere: Sequence[str], instead: Sequence[str]
) -> None:
    """Register the mistakes that leave the formula right and draw wrongly.

    Parameters
    ----------
    wrong : Family
        Of a function of (fan_in, fan_out, ..., rng).
    draw : callable
        `normal` or `uniform`: the right distribution.
    size : callable
        ``size(fan_in, fan_out, ...)``, the right standard deviation or bound.
    everywhere : sequence of str
        Ids for `EVERYWHERE`.
    instead : sequence of str
        Ids for `INSTEAD_OF_NORMAL` or `INSTEAD_OF_UNIFORM`.
    """
    for id, (name, way, sentence) in zip(everywhere, EVERYWHERE, strict=True):
        wrong(id, name, sentence)(_with(partial(way, draw), size))
    others = INSTEAD_OF_NORMAL if draw is normal else INSTEAD_OF_UNIFORM
    for id, (name, way, sentence) in zip(instead, others, strict=True):
        wrong(id, name, sentence)(_with(way, size))


def _with(way: Function, size: Function) -> Function:
    """Make a function of (fan_in, fan_out, ..., rng) that draws its matrix in the given way."""

    def initialize(fan_in, fan_out, *rest):
        *n_layer, rng = rest
        return way(rng, size(fan_in, fan_out, *n_layer), (fan_in, fan_out))

    return initialize
