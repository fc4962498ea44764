"""The gradient check against slopes that are known, and against mistakes of known size."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from layerlab import gradient_check

from autograder.kernels.gradcheck import gradcheck, gradient_error, numerical_gradient
from autograder.kernels.layernorm import layernorm_backward, layernorm_forward


def softmax(x):
    shifted = np.exp(x - x.max(-1, keepdims=True))
    return shifted / shifted.sum(-1, keepdims=True)


@pytest.mark.parametrize("shape", [(), (4,), (2, 3), (2, 1, 3), (0, 3)])
def test_slopes_of_known_functions(shape):
    rng = np.random.default_rng(0)
    x, dout = rng.normal(size=shape), rng.normal(size=shape)
    for function, slope in ((np.sin, np.cos), (np.exp, np.exp), (lambda x: 0 * x, lambda x: 0 * x)):
        got = numerical_gradient(function, x, dout)
        assert got.dtype == np.float64
        np.testing.assert_allclose(got, slope(x) * dout, atol=1e-9)


def test_an_output_of_another_shape():
    rng = np.random.default_rng(1)
    x, dout, weight = rng.normal(size=(2, 3)), rng.normal(size=(2, 4)), rng.normal(size=(3, 4))
    got = numerical_gradient(lambda x: x @ weight, x, dout)
    np.testing.assert_allclose(got, dout @ weight.T, atol=1e-9)
    got = numerical_gradient(softmax, x, dout[:, :3])
    out = softmax(x)
    right = out * (dout[:, :3] - (out * dout[:, :3]).sum(-1, keepdims=True))
    np.testing.assert_allclose(got, right, atol=1e-9)


def test_the_step_is_the_distance_to_each_side():
    got = numerical_gradient(lambda x: x**3, np.array([2.0]), np.ones(1), step=0.1)
    np.testing.assert_allclose(got, [12.01], rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.int64, np.int8, np.float32])
def test_other_numbers_are_measured_in_float64(dtype):
    x = np.array([[1, 2], [3, -4]], dtype)
    got = numerical_gradient(lambda x: x**2, x, np.ones((2, 2), dtype))
    np.testing.assert_allclose(got, 2.0 * x, rtol=1e-9)


def test_neither_arguments_nor_results_are_shared_with_the_function():
    """A function may return its argument, or change it."""
    x, dout = np.arange(6.0).reshape(2, 3), np.ones((2, 3))
    kept = x.copy()
    np.testing.assert_allclose(numerical_gradient(lambda x: x, x, dout), dout, rtol=1e-9)

    def spoil(x):
        out = x**2
        x[...] = np.nan
        return out

    np.testing.assert_allclose(numerical_gradient(spoil, x, dout), 2 * kept, atol=1e-9)
    np.testing.assert_array_equal(x, kept)


@given(
    st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=8),
    st.floats(1e-3, 1e3),
    st.floats(-3, 3),
)
@settings(max_examples=80, deadline=None)
def test_the_error_of_a_scaled_gradient_is_the_scale(entries, size, factor):
    numeric = np.array(entries) * size
    largest = np.abs(numeric).max()
    error = gradient_error(factor * numeric, numeric)
    if largest < 1e-7:
        assert error <= abs(factor - 1) * 1e-7
    else:
        assert error == pytest.approx(abs(factor - 1), abs=1e-12)


def test_the_error_is_that_of_the_worst_entry_or_absolute_near_zero():
    numeric = np.array([[1.0, -2.0], [0.0, 1e-9]])
    analytic = numeric + np.array([[0.0, 0.3], [-0.5, 0.0]])
    assert gradient_error(analytic, numeric) == pytest.approx(0.25)
    assert gradient_error(np.full(3, 1e-3), np.full(3, 9e-8)) == pytest.approx(1e-3 - 9e-8)
    assert gradient_error(np.zeros(3), np.zeros(3)) == 0
    assert np.isnan(gradient_error(np.array([np.nan, 1.0]), np.ones(2)))
    assert gradient_error(np.array([np.inf, 1.0]), np.ones(2)) == np.inf


def layer():
    rng = np.random.default_rng(3)
    gamma, beta = rng.uniform(0.5, 1.5, size=(2, 5))
    return rng.normal(1.0, 2.0, size=(2, 2, 5)), lambda x: layernorm_forward(x, gamma, beta)


def test_a_right_layer_passes_and_agrees_with_the_public_check():
    x, forward = layer()
    error = gradcheck(
        forward, lambda d, c: layernorm_backward(d, c)[0], x, np.random.default_rng(0)
    )
    assert error < 1e-8
    out, cache = forward(x)
    dout = np.random.default_rng(0).standard_normal(out.shape)
    dx = layernorm_backward(dout, cache)[0]
    assert gradient_check(lambda x: forward(x)[0], x, dout, dx) == pytest.approx(error, rel=1e-2)


@pytest.mark.parametrize("factor", [0.0, -1.0, 1.001, 2.0])
def test_a_wrong_layer_is_caught_with_the_size_of_its_mistake(factor):
    x, forward = layer()
    wrong = lambda dout, cache: factor * layernorm_backward(dout, cache)[0]  # noqa: E731
    error = gradcheck(forward, wrong, x, np.random.default_rng(0))
    assert error == pytest.approx(abs(factor - 1), rel=1e-4)


def test_dout_is_drawn_from_the_generator_that_is_given():
    douts = []

    def backward(dout, cache):
        douts.append(dout)
        return dout

    for seed in (1, 1, 2):
        rng = np.random.default_rng(seed)
        gradcheck(lambda x: (x.copy(), None), backward, np.zeros((20, 30)), rng)
    np.testing.assert_array_equal(douts[0], douts[1])
    assert not np.array_equal(douts[0], douts[2])
    assert abs(douts[0].mean()) < 5 / np.sqrt(600)
    assert abs(douts[0].std() - 1) < 5 / np.sqrt(1200)


X = np.ones((2, 3))
REFUSED = [
    (lambda: numerical_gradient(np.sin, [1.0], X), "x must be a NumPy array; got list"),
    (lambda: numerical_gradient(np.sin, X, X[0]), r"dout must have the shape of function\(x\)"),
    (lambda: numerical_gradient(np.sin, X > 0, X), "x must hold real numbers; got dtype bool"),
    (lambda: numerical_gradient(np.sin, X, X, 0), "step must be more than 0; got 0"),
    (lambda: numerical_gradient(np.sin, X, X, -1e-5), "step must be a finite number of 0 or more"),
    (lambda: numerical_gradient(np.sin, X, X, "1"), "step must be a number; got str"),
    (lambda: gradient_error(X, X[0]), r"analytic must have the shape of numeric, \(3,\)"),
    (lambda: gradient_error(X[:0], X[:0]), "at least one entry"),
    (lambda: gradient_error(1.0, X), "analytic must be a NumPy array; got float"),
    (lambda: gradcheck(None, None, X, 0), "rng must be a np.random.Generator; got int"),
    (
        lambda: gradcheck(lambda x: (x, 0), lambda d, c: d[0], X, np.random.default_rng(0)),
        r"analytic must have the shape of numeric, \(2, 3\)",
    ),
]


@pytest.mark.parametrize(("wrong", "words"), REFUSED)
def test_bad_arguments_are_refused_in_words(wrong, words):
    with pytest.raises((TypeError, ValueError), match=words):
        wrong()


def test_torch_measures_the_same_slopes():
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(5)
    x, dout = rng.normal(size=(3, 4)), rng.normal(size=(3, 4))
    leaf = torch.tensor(x, requires_grad=True)
    (torch.nn.functional.gelu(leaf, approximate="tanh") * torch.tensor(dout)).sum().backward()

    def gelu(x):
        return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))

    np.testing.assert_allclose(numerical_gradient(gelu, x, dout), leaf.grad.numpy(), atol=1e-9)
