"""The gradient checker accepts right gradients, refuses wrong ones, and says where."""

import numpy as np
import pytest
from layerlab import gradient_check, numerical_gradient, relative_error


def cube(x):
    return x**3


def test_a_right_gradient_passes_far_below_the_limit():
    x, dout = np.random.default_rng(0).standard_normal((2, 4, 3))
    assert gradient_check(cube, x, dout, 3 * x**2 * dout) < 1e-8


def test_x_is_put_back_exactly_even_when_f_raises():
    x = np.random.default_rng(0).standard_normal((4, 3)) * 1e3
    before = x.copy()
    numerical_gradient(cube, x, np.ones((4, 3)))
    np.testing.assert_array_equal(x, before)
    calls = iter([0.0] * 2)
    with pytest.raises(StopIteration):
        numerical_gradient(lambda v: next(calls), x, 0.0)
    np.testing.assert_array_equal(x, before)


@pytest.mark.parametrize("f", [lambda v: v, lambda v: v.T, lambda v: v[:1, 1:]])
def test_f_may_return_x_itself_or_a_view(f):
    x = np.random.default_rng(0).standard_normal((3, 3))
    dout = np.random.default_rng(1).standard_normal(f(x).shape)
    expected = np.zeros((3, 3))
    f(expected)[...] = dout  # each of these is a view, so this puts dout where it belongs
    np.testing.assert_allclose(numerical_gradient(f, x, dout), expected, atol=1e-9)


def test_the_output_may_have_another_shape():
    """The gradient of w in x @ w is x.T @ dout."""
    rng = np.random.default_rng(0)
    x, w, dout = (
        rng.standard_normal((5, 3)),
        rng.standard_normal((3, 2)),
        rng.standard_normal((5, 2)),
    )
    gradient_check(lambda w: x @ w, w, dout, x.T @ dout)


def test_one_wrong_entry_in_a_hundred_is_found_and_shown():
    x, dout = np.random.default_rng(0).standard_normal((2, 10, 10))
    got = 3 * x**2 * dout
    got[6, 2] += 0.001 * np.abs(got).max()
    with pytest.raises(AssertionError) as caught:
        gradient_check(cube, x, dout, got, name="dgamma")
    message = str(caught.value)
    assert message.startswith(
        "gradient_check: dgamma differs from the finite differences by 1.00e-03"
    )
    assert "the limit is 1e-06. Furthest off is dgamma[6, 2]: yours" in message
    assert f"{got[6, 2]:.6g}" in message


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_an_entry_that_is_not_finite_is_refused_and_shown(bad):
    x, dout = np.random.default_rng(0).standard_normal((2, 2, 3))
    got = 3 * x**2 * dout
    got[1, 1] = bad
    with pytest.raises(AssertionError, match=rf"dx\[1, 1\]: yours {bad}"):
        gradient_check(cube, x, dout, got)


def test_entries_whose_gradient_is_zero_do_not_refuse_a_right_answer():
    """Entry by entry, rounding of 1e-12 divided by 0 would be an error of infinity."""
    x = np.array([-1.0, 2.0, -3.0])
    relu = gradient_check(lambda v: np.maximum(v, 0), x, np.ones(3), np.array([0.0, 1.0, 0.0]))
    assert relu < 1e-9
    assert gradient_check(lambda v: v * 0, x, np.ones(3), np.full(3, 1e-9)) == 1e-9


def test_a_small_gradient_is_judged_by_its_own_size():
    """An absolute limit would let a gradient pass that is wrong by a factor of two."""
    x, dout = np.array([1.0, 2.0]), np.array([1e-5, 1e-5])
    with pytest.raises(AssertionError):
        gradient_check(cube, x, dout, 6 * x**2 * dout)


def test_relative_error():
    assert relative_error([1.0, 2.0], [1.0, 4.0]) == 0.5
    assert relative_error(np.zeros((0, 3)), np.zeros((0, 3))) == 0.0
    assert np.isnan(relative_error([np.nan], [1.0]))
    with pytest.raises(ValueError, match=r"shape of expected, \(2,\); got \(2, 1\)"):
        relative_error(np.ones((2, 1)), np.ones(2))


@pytest.mark.parametrize(
    ("x", "dout", "step", "message"),
    [
        (
            np.ones(3, np.float32),
            np.ones(3),
            1e-5,
            "x must be a NumPy array of float64; got dtype f",
        ),
        (np.ones(3, int), np.ones(3), 1e-5, "got dtype int64"),
        ([1.0], np.ones(1), 1e-5, "got list"),
        (np.ones(3), np.ones(4), 1e-5, r"shape of f\(x\), which is \(3,\); got \(4,\)"),
        (np.ones(3), np.ones(3), 0, "step must be positive; got 0"),
    ],
)
def test_refusals(x, dout, step, message):
    with pytest.raises((TypeError, ValueError), match=message):
        numerical_gradient(cube, x, dout, step)


def test_a_gradient_of_the_wrong_shape_is_refused():
    with pytest.raises(AssertionError, match=r"dx must have the shape .* \(2, 3\); got \(3,\)"):
        gradient_check(cube, np.ones((2, 3)), np.ones((2, 3)), np.ones(3))
