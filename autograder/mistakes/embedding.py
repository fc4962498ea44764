"""Known wrong embedding forward passes (ids EF...); the backward ones stand beside."""

from __future__ import annotations

import numpy as np

from autograder.mistakes.registry import Family

wrong = Family("embedding_forward")


@wrong(
    "EF1", "ids counted from 1",
    "You looked up row id - 1. Ids count from 0, as NumPy's rows do: id 0 is the first row, and "
    "with your shift it silently becomes the last.",
)  # fmt: skip
def _one_based(ids, table):
    return table[ids - 1]


@wrong(
    "EF2", "ids flattened",
    "You flattened ids and left the result flat. The output keeps the axes of ids and gets one "
    "more: its shape is ids.shape + (D,).",
)  # fmt: skip
def _flattened(ids, table):
    return table[ids.ravel()]


@wrong(
    "EF3", "reshaped in Fortran order",
    "Your result has the right shape, but its numbers are rearranged: a reshape with order='F' "
    "fills columns first. Keep NumPy's default order, or index with ids as they are.",
)  # fmt: skip
def _fortran_reshape(ids, table):
    return table[ids.ravel()].reshape((*ids.shape, table.shape[1]), order="F")


@wrong(
    "EF4", "every id only once",
    "You looked up np.unique(ids). A repeated id needs its row at each of its places, and the "
    "order of the text must stay as it is.",
)  # fmt: skip
def _unique(ids, table):
    return table[np.unique(ids)]


@wrong(
    "EF10", "ids sorted",
    "You sorted ids before the lookup, so the rows are right and their order is lost. The order "
    "of ids is the order of the words: leave it alone.",
)  # fmt: skip
def _sorted(ids, table):
    return table[np.sort(ids)]


@wrong(
    "EF5", "columns instead of rows",
    "You took column id of the table. The vector of an id is a row: the first axis of the table "
    "counts the V words, the second their D features.",
)  # fmt: skip
def _columns(ids, table):
    return table[:, ids]


@wrong(
    "EF16", "table transposed",
    "You transposed the table before the lookup, which gives columns of the original. The table "
    "has shape (V, D): its rows are the vectors, so index it as it comes.",
)  # fmt: skip
def _transposed_table(ids, table):
    return table.T[ids]


@wrong(
    "EF6", "ids cast to int8",
    "Your ids pass through int8, which holds -128 to 127: larger ids wrap around to other words. "
    "Leave ids in the integer type in which they come.",
)  # fmt: skip
def _int8(ids, table):
    return table[ids.astype(np.int8)]


@wrong(
    "EF11", "ids cast to uint8",
    "Your ids pass through uint8, which ends at 255: larger ids wrap around to other words. "
    "Leave ids in the integer type in which they come.",
)  # fmt: skip
def _uint8(ids, table):
    return table[ids.astype(np.uint8)]


@wrong(
    "EF7", "scaled by sqrt(D)",
    "You multiplied the rows by sqrt(D). Some transformers do that after the lookup; an embedding "
    "itself gives the rows as they are.",
)  # fmt: skip
def _scaled(ids, table):
    return table[ids] * np.sqrt(table.shape[1])


@wrong(
    "EF8", "only ids with two axes",
    "Your function works only for ids of shape (N, T). Ids may have any shape: one id, a list, "
    "a batch. Index with the whole array, or loop over np.ndindex(ids.shape).",
)  # fmt: skip
def _two_axes(ids, table):
    batch, time = ids.shape
    out = np.zeros((batch, time, table.shape[1]))
    for i in range(batch):
        for j in range(time):
            out[i, j] = table[ids[i, j]]
    return out


@wrong(
    "EF23", "only ids with one axis",
    "Your loop works only for a list of ids. Text comes in batches of shape (N, T), and ids may "
    "have any shape: index with the whole array, or loop over np.ndindex(ids.shape).",
)  # fmt: skip
def _one_axis(ids, table):
    out = np.zeros((len(ids), table.shape[1]))
    for i in range(len(ids)):
        out[i] = table[ids[i]]
    return out


@wrong(
    "EF9", "rows gathered in a Python list",
    "You collect rows in a Python list. A single id has nothing to loop over, and without ids the "
    "list is empty and np.array cannot know D. Make the output from ids.shape + (D,).",
)  # fmt: skip
def _python_list(ids, table):
    return np.array([table[i] for i in ids])


@wrong(
    "EF24", "a list returned",
    "Your function returns a Python list of rows. Return one NumPy array of shape "
    "ids.shape + (D,), so that the next layer can compute with it.",
)  # fmt: skip
def _list_returned(ids, table):
    return [table[i] for i in ids]


@wrong(
    "EF12", "id 0 treated as padding",
    "You set the vector of id 0 to zeros. Some libraries keep a row for padding; here id 0 is a "
    "word like any other.",
)  # fmt: skip
def _padding(ids, table):
    return np.where((ids == 0)[..., None], 0.0, table[ids])


@wrong(
    "EF13", "row 0 of the table overwritten",
    "You wrote zeros into row 0 of the table. Id 0 is a word like any other, and the table belongs "
    "to the caller: a lookup only reads it.",
)  # fmt: skip
def _padding_in_place(ids, table):
    table[0] = 0.0
    return table[ids]


@wrong(
    "EF14", "ids changed in place",
    "Your result is right, but your function overwrote ids (*=, +=, or out=ids). The caller still "
    "needs them, for the backward pass for one. Work on a new array.",
)  # fmt: skip
def _ids_in_place(ids, table):
    ids *= table.shape[1]
    return table.reshape(-1)[ids[..., None] + np.arange(table.shape[1])]


@wrong(
    "EF15", "one-hot vectors as long as the largest id",
    "Your one-hot vectors have length ids.max() + 1. They need V = len(table) entries, whether or "
    "not the last words of the vocabulary occur.",
)  # fmt: skip
def _one_hot_of_max(ids, table):
    return np.eye(ids.max() + 1)[ids] @ table


@wrong(
    "EF17", "np.take without axis",
    "You called np.take without axis=0, so it counted through the flattened table and returned "
    "single numbers. The ids select rows: axis=0.",
)  # fmt: skip
def _take_flat(ids, table):
    return np.take(table, ids)


@wrong(
    "EF18", "one-hot vectors returned",
    "You returned the one-hot vectors of the ids. They still have to be multiplied by the table: "
    "that product picks the rows.",
)  # fmt: skip
def _one_hot(ids, table):
    return np.eye(len(table))[ids]


@wrong(
    "EF19", "averaged over the positions",
    "You averaged the vectors of a sequence. An embedding keeps one vector for each id: the shape "
    "is ids.shape + (D,).",
)  # fmt: skip
def _averaged(ids, table):
    return table[ids].mean(axis=-2)


@wrong(
    "EF20", "rows scaled to length 1",
    "You divided each row by its length. The lookup returns the row as it stands in the table; "
    "its length is learned too.",
)  # fmt: skip
def _unit_length(ids, table):
    rows = table[ids]
    return rows / np.sqrt((rows**2).sum(axis=-1, keepdims=True))


@wrong(
    "EF21", "values in float16",
    "Your values carry only about three digits: something passes through float16. A lookup copies "
    "the numbers of the table, so keep the table's dtype.",
)  # fmt: skip
def _half(ids, table):
    return table.astype(np.float16)[ids]


@wrong(
    "EF22", "axes of ids swapped",
    "You transposed ids, so batch and time changed places. The output has the axes of ids in "
    "their order, and then D.",
)  # fmt: skip
def _transposed_ids(ids, table):
    return table[ids.T]


from autograder.mistakes import embedding_backward  # noqa: E402, F401  (registers EB...)
