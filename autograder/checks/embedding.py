"""What is asked of an embedding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograder.checks.compare import Observation
from autograder.checks.core import Check, Functions, Property
from autograder.checks.inputs import Array, Rng
from autograder.checks.observe import array, call
from autograder.kernels.embedding import embedding_backward, embedding_forward

# One size of table for nearly all calls: whatever a function wrongly keeps between calls then
# shows as wrong numbers, in whichever way it is kept.
VOCAB_SIZE, FEATURES = 12, 5

# Right answers in float32 stay below 3e-7; float16, the smallest mistake, is above 1e-4.
RTOL = 2e-6

# Ids repeated inside a row (0, 5, 9) and at the same position of two rows (0, 3), which are two
# different ways to lose a gradient; all twelve occur.
REPEATS = np.array([[0, 0, 1, 2, 3, 4], [0, 5, 5, 6, 3, 7], [8, 9, 10, 11, 3, 9]])

MORE_SHAPES = ((3, 1), (2, 3, 4))
FEWEST = ((), (0,), (2, 0))


def _every_id(rng: Rng) -> Array:
    return rng.permutation(VOCAB_SIZE)


def _list_of_ids(rng: Rng) -> Array:
    """Draw every id once and three of them again, in random order."""
    return rng.permutation(np.r_[_every_id(rng), rng.integers(VOCAB_SIZE, size=3)])


def _batch_of_ids(rng: Rng) -> Array:
    return _every_id(rng)[REPEATS]


def _even_ids(rng: Rng) -> Array:
    return 2 * rng.permutation(VOCAB_SIZE // 2)


def _small_ids(rng: Rng, shape: tuple[int, ...]) -> Array:
    """Draw ids that leave the last rows unused, and that would be columns of the table as well."""
    return np.asarray(rng.integers(FEATURES, size=shape))


def _out(functions: Functions, rng: Rng, ids: Array, vocab_size: int = VOCAB_SIZE) -> Array:
    table = rng.standard_normal((vocab_size, FEATURES))
    return array(call(functions[0], ids.copy(), table), "out")


def _forward_of(draw: Callable[[Rng], Array]) -> Callable[[Functions, Rng], Observation]:
    return lambda functions, rng: {"out": _out(functions, rng, draw(rng))}


def _forward_shapes(shapes: tuple[tuple[int, ...], ...]) -> Any:
    def observe(functions: Functions, rng: Rng) -> Observation:
        return {
            f"out for ids {shape}": _out(functions, rng, _small_ids(rng, shape))
            for shape in shapes
        }  # fmt: skip

    return observe


def _large_vocabulary(functions: Functions, rng: Rng) -> Observation:
    # Above 127 and above 255: the ends of int8 and uint8.
    ids = rng.permutation(np.r_[rng.integers(128, 256, size=3), rng.integers(256, 300, size=3)])
    return {"out": _out(functions, rng, ids, vocab_size=300)}


def _untouched(functions: Functions, rng: Rng) -> Observation:
    ids, table = _list_of_ids(rng), rng.standard_normal((VOCAB_SIZE, FEATURES))
    mine = (ids.copy(), table.copy())
    call(functions[0], *mine)
    kept = all(np.array_equal(a, b) for a, b in zip(mine, (ids, table)))
    return {"ids, table unchanged": kept}


def _dtable(functions: Functions, rng: Rng, ids: Array) -> Array:
    dout = rng.standard_normal((*ids.shape, FEATURES))
    return array(call(functions[0], dout, ids.copy(), VOCAB_SIZE), "dtable")


def _backward_of(draw: Callable[[Rng], Array]) -> Callable[[Functions, Rng], Observation]:
    return lambda functions, rng: {"dtable": _dtable(functions, rng, draw(rng))}


def _repeated(functions: Functions, rng: Rng) -> Observation:
    # Three to five occurrences of each id, so that first, last, mean and sum all differ.
    ids = rng.permutation(np.r_[_every_id(rng), _every_id(rng), _every_id(rng), 0, 0, 1])
    return {"dtable": _dtable(functions, rng, ids)}


def _backward_shapes(shapes: tuple[tuple[int, ...], ...]) -> Any:
    def observe(functions: Functions, rng: Rng) -> Observation:
        return {
            f"dtable for ids {shape}": _dtable(functions, rng, _small_ids(rng, shape))
            for shape in shapes
        }  # fmt: skip

    return observe


def _second_call(functions: Functions, rng: Rng) -> Observation:
    _dtable(functions, rng, _every_id(rng))
    return {"dtable of the second call": _dtable(functions, rng, _every_id(rng))}


FORWARD = Check(
    "embedding_forward",
    "embedding",
    (
        Property("a list of ids (T,)", 0.3, _forward_of(_list_of_ids), "15 ids, V 12, D 5", RTOL),
        Property(
            "a batch of ids (N, T)", 0.3, _forward_of(_batch_of_ids), "ids (3, 6), V 12, D 5", RTOL
        ),
        Property(
            "more shapes", 0.15, _forward_shapes(MORE_SHAPES),
            "ids (3, 1) and (2, 3, 4), the last rows of the table unused", RTOL,
        ),
        Property("one id, no ids", 0.1, _forward_shapes(FEWEST), "ids (), (0,) and (2, 0)", RTOL),
        Property("a large vocabulary", 0.1, _large_vocabulary, "6 ids from 128 up, V 300", RTOL),
        Property("inputs left alone", 0.05, _untouched, "15 ids", needs="a list of ids (T,)"),
    ),
    (embedding_forward,),
)  # fmt: skip

BACKWARD = Check(
    "embedding_backward",
    "embedding",
    (
        Property("each id once", 0.2, _backward_of(_every_id), "12 ids, V 12, D 5", RTOL),
        Property("repeated ids", 0.3, _repeated, "39 ids, V 12, each three times or more", RTOL),
        Property(
            "a batch of ids (N, T)", 0.2, _backward_of(_batch_of_ids),
            "ids (3, 6) with repeats inside rows and across them", RTOL,
        ),
        Property(
            "rows that no id uses", 0.1, _backward_of(_even_ids),
            "6 ids, all even, each once, V 12", RTOL,
        ),
        Property("more shapes", 0.1, _backward_shapes(MORE_SHAPES), "ids (3, 1), (2, 3, 4)", RTOL),
        Property("one id, no ids", 0.05, _backward_shapes(FEWEST), "ids (), (0,), (2, 0)", RTOL),
        Property("a second call", 0.05, _second_call, "12 ids, each once, two calls", RTOL),
    ),
    (embedding_backward,),
)  # fmt: skip

CHECKS = (FORWARD, BACKWARD)


def check_embedding_forward(embedding_forward: Callable[..., Any], points: float) -> float:
    """Grade an embedding forward pass.

    Parameters
    ----------
    embedding_forward : callable
        ``embedding_forward(ids, table) -> out``.
    points : float
        What a right answer is worth.

    Returns
    -------
    float
        The score, between 0 and `points`.
    """
    return FORWARD.run((embedding_forward,), points)


def check_embedding_backward(embedding_backward: Callable[..., Any], points: float) -> float:
    """Grade an embedding backward pass.

    Parameters
    ----------
    embedding_backward : callable
        ``embedding_backward(dout, ids, vocab_size) -> dtable``.
    points : float
        What a right answer is worth.

    Returns
    -------
    float
        The score, between 0 and `points`.
    """
    return BACKWARD.run((embedding_backward,), points)
