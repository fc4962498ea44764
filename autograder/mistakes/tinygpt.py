"""Known wrong masks and sums of embeddings (ids TG1 to TG19); the others stand beside."""

from __future__ import annotations

import numpy as np

from autograder.mistakes import (
    tinygpt_attention as tinygpt_attention,
)
from autograder.mistakes import (
    tinygpt_block as tinygpt_block,
)
from autograder.mistakes import (
    tinygpt_gelu as tinygpt_gelu,
)
from autograder.mistakes import (
    tinygpt_loss as tinygpt_loss,
)
from autograder.mistakes import (
    tinygpt_sampling as tinygpt_sampling,
)
from autograder.mistakes.registry import Family

mask = Family("causal_mask")
embed = Family("embed_sum")


@mask(
    "TG1", "upper triangle",
    "Your mask allows the positions after each one. Row i says what position i may look at: the "
    "columns j <= i, which is the lower triangle.",
)  # fmt: skip
def upper(length):
    return np.triu(np.ones((length, length), bool))


@mask(
    "TG2", "own position left out",
    "Your mask forbids a position to look at itself. j = i is allowed: the first position would "
    "have nothing to look at otherwise.",
)  # fmt: skip
def strict(length):
    return np.tril(np.ones((length, length), bool), -1)


@mask(
    "TG3", "allowed and forbidden exchanged",
    "Your mask is True where looking is forbidden. In this exercise True means allowed, that is "
    "j <= i.",
)  # fmt: skip
def exchanged(length):
    return np.triu(np.ones((length, length), bool), 1)


@mask(
    "TG4", "mask of numbers to add",
    "Your mask holds 0 and minus infinity, to be added to the scores. Here a mask of True and "
    "False is asked for; what stands in a forbidden place is decided where the mask is used.",
)  # fmt: skip
def additive(length):
    return np.where(np.tri(length) > 0, 0.0, -np.inf)


@mask(
    "TG5", "zeros and ones instead of booleans",
    "Your mask has the right pattern, but in numbers. ~ and np.where need True and False: use "
    "dtype bool.",
)  # fmt: skip
def numbers(length):
    return np.tri(length)


@mask(
    "TG6", "everything allowed",
    "Your mask allows every pair. Then a position sees the token that it has to predict; allow "
    "j <= i alone.",
)  # fmt: skip
def everything(length):
    return np.ones((length, length), bool)


@mask(
    "TG7", "one position only",
    "Your mask allows each position itself and nothing else. All earlier positions are allowed "
    "too: j <= i.",
)  # fmt: skip
def diagonal(length):
    return np.eye(length, dtype=bool)


@mask(
    "TG8", "one step ahead",
    "Your mask lets each position see the next one, whose token it has to predict. Allow j <= i.",
)  # fmt: skip
def one_ahead(length):
    return np.tri(length, k=1, dtype=bool)


@mask(
    "TG9", "triangle from the other corner",
    "Your triangle starts at the other corner. Row 0 may look at column 0, row 1 at columns 0 and "
    "1, and so on: j <= i.",
)  # fmt: skip
def other_corner(length):
    return np.tri(length, dtype=bool)[::-1]


@embed(
    "TG10", "positions left out",
    "You return the token vectors alone. Attention cannot tell order: add position_table[t] to "
    "the vector at position t.",
)  # fmt: skip
def without_positions(ids, tokens, positions):
    return tokens[ids]


@embed(
    "TG11", "positions by example",
    "You added row b of position_table to example b. The position is the second axis: every "
    "example gets position_table[:T].",
)  # fmt: skip
def by_example(ids, tokens, positions):
    return tokens[ids] + positions[: len(ids)][:, None]


@embed(
    "TG12", "positions counted from 1",
    "Your positions start with row 1 of the table. The first position is row 0.",
)  # fmt: skip
def from_one(ids, tokens, positions):
    return tokens[ids] + positions[np.arange(1, ids.shape[1] + 1) % len(positions)]


@embed(
    "TG13", "positions from the end",
    "You took the last T rows of position_table. Position t is row t, whatever the context: use "
    "position_table[:T].",
)  # fmt: skip
def from_the_end(ids, tokens, positions):
    return tokens[ids] + positions[len(positions) - ids.shape[1] :]


@embed(
    "TG14", "whole position table added",
    "You added the whole position_table. A sequence may be shorter than the context: take its "
    "first T rows.",
)  # fmt: skip
def whole_table(ids, tokens, positions):
    return tokens[ids] + positions


@embed(
    "TG15", "positions looked up by token",
    "You looked up positions with the ids. A position is a place in the sequence: 0, 1, ..., T-1.",
)  # fmt: skip
def by_token(ids, tokens, positions):
    return tokens[ids] + positions[ids % len(positions)]


@embed(
    "TG16", "multiplied instead of added",
    "You multiplied token and position vectors. Their sum is asked for.",
)  # fmt: skip
def product(ids, tokens, positions):
    return tokens[ids] * positions[: ids.shape[1]]


@embed(
    "TG17", "side by side",
    "You put token and position vectors side by side, which doubles the features. They are added.",
)  # fmt: skip
def side_by_side(ids, tokens, positions):
    found = tokens[ids]
    return np.concatenate([found, np.broadcast_to(positions[: ids.shape[1]], found.shape)], -1)


@embed(
    "TG18", "tokens scaled by sqrt(D)",
    "You multiplied the token vectors by sqrt(D), as the first transformer of 2017 did. A GPT "
    "adds them as they are.",
)  # fmt: skip
def scaled(ids, tokens, positions):
    return tokens[ids] * np.sqrt(tokens.shape[1]) + positions[: ids.shape[1]]


@embed(
    "TG19", "one position for all",
    "You added the same row to every position. Position t gets row t of position_table.",
)  # fmt: skip
def one_position(ids, tokens, positions):
    return tokens[ids] + positions[0]
