"""What is asked of the causal mask, the sum of embeddings, and causal attention."""

from __future__ import annotations

import numpy as np

from autograder.checks.compare import Observation
from autograder.checks.core import Check, Functions, Observe, Property
from autograder.checks.inputs import Array, Rng
from autograder.checks.observe import array, call, leaves_alone
from autograder.kernels.tinygpt_attention import causal_attention, causal_mask, embed_sum

LENGTHS = (1, 3, 6)
SHAPE = (3, 5, 6)
# A position that may not look ahead gives the same numbers whatever comes later, to rounding.
SAME = 1e-5


def _pairs(functions: Functions, rng: Rng) -> Observation:
    return {
        f"mask of length {length}": array(call(functions[0], length), "mask") for length in LENGTHS
    }


def _boolean(functions: Functions, rng: Rng) -> Observation:
    mask = call(functions[0], 4)
    array(mask, "mask")
    return {"dtype of the mask": str(mask.dtype)}


def _sum(length: int, context: int) -> Observe:
    def observe(functions: Functions, rng: Rng) -> Observation:
        tokens, positions = rng.standard_normal((7, 4)), rng.standard_normal((context, 4))
        ids = rng.integers(0, 7, (3, length))
        return {"x": array(call(functions[0], ids, tokens, positions), "x")}

    return observe


def _draw(rng: Rng, shape: tuple[int, int, int], size: float = 1.0) -> tuple[Array, Array, Array]:
    """Draw x and weights; queries and keys of a size at which weights are neither even nor 0/1."""
    features = shape[-1]
    w_qkv = rng.standard_normal((features, 3 * features)) / np.sqrt(features)
    w_qkv[:, : 2 * features] *= 1.5 * np.sqrt(size)
    w_out = rng.standard_normal((features, features)) / np.sqrt(features)
    return rng.standard_normal(shape), w_qkv, w_out


def _attend(functions: Functions, data: tuple[Array, ...], n_head: int) -> Array:
    copies = [part.copy() for part in data]
    return array(call(functions[0], *copies, n_head), "out")


def _attention(shape: tuple[int, int, int], *heads: int, size: float = 1.0) -> Observe:
    return lambda functions, rng: {
        f"out with n_head={n_head}": _attend(functions, _draw(rng, shape, size), n_head)
        for n_head in heads
    }


def _no_look_ahead(functions: Functions, rng: Rng) -> Observation:
    x, *weights = _draw(rng, (2, 6, 4))
    changed = x.copy()
    changed[:, 4:] = 3 * rng.standard_normal((2, 2, 4))
    before, after = (_attend(functions, (part, *weights), 2) for part in (x, changed))
    moved = np.abs(before - after).max(axis=(0, 2)) if before.ndim == 3 else np.full(6, np.nan)
    limit = SAME * float(np.abs(before).max(initial=0.0))
    return {
        "the first four positions unchanged": bool((moved[:4] <= limit).all()),
        "the last two changed": bool((moved[4:] > limit).all()),
    }


def _untouched(functions: Functions, rng: Rng) -> Observation:
    arguments = _draw(rng, (2, 3, 4))
    return {"x and weights unchanged": leaves_alone(functions[0], *arguments, 2)}


_PAIRS = "allowed pairs"
MASK = Check(
    "causal_mask",
    "tinygpt",
    (
        Property(_PAIRS, 0.7, _pairs, f"length {', '.join(map(str, LENGTHS))}"),
        Property(
            "boolean", 0.3, _boolean, "length 4",
            expected={"dtype of the mask": "bool"}, needs=_PAIRS,
        ),
    ),
    (causal_mask,),
)  # fmt: skip

EMBED = Check(
    "embed_sum",
    "tinygpt",
    (
        Property("a whole context, T = C", 0.5, _sum(5, 5), "ids (3, 5), position_table (5, 4)"),
        Property("T smaller than C", 0.5, _sum(4, 6), "ids (3, 4), position_table (6, 4)"),
    ),
    (embed_sum,),
)

_HEADS = "several heads"
ATTENTION = Check(
    "causal_attention",
    "tinygpt",
    (
        Property("one head", 0.3, _attention(SHAPE, 1), f"x {SHAPE}, n_head = 1"),
        Property(_HEADS, 0.3, _attention(SHAPE, 2, 3), f"x {SHAPE}, n_head = 2 and 3"),
        Property("a single token", 0.1, _attention((4, 1, 6), 1, 2), "x (4, 1, 6)"),
        Property(
            "no look ahead", 0.15, _no_look_ahead,
            "x (2, 6, 4), of which the last two positions change",
            expected={"the first four positions unchanged": True, "the last two changed": True},
        ),
        Property(
            "large scores", 0.1, _attention((2, 5, 6), 2, size=2e3), "scores of some thousands",
            rtol=1e-2,
        ),
        Property(
            "inputs left alone", 0.05, _untouched, "x (2, 3, 4)",
            expected={"x and weights unchanged": True}, needs=_HEADS,
        ),
    ),
    (causal_attention,),
)  # fmt: skip
