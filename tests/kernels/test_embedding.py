"""Embedding against the product with one-hot rows."""

import numpy as np
import pytest
from hypothesis import given

from autograder.kernels.embedding import embedding_backward, embedding_forward
from tests.strategies import (
    features,
    float_dtypes,
    generators,
    ids_and_vocab_size,
    in_layout,
    layouts,
)


@given(ids_and_vocab_size(), features, float_dtypes, generators, layouts)
def test_both_passes_are_products_with_one_hot_rows(drawn, features, dtype, rng, layout):
    ids, vocab_size = drawn
    table = in_layout(rng.standard_normal((vocab_size, features)).astype(dtype), layout)
    dout = rng.standard_normal((*ids.shape, features)).astype(dtype)
    one_hot = (ids[..., None] == np.arange(vocab_size, dtype=ids.dtype)).astype(np.float64)
    out = embedding_forward(ids, table)
    assert out.dtype == dtype
    np.testing.assert_array_equal(out, one_hot @ table.astype(np.float64))
    dtable = embedding_backward(in_layout(dout, layout), ids, vocab_size)
    assert dtable.dtype == dtype
    expected = one_hot.reshape(-1, vocab_size).T @ dout.reshape(-1, features).astype(np.float64)
    np.testing.assert_allclose(
        dtable, expected, rtol=0, atol=3e-5 if dtype == np.float32 else 1e-13
    )


def test_the_result_is_not_a_view_of_the_table():
    table = np.ones((3, 2))
    embedding_forward(np.array(1), table)[:] = 5.0
    np.testing.assert_array_equal(table, np.ones((3, 2)))


@pytest.mark.parametrize("vocab_size", [3, 1000])
def test_a_second_call_starts_from_zero(vocab_size):
    dout, ids = np.ones((4, 2)), np.array([0, 2, 2, 1])
    first = embedding_backward(dout, ids, vocab_size)
    again = embedding_backward(dout, ids, vocab_size, out=np.full((vocab_size, 2), 9.0))
    np.testing.assert_array_equal(first, again)
    np.testing.assert_array_equal(first[:3, 0], [1.0, 1.0, 2.0])
    np.testing.assert_array_equal(first[3:], 0.0)
