"""Dropout: the mask of the generator, and the properties every mask must have."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.kernels.dropout import dropout_backward, dropout_forward
from tests.strategies import activations


@given(activations(count=2), st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.9]), st.booleans())
def test_both_passes_use_the_mask_of_the_generator(arrays, p, training):
    x, dout = arrays
    out, cache = dropout_forward(x, p, training, np.random.default_rng(5))
    dx = dropout_backward(dout, cache)
    keep = np.random.default_rng(5).random(x.shape) >= p if training else np.ones(x.shape, bool)
    scale = x.dtype.type(1 / (1 - p) if training else 1)
    for got, source in ((out, x), (dx, dout)):
        assert got.dtype == x.dtype.type
        np.testing.assert_array_equal(got, np.where(keep, source * scale, 0).astype(x.dtype.type))


def test_kept_share_and_mean_are_within_five_standard_errors():
    n, p = 100_000, 0.3
    out, _ = dropout_forward(np.ones(n), p, True, np.random.default_rng(0))
    kept = np.count_nonzero(out)
    assert abs(kept - n * (1 - p)) < 5 * np.sqrt(n * p * (1 - p))
    np.testing.assert_allclose(np.unique(out), [0, 1 / 0.7])


@pytest.mark.parametrize(("p", "training"), [(0.0, True), (0.5, False)])
def test_nothing_dropped_is_an_exact_copy(p, training):
    x = np.random.default_rng(1).standard_normal((4, 3)).astype(np.float32)
    out, _ = dropout_forward(x, p, training, np.random.default_rng(0))
    np.testing.assert_array_equal(out, x)
    assert not np.shares_memory(out, x)


def test_evaluation_draws_nothing():
    rng = np.random.default_rng(3)
    dropout_forward(np.ones(10), 0.5, False, rng)
    assert rng.random() == np.random.default_rng(3).random()


def test_a_dropped_entry_is_zero_even_where_x_is_not_finite():
    out, (keep, _) = dropout_forward(np.full(50, np.inf), 0.5, True, np.random.default_rng(0))
    np.testing.assert_array_equal(out, np.where(keep, np.inf, 0.0))
