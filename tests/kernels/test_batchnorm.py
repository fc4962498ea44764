"""BatchNorm against its definition in float64, and against finite differences."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from layerlab import gradient_check

from autograder.kernels.batchnorm import batchnorm_backward, batchnorm_forward
from tests.strategies import activations, in_layout, layouts

TOLERANCE = {np.dtype(np.float32): 3e-6, np.dtype(np.float64): 1e-13}
MODES = pytest.mark.parametrize("training", [True, False])


def parameters(features, dtype=np.float64, seed=7):
    """Draw gamma, beta, running_mean and running_var."""
    rng = np.random.default_rng(seed)
    gamma, beta, mean = rng.standard_normal((3, features))
    return [part.astype(dtype) for part in (gamma, beta, mean, rng.uniform(0.5, 3, features))]


def jacobians(x, eps):
    """Normalize each column by the definition; its dx_hat/dx is a whole matrix here."""
    columns = x.astype(np.float64).reshape(-1, x.shape[-1]).T
    count = columns.shape[1]
    sigma = np.sqrt(columns.var(axis=1) + eps)
    x_hat = (columns - columns.mean(axis=1, keepdims=True)) / sigma[:, None]
    inner = np.eye(count) - 1 / count - x_hat[:, :, None] * x_hat[:, None, :] / count
    return x_hat.T, inner / sigma[:, None, None]


@given(activations(count=2), layouts, st.sampled_from([1e-5, 1e-3, 1.0]), st.floats(0, 1))
def test_training_follows_the_definition(arrays, layout, eps, momentum):
    """Any shape, dtype and layout; the gradient by each column's full Jacobian."""
    x, dout = arrays
    features = x.shape[-1]
    assume(x.size // features >= 2)
    dtype = x.dtype.type
    gamma, beta, mean, var = parameters(features, dtype)
    out, cache, new_mean, new_var = batchnorm_forward(
        x, in_layout(gamma, layout), beta, mean, in_layout(var, layout), True, momentum, eps
    )
    dx, dgamma, dbeta = batchnorm_backward(dout, cache)
    x_hat, by_column = jacobians(x, eps)
    rows, upstream = (part.astype(np.float64).reshape(x_hat.shape) for part in (x, dout))
    expected = {
        "out": (out, (gamma * x_hat + beta).reshape(x.shape)),
        "running_mean": (new_mean, (1 - momentum) * mean + momentum * rows.mean(axis=0)),
        "running_var": (new_var, (1 - momentum) * var + momentum * rows.var(axis=0, ddof=1)),
        "dx": (dx, np.einsum("dnm,nd->md", by_column, upstream * gamma).reshape(x.shape)),
        "dgamma": (dgamma, (upstream * x_hat).sum(axis=0)),
        "dbeta": (dbeta, upstream.sum(axis=0)),
    }
    # Rounding in a column of small spread is amplified by 1 / sigma, at most 1 / sqrt(eps).
    atol = TOLERANCE[np.dtype(dtype)] * (1 + 20 * np.abs(by_column).max(initial=0))
    for name, (got, want) in expected.items():
        assert got.dtype == dtype, name
        assert got.shape == want.shape, name
        np.testing.assert_allclose(got, want, rtol=0, atol=atol, err_msg=name)


@given(activations(), layouts)
def test_in_use_the_running_values_count(arrays, layout):
    """Any shape, an empty batch and a single vector included."""
    (x,) = arrays
    gamma, beta, mean, var = parameters(x.shape[-1], x.dtype.type)
    out, cache, *running = batchnorm_forward(x, gamma, beta, mean, in_layout(var, layout), False)
    expected = gamma * (x.astype(np.float64) - mean) / np.sqrt(var + 1e-5) + beta
    np.testing.assert_allclose(out, expected, rtol=0, atol=3 * TOLERANCE[out.dtype])
    assert out.dtype.type is x.dtype.type
    assert out.shape == x.shape
    assert cache is None
    for got, given_ in zip(running, (mean, var)):
        np.testing.assert_array_equal(got, given_)


def test_gradients_agree_with_finite_differences():
    rng = np.random.default_rng(1)
    x, dout = rng.standard_normal((2, 3, 2, 4))
    gamma, beta, *running = parameters(4)
    cache = batchnorm_forward(x, gamma, beta, *running, True)[1]
    right = dict(zip(("x", "gamma", "beta"), batchnorm_backward(dout, cache)))
    given_ = {"x": x, "gamma": gamma, "beta": beta}
    for name, gradient in right.items():

        def moved(value, name=name):
            return batchnorm_forward(*(given_ | {name: value}).values(), *running, True)[0]

        gradient_check(moved, given_[name], dout, gradient, limit=1e-8)


@pytest.mark.parametrize("offset", [1e4, -3e5])
def test_float32_holds_far_from_zero(offset):
    """The error stays at rounding level, though float32 cannot hold these means exactly."""
    rng = np.random.default_rng(2)
    x = (rng.standard_normal((400, 50)) + offset).astype(np.float32)
    dout = rng.standard_normal(x.shape).astype(np.float32)
    ones, zeros = np.ones(50, np.float32), np.zeros(50, np.float32)
    out, cache, mean, var = batchnorm_forward(x, ones, zeros, zeros, ones, True, momentum=1.0)
    x_hat, by_column = jacobians(x, 1e-5)
    np.testing.assert_allclose(out, x_hat, rtol=0, atol=2e-6)
    np.testing.assert_allclose(var, x.astype(np.float64).var(axis=0, ddof=1), rtol=1e-6)
    np.testing.assert_allclose(mean, x.astype(np.float64).mean(axis=0), rtol=1e-7)
    dx, dgamma, _ = batchnorm_backward(dout, cache)
    np.testing.assert_allclose(dx, np.einsum("dnm,nd->md", by_column, dout), rtol=0, atol=1e-5)
    np.testing.assert_allclose(dgamma, (dout * x_hat).sum(axis=0), rtol=0, atol=2e-5)


@pytest.mark.parametrize("place", [0, 128, 999])
def test_an_outlier_does_not_spoil_the_rest(place):
    """In front of the batch, in front of a chunk of rows, and last."""
    x = np.random.default_rng(3).standard_normal((1000, 1))
    x[place] = 1e9
    out = batchnorm_forward(x, *parameters(1)[:2], np.zeros(1), np.ones(1), True)[0]
    gamma, beta = parameters(1)[:2]
    centred = x - x.mean()
    np.testing.assert_allclose(out, gamma * centred / np.sqrt(x.var() + 1e-5) + beta, rtol=1e-9)


@MODES
def test_a_diverged_column_shows_and_leaves_the_others_alone(training):
    """The compiler flags must not assume that NaN and infinity do not occur."""
    x = np.random.default_rng(5).standard_normal((300, 6)).astype(np.float32)
    given_ = parameters(6, np.float32)
    expected = batchnorm_forward(x, *given_, training)
    for bad in (np.nan, np.inf, -np.inf):
        x[7, 2] = bad
        out, cache, *running = batchnorm_forward(x, *given_, training)
        if training:
            dx, dgamma, _ = batchnorm_backward(np.ones_like(x), cache)
            assert np.isnan(out[:, 2]).all()
            assert not np.isfinite([part[2] for part in running]).any()
            assert np.isnan(dx[:, 2]).all()
            assert np.isnan(dgamma[2])
        for got, want in zip((out, *running), (expected[0], *expected[2:])):
            np.testing.assert_array_equal(np.delete(got, 2, -1), np.delete(want, 2, -1))
        assert not np.isfinite(out[7, 2])


@MODES
def test_running_arrays_stay_as_they_were(training):
    given_ = parameters(5)
    before = [part.copy() for part in given_]
    x = np.random.default_rng(6).standard_normal((4, 5))
    batchnorm_forward(x, *given_, training, momentum=1.0)
    for part, kept in zip(given_, before):
        np.testing.assert_array_equal(part, kept)


def test_a_constant_column_gives_beta():
    out = batchnorm_forward(np.full((4, 3), 5.0), *parameters(3), True)[0]
    np.testing.assert_array_equal(out, [parameters(3)[1]] * 4)


def test_each_column_of_dx_adds_up_to_zero():
    """A bias in front of the layer moves nothing."""
    x, dout = np.random.default_rng(8).standard_normal((2, 300, 7))
    dx = batchnorm_backward(dout, batchnorm_forward(x, *parameters(7), True)[1])[0]
    np.testing.assert_allclose(dx.sum(axis=0), 0, atol=1e-12)
