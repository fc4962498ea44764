"""Right embeddings as people really write them."""

import numpy as np


def fancy_index(ids, table):
    return table[ids]


def rows_and_all_columns(ids, table):
    return table[ids, :].copy()


def take(ids, table):
    return np.take(table, ids, axis=0)


def take_method_on_flat_ids(ids, table):
    return table.take(ids.ravel(), axis=0).reshape(ids.shape + (table.shape[1],))


def one_hot_product(ids, table):
    return np.eye(len(table))[ids] @ table


def one_hot_by_comparison(ids, table):
    one_hot = (ids[..., None] == np.arange(table.shape[0])).astype(table.dtype)
    return np.einsum("...v,vd->...d", one_hot, table)


def loop_over_places(ids, table):
    out = np.zeros((*ids.shape, table.shape[1]))
    for place in np.ndindex(ids.shape):
        out[place] = table[ids[place]]
    return out


def list_of_flat_rows(ids, table):
    rows = [table[i] for i in ids.flatten()]
    return np.array(rows).reshape(*ids.shape, table.shape[1])


def view_for_a_single_id(ids, table):
    # Indexing with a Python int gives a view of the row, an array of ids gives a copy.
    return table[int(ids)] if ids.ndim == 0 else table[ids]


def float32_out(ids, table):
    return table.astype(np.float32)[ids]


def prints_and_warns(ids, table):
    print("ids", ids)
    np.log(np.zeros(1))
    return table[ids]


def add_at(dout, ids, vocab_size):
    dtable = np.zeros((vocab_size, dout.shape[-1]))
    np.add.at(dtable, ids, dout)
    return dtable


def add_at_flat(dout, ids, vocab_size):
    features = dout.shape[-1]
    dtable = np.zeros((vocab_size, features), dtype=dout.dtype)
    np.add.at(dtable, ids.reshape(-1), dout.reshape(-1, features))
    return dtable


def bincount_of_columns(dout, ids, vocab_size):
    dtable = np.zeros((vocab_size, dout.shape[-1]))
    for j in range(dout.shape[-1]):
        dtable[:, j] = np.bincount(ids.ravel(), dout[..., j].ravel(), minlength=vocab_size)
    return dtable


def bincount_of_cells(dout, ids, vocab_size):
    features = dout.shape[-1]
    cells = ids[..., None] * features + np.arange(features)
    flat = np.bincount(cells.ravel(), weights=dout.ravel(), minlength=vocab_size * features)
    return flat.reshape(vocab_size, features)


def one_hot_transposed(dout, ids, vocab_size):
    one_hot = np.eye(vocab_size)[ids.reshape(-1)]
    return one_hot.T @ dout.reshape(-1, dout.shape[-1])


def tensordot_of_one_hot(dout, ids, vocab_size):
    one_hot = np.equal.outer(np.arange(vocab_size), ids).astype(float)
    return np.tensordot(one_hot, dout, axes=ids.ndim)


def sort_and_reduceat(dout, ids, vocab_size):
    dtable = np.zeros((vocab_size, dout.shape[-1]))
    if ids.size == 0:
        return dtable
    order = np.argsort(ids, axis=None, kind="stable")
    used, starts = np.unique(ids.ravel()[order], return_index=True)
    dtable[used] = np.add.reduceat(dout.reshape(-1, dout.shape[-1])[order], starts, axis=0)
    return dtable


def mask_of_each_word(dout, ids, vocab_size):
    return np.stack([dout[ids == word].sum(axis=0) for word in range(vocab_size)])


def loop_backward(dout, ids, vocab_size):
    dtable = np.zeros((vocab_size, dout.shape[-1]))
    for place in np.ndindex(ids.shape):
        dtable[ids[place]] += dout[place]
    return dtable


def loop_over_flat_rows(dout, ids, vocab_size):
    dtable = np.zeros((vocab_size, dout.shape[-1]))
    for i, row in zip(ids.ravel(), dout.reshape(-1, dout.shape[-1])):
        dtable[i] = dtable[i] + row
    return dtable


def backward_float32(dout, ids, vocab_size):
    dtable = np.zeros((vocab_size, dout.shape[-1]), dtype=np.float32)
    np.add.at(dtable, ids, dout.astype(np.float32))
    return dtable


def changes_dout_in_place(dout, ids, vocab_size):
    dtable = np.zeros((vocab_size, dout.shape[-1]))
    for place in np.ndindex(ids.shape):
        dtable[ids[place]] += dout[place]
        dout[place] = 0
    return dtable


VARIANTS = {
    "embedding_forward": [
        (fancy_index,),
        (rows_and_all_columns,),
        (take,),
        (take_method_on_flat_ids,),
        (one_hot_product,),
        (one_hot_by_comparison,),
        (loop_over_places,),
        (list_of_flat_rows,),
        (view_for_a_single_id,),
        (float32_out,),
        (prints_and_warns,),
    ],
    "embedding_backward": [
        (add_at,),
        (add_at_flat,),
        (bincount_of_columns,),
        (bincount_of_cells,),
        (one_hot_transposed,),
        (tensordot_of_one_hot,),
        (sort_and_reduceat,),
        (mask_of_each_word,),
        (loop_backward,),
        (loop_over_flat_rows,),
        (backward_float32,),
        (changes_dout_in_place,),
    ],
}
