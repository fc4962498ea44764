"""LayerNorm against its definition in float64, and against finite differences."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from layerlab import gradient_check

from autograder.kernels.layernorm import layernorm_backward, layernorm_forward
from tests.strategies import activations, in_layout, layouts

TOLERANCE = {np.dtype(np.float32): 3e-6, np.dtype(np.float64): 1e-13}


def x_hat_and_jacobians(x, eps):
    """Normalize each row by the definition; dx_hat/dx of a row is a whole matrix here."""
    rows = x.astype(np.float64).reshape(-1, x.shape[-1])
    features = rows.shape[1]
    sigma = np.sqrt(rows.var(axis=1) + eps)
    x_hat = (rows - rows.mean(axis=1, keepdims=True)) / sigma[:, None]
    inner = np.eye(features) - 1 / features - x_hat[:, :, None] * x_hat[:, None, :] / features
    return x_hat, inner / sigma[:, None, None]


@given(activations(count=2), layouts, st.sampled_from([1e-5, 1e-3, 1.0]))
def test_both_passes_follow_the_definition(arrays, layout, eps):
    """Any shape, dtype and layout; the gradient by each row's full Jacobian."""
    x, dout = arrays
    dtype = x.dtype.type
    gamma, beta = np.random.default_rng(7).standard_normal((2, x.shape[-1])).astype(dtype)
    out, cache = layernorm_forward(x, in_layout(gamma, layout), beta, eps)
    dx, dgamma, dbeta = layernorm_backward(dout, cache)
    x_hat, jacobians = x_hat_and_jacobians(x, eps)
    upstream = dout.astype(np.float64).reshape(x_hat.shape)
    expected = {
        "out": (out, (gamma * x_hat + beta).reshape(x.shape)),
        "dx": (dx, np.einsum("nij,nj->ni", jacobians, upstream * gamma).reshape(x.shape)),
        "dgamma": (dgamma, (upstream * x_hat).sum(axis=0)),
        "dbeta": (dbeta, upstream.sum(axis=0)),
    }
    # Rounding in a row of small spread is amplified by 1 / sigma, at most 1 / sqrt(eps).
    atol = TOLERANCE[np.dtype(dtype)] * (1 + 20 * np.abs(jacobians).max(initial=0))
    for name, (got, want) in expected.items():
        assert got.dtype == dtype, name
        assert got.shape == want.shape, name
        np.testing.assert_allclose(got, want, rtol=0, atol=atol, err_msg=name)


def test_gradients_agree_with_finite_differences():
    rng = np.random.default_rng(1)
    x, dout = rng.standard_normal((2, 3, 2, 5))
    gamma, beta = rng.standard_normal((2, 5))
    dx, dgamma, dbeta = layernorm_backward(dout, layernorm_forward(x, gamma, beta)[1])
    gradient_check(lambda v: layernorm_forward(v, gamma, beta)[0], x, dout, dx, limit=1e-8)
    gradient_check(lambda v: layernorm_forward(x, v, beta)[0], gamma, dout, dgamma, limit=1e-8)
    gradient_check(lambda v: layernorm_forward(x, gamma, v)[0], beta, dout, dbeta, limit=1e-8)


@pytest.mark.parametrize("offset", [1e4, -3e5])
def test_float32_holds_far_from_zero(offset):
    """The error stays at rounding level, though float32 cannot hold these means exactly."""
    rng = np.random.default_rng(2)
    x = (rng.standard_normal((50, 768)) + offset).astype(np.float32)
    dout = rng.standard_normal(x.shape).astype(np.float32)
    ones, zeros = np.ones(768, np.float32), np.zeros(768, np.float32)
    out, cache = layernorm_forward(x, ones, zeros)
    x_hat, jacobians = x_hat_and_jacobians(x, 1e-5)
    np.testing.assert_allclose(out, x_hat, rtol=0, atol=2e-6)
    dx, dgamma, _ = layernorm_backward(dout, cache)
    np.testing.assert_allclose(dx, np.einsum("nij,nj->ni", jacobians, dout), rtol=0, atol=1e-5)
    np.testing.assert_allclose(dgamma, (dout * x_hat).sum(axis=0), rtol=0, atol=2e-5)


def test_an_outlier_in_front_does_not_spoil_the_rest():
    """A one-pass variance, or one shifted by the first entry, would lose digits here."""
    x = np.random.default_rng(3).standard_normal((1, 1000))
    x[0, 0] = 1e9
    out, _ = layernorm_forward(x, np.ones(1000), np.zeros(1000))
    np.testing.assert_allclose(out, x_hat_and_jacobians(x, 1e-5)[0], rtol=1e-9)


def test_a_constant_row_gives_beta():
    out, _ = layernorm_forward(np.full((2, 3), 5.0), np.ones(3), np.array([1.0, 2.0, 3.0]))
    np.testing.assert_array_equal(out, [[1.0, 2.0, 3.0]] * 2)
