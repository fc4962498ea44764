"""RMSNorm against its definition in float64, and against finite differences."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from layerlab import gradient_check

from autograder.kernels.rmsnorm import rmsnorm_backward, rmsnorm_forward
from tests.strategies import activations, in_layout, layouts

TOLERANCE = {np.dtype(np.float32): 3e-6, np.dtype(np.float64): 1e-13}


@given(activations(count=2), layouts, st.sampled_from([1e-5, 1e-3, 1.0]))
def test_both_passes_follow_the_definition(arrays, layout, eps):
    """Any shape, dtype and layout; the gradient by each row's full Jacobian."""
    x, dout = arrays
    dtype = x.dtype.type
    gamma = np.random.default_rng(7).standard_normal(x.shape[-1]).astype(dtype)
    out, cache = rmsnorm_forward(x, in_layout(gamma, layout), eps)
    dx, dgamma = rmsnorm_backward(dout, cache)
    rows = x.astype(np.float64).reshape(-1, x.shape[-1])
    upstream = dout.astype(np.float64).reshape(rows.shape)
    size = np.sqrt(np.mean(rows**2, axis=1, keepdims=True) + eps)
    x_hat = rows / size
    outer = x_hat[:, :, None] * x_hat[:, None, :] / rows.shape[1]
    jacobians = (np.eye(rows.shape[1]) - outer) / size[:, :, None]
    expected = {
        "out": (out, (gamma * x_hat).reshape(x.shape)),
        "dx": (dx, np.einsum("nij,nj->ni", jacobians, upstream * gamma).reshape(x.shape)),
        "dgamma": (dgamma, (upstream * x_hat).sum(axis=0)),
    }
    atol = TOLERANCE[np.dtype(dtype)] * (1 + 20 * np.abs(jacobians).max(initial=0))
    for name, (got, want) in expected.items():
        assert got.dtype == dtype, name
        assert got.shape == want.shape, name
        np.testing.assert_allclose(got, want, rtol=0, atol=atol, err_msg=name)


def test_gradients_agree_with_finite_differences():
    rng = np.random.default_rng(1)
    x, dout = rng.standard_normal((2, 3, 2, 5)) + 0.5
    gamma = rng.standard_normal(5)
    dx, dgamma = rmsnorm_backward(dout, rmsnorm_forward(x, gamma)[1])
    gradient_check(lambda v: rmsnorm_forward(v, gamma)[0], x, dout, dx, limit=1e-8)
    gradient_check(lambda v: rmsnorm_forward(x, v)[0], gamma, dout, dgamma, limit=1e-8)


def test_a_row_of_zeros_gives_zeros():
    out, _ = rmsnorm_forward(np.zeros((2, 3)), np.ones(3))
    np.testing.assert_array_equal(out, np.zeros((2, 3)))


def test_float32_squares_do_not_overflow():
    """The sum of squares of 1e30 is beyond float32, so it is taken in float64."""
    out, _ = rmsnorm_forward(np.full((1, 4), 1e30, np.float32), np.ones(4, np.float32))
    np.testing.assert_allclose(out, np.ones((1, 4)), rtol=1e-6)
