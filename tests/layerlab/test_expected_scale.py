"""What theory expects, against known sizes and against the measured network."""

import numpy as np
import pytest
from layerlab.activation_scale import activation_scale, gradient_scale
from layerlab.activations import ACTIVATIONS, activate, slope
from layerlab.expected_scale import expected_scale
from layerlab.network_loops import NORMS

RELU, TANH, LINEAR, GELU = range(4)


def test_known_factors():
    """A linear layer multiplies by std * sqrt(width), ReLU by 1/sqrt(2) of that."""
    steps = np.arange(1, 21)
    for activation, factor in ((LINEAR, 1.2), (RELU, 1.2 / np.sqrt(2))):
        outputs, gradients = expected_scale(20, 100, 0.12, activation, 0)
        np.testing.assert_allclose(outputs, factor**steps, rtol=1e-5)
        np.testing.assert_allclose(gradients, factor ** (20.0 - steps), rtol=1e-5)


@pytest.mark.parametrize("activation", ["relu", "tanh", "gelu"])
@pytest.mark.parametrize("norm", NORMS)
def test_a_wide_network_follows_the_expectation(activation, norm):
    codes = ACTIVATIONS.index(activation), NORMS.index(norm)
    for std in (0.05, 0.2):
        outputs, gradients = expected_scale(6, 256, std, *codes)
        network = 6, 256, 64, std, activation, norm
        np.testing.assert_allclose(activation_scale(*network), outputs, rtol=0.2)
        np.testing.assert_allclose(gradient_scale(*network), gradients, rtol=0.3)


def test_activations_and_slopes():
    x = np.concatenate([np.linspace(-12, 12, 2401), [1e30, -1e30]])
    inner = np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)
    with np.errstate(over="ignore"):
        expected = {TANH: np.tanh(x), GELU: 0.5 * x * (1 + np.tanh(inner)), RELU: np.maximum(x, 0)}
    for code, values in expected.items():
        got = np.array([activate(value, code) for value in x])
        np.testing.assert_allclose(got, values, rtol=1e-7, atol=1e-7)
        near = x[:-2] + 1e-6  # away from the kink
        slopes = [slope(value, code) for value in near]
        by_difference = [
            (activate(value + 1e-7, code) - activate(value - 1e-7, code)) / 2e-7 for value in near
        ]
        np.testing.assert_allclose(slopes, by_difference, atol=1e-5)


@pytest.mark.parametrize("code", range(4))
def test_nan_stays_nan(code):
    assert np.isnan(activate(np.nan, code))
    assert code == LINEAR or np.isnan(slope(np.nan, code))


def test_absurd_scales_end_in_infinity_or_zero():
    outputs, _ = expected_scale(60, 64, 1e30, RELU, 0)
    assert outputs[-1] == np.inf
    outputs, _ = expected_scale(60, 64, 0.0, RELU, 0)
    assert outputs[-1] == 0
