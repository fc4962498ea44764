"""Regularization against plain NumPy, closed forms, and simulation."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.kernels import regularization as reg
from tests.strategies import float_dtypes, generators, in_layout, layouts


def enumerated(x, w, p):
    """All masks one by one, in float64."""
    x, w = x.astype(np.float64), w.astype(np.float64)
    linear, relu = np.zeros((2, w.shape[1]))
    for mask in product([0, 1], repeat=len(x)):
        share = math.prod(1 - p if kept else p for kept in mask)
        z = (np.array(mask) * x / (1 - p)) @ w
        linear, relu = linear + share * z, relu + share * np.maximum(z, 0)
    return linear, relu


@given(generators, float_dtypes, st.integers(1, 6), st.integers(1, 4), st.floats(0, 0.9), layouts)
def test_means_over_all_masks(rng, dtype, units, outputs, p, layout):
    x = in_layout(rng.standard_normal(units).astype(dtype), layout)
    w = in_layout(rng.standard_normal((units, outputs)).astype(dtype), layout)
    linear, relu = reg.thinned_means(x, w, p)
    assert linear.dtype == relu.dtype == dtype
    rtol = 1e-12 if dtype is np.float64 else 1e-5
    for got, expected in zip((linear, relu), enumerated(x, w, p)):
        np.testing.assert_allclose(got, expected, rtol=rtol, atol=rtol)


def test_what_the_exercise_says_about_the_means():
    """The linear mean is the full layer; the mean after a ReLU lies above the full layer's."""
    rng = np.random.default_rng(0)
    x, w = rng.standard_normal(12), rng.standard_normal((12, 5))
    linear, relu = reg.thinned_means(x, w, 0.5)
    np.testing.assert_allclose(linear, x @ w, atol=1e-12)
    # Jensen: the ReLU is convex.
    assert (relu > np.maximum(x @ w, 0)).all()
    masks = rng.random((20_000, 12)) >= 0.5
    drawn = np.maximum((masks * x / 0.5) @ w, 0)
    error = drawn.std(axis=0) / np.sqrt(len(drawn))
    assert (np.abs(drawn.mean(axis=0) - relu) < 5 * error).all()


@given(
    generators, float_dtypes, st.lists(st.integers(1, 4), max_size=3), st.integers(2, 9), layouts
)
def test_gap_is_that_of_the_sorted_rows(rng, dtype, leading, classes, layout):
    # Rounded numbers have ties.
    logits = in_layout(np.round(2 * rng.standard_normal((*leading, classes))).astype(dtype), layout)
    ranked = np.sort(logits, axis=-1)
    assert reg.top2_gap(logits) == pytest.approx(np.mean(ranked[..., -1] - ranked[..., -2]))


@given(generators, st.integers(1, 20), st.integers(1, 20), st.integers(0, 5))
def test_split_has_no_example_twice(rng, n_train, n_val, left_over):
    n = n_train + n_val + left_over
    train, val = reg.train_split(n, n_train, n_val, rng)
    assert (len(train), len(val)) == (n_train, n_val)
    both = set(train) | set(val)
    assert len(both) == n_train + n_val
    assert both <= set(range(n))


def test_every_pair_is_split_equally_often():
    """Each ordered pair of examples stands in (train, val) with probability 3 * 2 / (6 * 5)."""
    rng, counts, calls = np.random.default_rng(0), np.zeros((6, 6)), 3_000
    for _ in range(calls):
        train, val = reg.train_split(6, 3, 2, rng)
        counts[np.ix_(train, val)] += 1
    share = counts[~np.eye(6, dtype=bool)] / calls
    assert np.abs(share - 0.2).max() < 5 * np.sqrt(0.2 * 0.8 / calls)


@given(generators, float_dtypes, layouts)
def test_step_shrinks_what_has_two_axes_or_more(rng, dtype, layout):
    shapes = {"w": (3, 4), "b": (4,), "kernel": (2, 2, 3), "t": (1,)}
    params, grads = (
        {n: in_layout(rng.standard_normal(s).astype(dtype), layout) for n, s in shapes.items()}
        for _ in range(2)
    )
    before = {name: param.copy() for name, param in params.items()}
    moved = reg.decayed_step(params, grads, 0.1, 2.0)
    for name, param in params.items():
        np.testing.assert_array_equal(param, before[name])
        kept = 0.8 if len(shapes[name]) >= 2 else 1.0
        expected = kept * param.astype(np.float64) - 0.1 * grads[name]
        np.testing.assert_allclose(moved[name], expected, rtol=1e-5, atol=1e-6)
        assert moved[name].dtype == dtype


def test_step_is_that_of_torch():
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    params = {"w": rng.standard_normal((3, 4)), "b": rng.standard_normal(4)}
    grads = {name: rng.standard_normal(value.shape) for name, value in params.items()}
    tensors = {name: torch.nn.Parameter(torch.tensor(value)) for name, value in params.items()}
    groups = [{"params": [tensors["w"]], "weight_decay": 0.3}, {"params": [tensors["b"]]}]
    for name, tensor in tensors.items():
        tensor.grad = torch.tensor(grads[name])
    torch.optim.SGD(groups, lr=0.2).step()
    for name, moved in reg.decayed_step(params, grads, 0.2, 0.3).items():
        np.testing.assert_allclose(moved, tensors[name].detach().numpy(), rtol=1e-12)


def test_paired_difference_by_hand():
    """Differences 1, 2, 3 of three splits: mean 2, standard deviation 1."""
    mean, error = reg.paired_difference(np.array([5.0, 1, 3]), np.array([6.0, 3, 6]), 120, 80)
    assert mean == pytest.approx(2)
    assert error == pytest.approx(math.sqrt(1 / 3 + 80 / 120))


def test_the_corrected_error_is_about_right_where_the_usual_one_is_too_small():
    """Means of overlapping subsets of one sample: the spread of their mean over new samples.

    A split's result is the mean of `n_val` examples that it holds out. The mean over the splits
    then varies from data set to data set; its standard error should say by how much.
    """
    rng, splits, n_train, n_val = np.random.default_rng(0), 10, 60, 30
    means, corrected, usual = [], [], []
    for _ in range(300):
        data = rng.standard_normal(n_train + n_val)
        results = np.array(
            [data[reg.train_split(90, n_train, n_val, rng)[1]].mean() for _ in range(splits)]
        )
        mean, error = reg.paired_difference(np.zeros(splits), results, n_train, n_val)
        means.append(mean)
        corrected.append(error)
        usual.append(results.std(ddof=1) / np.sqrt(splits))
    actual = np.std(means)
    assert 0.8 < np.mean(corrected) / actual < 1.2
    assert np.mean(usual) / actual < 0.6


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: reg.thinned_means(np.ones(13), np.ones((13, 1)), 0.5), ValueError, "1 to 12"),
        (lambda: reg.thinned_means(np.ones(3), np.ones((2, 1)), 0.5), ValueError, "a row for each"),
        (lambda: reg.thinned_means(np.ones(3), np.ones((3, 1)), 1.0), ValueError, "0 <= p < 1"),
        (lambda: reg.top2_gap(np.ones((4, 1))), ValueError, "K >= 2"),
        (lambda: reg.top2_gap(np.ones((0, 3))), ValueError, "at least one row"),
        (lambda: reg.top2_gap([[1.0, 2.0]]), TypeError, "NumPy array"),
        (lambda: reg.train_split(5, 3, 3, np.random.default_rng(0)), ValueError, "at most n = 5"),
        (lambda: reg.train_split(5, 0, 3, np.random.default_rng(0)), ValueError, "at least 1"),
        (lambda: reg.train_split(5, 2, 3, 0), TypeError, "default_rng"),
        (lambda: reg.decayed_step({"w": np.ones(2)}, {}, 1, 0), ValueError, "not in both: w"),
        (lambda: reg.decayed_step({}, [], 1, 0), TypeError, "must be dicts"),
        (lambda: reg.decayed_step({}, {}, -1, 0), ValueError, "learning_rate"),
        (lambda: reg.paired_difference(np.ones(1), np.ones(1), 2, 1), ValueError, "got 1"),
        (lambda: reg.paired_difference(np.ones(3), np.ones(2), 2, 1), ValueError, "shape of a"),
        (lambda: reg.paired_difference(np.ones(3), np.ones(3), 2, 0), ValueError, "n_val"),
    ],
)
def test_what_cannot_be_computed_is_refused(call, error, words):
    with pytest.raises(error, match=words):
        call()
