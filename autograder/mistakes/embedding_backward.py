"""Known wrong embedding backward passes (ids EB...)."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from autograder.mistakes.registry import Family, Function

Array = np.ndarray

wrong = Family("embedding_backward")


def _zeros(dout: Array, vocab_size: int) -> Array:
    return np.zeros((vocab_size, dout.shape[-1]))


def _added(ids: Array, dout: Array, vocab_size: int) -> Array:
    """Give the right gradient, or the one that mistaken ids or a mistaken dout lead to."""
    dtable = np.zeros((vocab_size, dout.shape[-1]), dout.dtype)
    np.add.at(dtable, ids, dout)
    return dtable


def _wrong_end(id: str, name: str, sentence: str, change: Function) -> None:
    """Register a mistake made after the right sums: ``change(dtable, ids)``."""
    wrong(id, name, sentence)(lambda dout, ids, size: change(_added(ids, dout, size), ids))


def _counts(ids: Array, vocab_size: int) -> Array:
    return np.bincount(ids.ravel(), minlength=vocab_size)[:, None]


_LAST_ONLY = (
    "Where an id occurs more than once, only its last gradient is left: dtable[ids] += dout and "
    "dtable[ids] = dout write each row once. Every occurrence must be added."
)


@wrong("EB1", "repeated ids overwrite each other (+=)", _LAST_ONLY, equivalent=("EB17",))
def _buffered(dout, ids, vocab_size):
    dtable = _zeros(dout, vocab_size)
    dtable[ids] += dout
    return dtable


# Into an array of zeros, = and += write the same: no input tells these two apart.
@wrong("EB17", "repeated ids overwrite each other (=)", _LAST_ONLY, equivalent=("EB1",))
def _assigned(dout, ids, vocab_size):
    dtable = _zeros(dout, vocab_size)
    dtable[ids] = dout
    return dtable


@wrong(
    "EB25", "only the first of repeated ids counted",
    "Where an id occurs more than once, you kept its first gradient only (np.unique with "
    "return_index gives first places). Every occurrence must be added.",
)  # fmt: skip
def _first_only(dout, ids, vocab_size):
    dtable = _zeros(dout, vocab_size)
    used, first = np.unique(ids, return_index=True)
    dtable[used] = dout.reshape(-1, dout.shape[-1])[first]
    return dtable


@wrong(
    "EB2", "averaged over the occurrences",
    "You divided by how often an id occurs. Each occurrence moved the loss, so their gradients "
    "add up: a sum, not a mean.",
)  # fmt: skip
def _mean_by_count(dout, ids, vocab_size):
    return _added(ids, dout, vocab_size) / np.maximum(_counts(ids, vocab_size), 1)


@wrong(
    "EB3", "as many rows as the largest id",
    "Your gradient has ids.max() + 1 rows. It has the shape of the table, (vocab_size, D), "
    "whether or not the last words occur; without any ids there is no maximum at all.",
)  # fmt: skip
def _rows_by_max(dout, ids, vocab_size):
    return _added(ids, dout, ids.max() + 1)


@wrong(
    "EB26", "np.bincount without minlength",
    "np.bincount stops at the largest id that occurs. Pass minlength=vocab_size, so that the "
    "gradient has a row for every word.",
)  # fmt: skip
def _no_minlength(dout, ids, vocab_size):
    rows, flat = dout.reshape(ids.size, dout.shape[-1]), ids.ravel()
    return np.stack([np.bincount(flat, weights=column) for column in rows.T], axis=1)


_wrong_end(
    "EB4", "only the rows that were used",
    "You returned rows for the used ids only. The gradient has the shape of the table, "
    "(vocab_size, D): rows that no id used are zeros.",
    lambda dtable, ids: dtable[np.unique(ids)],
)  # fmt: skip


@wrong(
    "EB5", "added one row of ids at a time",
    "You loop over the first axis of ids and add whole rows with +=. An id that occurs twice "
    "inside one row is then counted once; go down to single ids.",
)  # fmt: skip
def _row_by_row(dout, ids, vocab_size):
    dtable = _zeros(dout, vocab_size)
    for row, gradient in zip(ids, dout):
        dtable[row] += gradient
    return dtable


@wrong(
    "EB6", "added one position at a time",
    "You loop over the positions and add the whole batch with +=. An id that stands at the same "
    "position in two rows is then counted once; go down to single ids.",
)  # fmt: skip
def _position_by_position(dout, ids, vocab_size):
    dtable = _zeros(dout, vocab_size)
    for position in range(ids.shape[-1]):
        dtable[ids[..., position]] += dout[..., position, :]
    return dtable


@wrong(
    "EB7", "accumulated in integers",
    "Your dtable has an integer dtype, so every sum is cut to a whole number. Gradients are real "
    "numbers: np.zeros(shape) without dtype=int, or with dout.dtype.",
)  # fmt: skip
def _integers(dout, ids, vocab_size):
    dtable = np.zeros((vocab_size, dout.shape[-1]), dtype=int)
    for place in np.ndindex(ids.shape):
        dtable[ids[place]] = dtable[ids[place]] + dout[place]
    return dtable


@wrong(
    "EB22", "real numbers added to an integer array",
    "Your dtable has an integer dtype and NumPy refuses to add real numbers to it. Make it with "
    "np.zeros(shape), or with the dtype of dout.",
)  # fmt: skip
def _integers_refused(dout, ids, vocab_size):
    dtable = np.zeros((vocab_size, dout.shape[-1]), dtype=ids.dtype)
    for place in np.ndindex(ids.shape):
        dtable[ids[place]] += dout[place]
    return dtable


_wrong_end(
    "EB8", "features reversed",
    "The features of your gradient are in reverse order. Feature j of dout belongs to feature j "
    "of the table.",
    lambda dtable, ids: dtable[:, ::-1],
)  # fmt: skip


@wrong(
    "EB9", "first feature copied to all",
    "All features of your gradient equal the first one. Each feature has its own gradient: add "
    "whole rows dout[..., :].",
)  # fmt: skip
def _first_feature(dout, ids, vocab_size):
    return _added(ids, np.broadcast_to(dout[..., :1], dout.shape), vocab_size)


@wrong(
    "EB10", "no gradient for row 0",
    "Row 0 of your gradient is always zero. Some libraries keep that row for padding; here id 0 "
    "is a word like any other.",
)  # fmt: skip
def _padding(dout, ids, vocab_size):
    dtable = _added(ids, dout, vocab_size)
    dtable[0] = 0
    return dtable


@wrong(
    "EB11", "last group of the sorted ids lost",
    "After sorting, the largest id never gets its sum: each group ends where the next begins, and "
    "the last has no next. Let it end at the end of the array.",
)  # fmt: skip
def _last_group(dout, ids, vocab_size):
    dtable, flat = _zeros(dout, vocab_size), ids.ravel()
    order = np.argsort(flat, kind="stable")
    rows = dout.reshape(ids.size, dout.shape[-1])[order]
    starts = np.flatnonzero(np.diff(flat[order], prepend=-1))
    for start, end in pairwise(starts):
        dtable[flat[order[start]]] = rows[start:end].sum(axis=0)
    return dtable


@wrong(
    "EB27", "ids sorted, dout not",
    "You sorted ids but left dout in its old order, so gradients reach the wrong words. Reorder "
    "both with the same np.argsort.",
)  # fmt: skip
def _sorted_ids_only(dout, ids, vocab_size):
    return _added(np.sort(ids.ravel()), dout.reshape(ids.size, dout.shape[-1]), vocab_size)


@wrong(
    "EB12", "ids flattened in Fortran order",
    "You flattened ids column by column and dout row by row, so gradients reach the wrong words. "
    "Flatten both in the same order.",
)  # fmt: skip
def _fortran_ids(dout, ids, vocab_size):
    return _added(ids.ravel("F"), dout.reshape(ids.size, dout.shape[-1]), vocab_size)


@wrong(
    "EB13", "gradient kept from call to call",
    "Your function adds to an array that outlives the call, so the second call contains the first "
    "one as well. Begin every call with fresh zeros.",
    factory=True,
)  # fmt: skip
def _kept_buffer():
    kept = {}

    def embedding_backward(dout, ids, vocab_size):
        dtable = kept.setdefault((vocab_size, dout.shape[-1]), _zeros(dout, vocab_size))
        np.add.at(dtable, ids, dout)
        return dtable

    return embedding_backward


@wrong(
    "EB14", "ids counted instead of gradients added",
    "Your rows hold how often each id occurs. Add the vectors of dout, not ones.",
)  # fmt: skip
def _counts_only(dout, ids, vocab_size):
    return _zeros(dout, vocab_size) + _counts(ids, vocab_size)


@wrong(
    "EB15", "accumulated in float16",
    "Your gradient carries only about three digits: something is added in float16. Keep the dtype "
    "of dout.",
)  # fmt: skip
def _half(dout, ids, vocab_size):
    return _added(ids, dout.astype(np.float16), vocab_size)


_wrong_end(
    "EB16", "divided by the batch size",
    "You divided by ids.shape[0]. If the loss is a mean over the batch, dout contains that "
    "division already: here the gradients only add up.",
    lambda dtable, ids: dtable / ids.shape[0],
)  # fmt: skip
_wrong_end(
    "EB23", "divided by the number of ids",
    "You divided by ids.size. If the loss is a mean over the positions, dout contains that "
    "division already: here the gradients only add up.",
    lambda dtable, ids: dtable / max(ids.size, 1),
)  # fmt: skip
_wrong_end(
    "EB28", "scaled by sqrt(D)",
    "You multiplied by sqrt(D). That belongs to a forward pass that scales its output; here the "
    "forward pass gives the rows as they are.",
    lambda dtable, ids: dtable * np.sqrt(dtable.shape[1]),
)  # fmt: skip


@wrong(
    "EB18", "a name that does not exist",
    "Your loop uses a name that was never assigned. Look for a loop variable under another name "
    "(i and ib), or self in a function that has none.",
)  # fmt: skip
def _name_error(dout, ids, vocab_size):
    dtable = _zeros(dout, vocab_size)
    for ib in np.ndindex(ids.shape):
        dtable[ids[ib]] += self.dout[ib]  # noqa: F821
    return dtable


@wrong(
    "EB19", "an attribute that does not exist",
    "Your loop asks an array for an attribute that it does not have. dout, ids and vocab_size are "
    "arguments of the function: use them by their names.",
)  # fmt: skip
def _attribute_error(dout, ids, vocab_size):
    dtable = _zeros(dout, vocab_size)
    for place in np.ndindex(ids.shape):
        dtable[ids[place]] += ids.dout[place]
    return dtable


@wrong(
    "EB20", "dout summed over the batch first",
    "You summed dout over its first axis before giving it to the ids, so every id gets the "
    "gradients of the others too. Add each dout[place] to the row of ids[place].",
)  # fmt: skip
def _summed_first(dout, ids, vocab_size):
    dtable = np.zeros((vocab_size, dout.shape[-1]))
    np.add.at(dtable, ids, dout.sum(axis=0))
    return dtable


@wrong(
    "EB21", "only ids with two axes",
    "Your function works only for ids of shape (N, T). Ids may have any shape: flatten ids to "
    "(n,) and dout to (n, D) first.",
)  # fmt: skip
def _two_axes(dout, ids, vocab_size):
    batch, time = ids.shape
    dtable = _zeros(dout, vocab_size)
    for i in range(batch):
        for j in range(time):
            dtable[ids[i, j]] += dout[i, j]
    return dtable


@wrong(
    "EB29", "np.bincount on ids that are not flat",
    "np.bincount takes a list of ids, and ids may have any shape. Flatten ids to (n,) and dout to "
    "(n, D) first.",
)  # fmt: skip
def _one_axis(dout, ids, vocab_size):
    columns = range(dout.shape[-1])
    return np.stack([np.bincount(ids, dout[..., j], vocab_size) for j in columns], axis=1)


@wrong(
    "EB24", "rows counted from 1",
    "You added to row id - 1. Ids count from 0, as NumPy's rows do: the gradient goes to the row "
    "that the forward pass read.",
)  # fmt: skip
def _one_based(dout, ids, vocab_size):
    return _added(ids - 1, dout, vocab_size)


_wrong_end(
    "EB30", "gradient transposed",
    "Your gradient has shape (D, vocab_size). It has the shape of the table, (vocab_size, D).",
    lambda dtable, ids: dtable.T,
)  # fmt: skip


@wrong(
    "EB31", "dout returned",
    "You returned one vector for each position. The gradient belongs to the table: its shape is "
    "(vocab_size, D), and each vector of dout is added to the row it came from.",
)  # fmt: skip
def _identity(dout, ids, vocab_size):
    return dout
