"""Signal and scale: kernels against plain NumPy, finite differences and what must hold exactly."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from layerlab import gradient_check

from autograder.kernels.layernorm import layernorm_forward
from autograder.kernels.rmsnorm import rmsnorm_forward
from autograder.kernels.scale_free import effective_rate, split_gradient, weight_growth
from autograder.kernels.signal import NORMS, activation_scale, gradient_scale

WIDTHS = (5, 9, 8, 7)
each_norm = pytest.mark.parametrize("norm", NORMS)


def network(seed=0, rows=4, size=1.0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    weights = [size * rng.standard_normal(shape).astype(dtype) for shape in pairwise(WIDTHS)]
    x, dout = rng.standard_normal((rows, WIDTHS[0])), rng.standard_normal((rows, WIDTHS[-1]))
    return x.astype(dtype), weights, dout.astype(dtype)


def normed(z, norm):
    ones = np.ones(z.shape[-1], z.dtype)
    if norm == "none":
        return z
    if norm == "layernorm":
        return layernorm_forward(z, ones, 0 * ones)[0]
    return rmsnorm_forward(z, ones)[0]


@given(
    st.integers(0, 1000),
    st.integers(1, 5),
    st.sampled_from(NORMS),
    st.sampled_from([1.0, 1e-3]),
    st.sampled_from([(np.float32, 1e-5), (np.float64, 1e-12)]),
)
def test_sizes_follow_the_definition(seed, rows, norm, size, precision):
    dtype, rtol = precision
    x, weights, _ = network(seed, rows, size, dtype)
    out, scales, _ = activation_scale(x, weights, norm)
    h, expected = x.astype(np.float64), []
    for w in weights:
        h = np.maximum(normed(h @ w.astype(np.float64), norm), 0)
        expected.append(np.sqrt(np.mean(h**2)))
    np.testing.assert_allclose(scales, expected, rtol=10 * rtol)
    np.testing.assert_allclose(out, h, rtol=0, atol=10 * rtol * max(1e-12, np.abs(h).max()))
    assert out.dtype == dtype


@each_norm
def test_gradients_agree_with_finite_differences(norm):
    x, weights, dout = network(3)
    dx, dweights, scales = gradient_scale(dout, activation_scale(x, weights, norm)[2])
    gradient_check(lambda v: activation_scale(v, weights, norm)[0], x, dout, dx, limit=1e-7)
    for place, (w, dw) in enumerate(zip(weights, dweights, strict=True)):
        rest = weights[:place], weights[place + 1 :]

        def out_of(w, rest=rest):
            return activation_scale(x, [*rest[0], w, *rest[1]], norm)[0]

        gradient_check(out_of, w, dout, dw, limit=1e-7)
        # The gradient at the input of this layer is the gradient on x of the layers above.
        h = activation_scale(x, rest[0], norm)[0] if place else x
        above = activation_scale(h, weights[place:], norm)[2]
        arriving = gradient_scale(dout, above)[0]
        np.testing.assert_allclose(scales[place], np.sqrt(np.mean(arriving**2)), rtol=1e-12)


@pytest.mark.parametrize("norm", ["layernorm", "rmsnorm"])
def test_behind_a_norm_the_scale_of_the_weights_is_only_in_their_gradients(norm):
    """A hundredfold start, where eps no longer counts: the same sizes, dW a hundredth, across W."""
    x, weights, dout = network(4, size=1e3)
    large = [100 * w for w in weights]
    (_, sizes, one), (_, sizes_large, other) = (
        activation_scale(x, ws, norm) for ws in (weights, large)
    )
    np.testing.assert_allclose(sizes_large, sizes, rtol=1e-10)
    (_, dws, back), (_, dws_large, back_large) = (gradient_scale(dout, c) for c in (one, other))
    np.testing.assert_allclose(back_large, back, rtol=1e-7)
    for w, dw, dw_large in zip(weights, dws, dws_large, strict=True):
        np.testing.assert_allclose(100 * dw_large, dw, rtol=0, atol=1e-6 * np.abs(dw).max())
        along, across = split_gradient(w, dw)
        assert np.linalg.norm(along) < 1e-6 * np.linalg.norm(across)
        growth = weight_growth(w, dw, 1e3, 0.0)
        expected = 1 + 1e6 * np.sum(dw**2) / np.sum(w**2)
        assert growth == pytest.approx(expected, rel=1e-9)


@given(st.integers(0, 1000), st.sampled_from([(3,), (2, 5), (2, 3, 4), ()]))
def test_the_two_parts_of_a_gradient(seed, shape):
    rng = np.random.default_rng(seed)
    weight, gradient = rng.standard_normal((2, *shape))
    along, across = split_gradient(np.asarray(weight), np.asarray(gradient))
    np.testing.assert_allclose(along + across, gradient, rtol=1e-9, atol=1e-12)
    assert abs(np.sum(weight * across)) < 1e-9
    cosine_free = np.sum(along**2) * np.sum(weight**2) - np.sum(along * weight) ** 2
    assert abs(cosine_free) < 1e-9


def test_rate_and_growth_by_hand():
    weight, across = np.diag([3.0, 4.0]), np.array([[1.6, 2.0], [0.0, -1.2]])
    assert effective_rate(weight, 0.5) == 0.02
    assert weight_growth(weight, across, 0.5, 0.0) == pytest.approx(1.08)
    assert weight_growth(weight, across, 0.5, 0.2) == pytest.approx(0.89)
    assert weight_growth(weight, weight, 0.5, 0.2) == pytest.approx(0.4**2)


X, W, D = network()
CACHE = activation_scale(X, W, "none")[2]


@pytest.mark.parametrize(
    ("refused", "words"),
    [
        (lambda: activation_scale(X, W, "batchnorm"), "norm must be one of none, layernorm"),
        (lambda: activation_scale(X, [], "none"), "a list of at least one matrix"),
        (lambda: activation_scale(X, W[1:], "none"), "a row for each of the 5 features"),
        (lambda: activation_scale(X[:0], W, "none"), "x must have entries"),
        (lambda: activation_scale(X[0], W, "none"), "x must have 2 axes"),
        (lambda: activation_scale(X, [W[0], None], "none"), "weights\\[1\\] must be a NumPy array"),
        (lambda: gradient_scale(X, CACHE), "shape of the last output, \\(4, 7\\)"),
        (lambda: gradient_scale(D, None), "what activation_scale returned third"),
        (lambda: effective_rate(np.zeros((2, 2)), 0.1), "weight must not be 0 everywhere"),
        (lambda: effective_rate(X, -0.1), "learning_rate must be a finite number of 0 or more"),
        (lambda: split_gradient(X, D), "gradient must have the shape of weight"),
        (lambda: weight_growth(X, X, 0.1, np.nan), "weight_decay must be a finite number"),
    ],
)
def test_what_does_not_fit_is_refused(refused, words):
    with pytest.raises((TypeError, ValueError), match=words):
        refused()


def test_inputs_stay_as_they_were():
    x, weights, dout = network(6)
    kept = [array.copy() for array in (x, dout, *weights)]
    gradient_scale(dout, activation_scale(x, weights, "layernorm")[2])
    for array, before in zip((x, dout, *weights), kept, strict=True):
        np.testing.assert_array_equal(array, before)
