"""Row normalization against its definition in float64."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from layerlab import normalize

from tests.strategies import activations


@given(activations(), st.booleans(), st.sampled_from([1e-5, 1.0]))
def test_rows_follow_the_definition(arrays, center, eps):
    (x,) = arrays
    rows = x.astype(np.float64)
    rows = rows - rows.mean(axis=-1, keepdims=True) if center else rows
    expected = rows / np.sqrt(np.mean(rows**2, axis=-1, keepdims=True) + eps)
    got = normalize(x, eps, center)
    assert got.dtype == x.dtype.type
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-5 if x.dtype.itemsize == 4 else 1e-12)


def test_float32_far_from_zero_and_large_enough_for_threads():
    x = (np.random.default_rng(0).standard_normal((200, 500)) + 1e4).astype(np.float32)
    rows = x.astype(np.float64) - x.mean(axis=-1, keepdims=True, dtype=np.float64)
    expected = rows / np.sqrt(np.mean(rows**2, axis=-1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(normalize(x), expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1.0],), "x must be a NumPy array of float32 or float64; got list"),
        ((np.ones((2, 3), int),), "got dtype int64"),
        ((np.ones((2, 0)),), r"D >= 1; got \(2, 0\)"),
        ((np.array(1.0),), r"D >= 1; got \(\)"),
        ((np.ones(3), -1e-5), "eps must be a finite number of 0 or more; got -1e-05"),
    ],
)
def test_refusals(arguments, message):
    with pytest.raises((TypeError, ValueError), match=message):
        normalize(*arguments)
