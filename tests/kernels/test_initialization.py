"""Initialization: spread, shape of the distribution, and the rule by name."""

import numpy as np
import pytest

from autograder.kernels import initialization as init

FAN_IN, FAN_OUT = 256, 1024
STD = {
    "xavier_normal": np.sqrt(2 / (FAN_IN + FAN_OUT)),
    "xavier_uniform": np.sqrt(2 / (FAN_IN + FAN_OUT)),
    "he_normal": np.sqrt(2 / FAN_IN),
    "he_uniform": np.sqrt(2 / FAN_IN),
    "gpt2_normal": 0.02,
}


def assert_spread(weights, std):
    """Check that standard deviation and mean lie within five standard errors."""
    n = weights.size
    assert abs(weights.std() / std - 1) < 5 / np.sqrt(2 * n)
    assert abs(weights.mean()) < 5 * std / np.sqrt(n)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", STD)
def test_spread_and_distribution(name, dtype):
    weights = getattr(init, name)(FAN_IN, FAN_OUT, np.random.default_rng(0), dtype=dtype)
    assert weights.shape == (FAN_IN, FAN_OUT)
    assert weights.dtype == dtype
    assert_spread(weights, STD[name])
    # The fourth moment tells the two apart: 9/5 for uniform, 3 for normal, standard error .01.
    kurtosis = np.mean(weights.astype(np.float64) ** 4) / STD[name] ** 4
    assert abs(kurtosis - (9 / 5 if "uniform" in name else 3)) < 0.1
    if "uniform" in name:
        assert np.abs(weights).max() <= np.sqrt(3) * STD[name] * (1 + 1e-6)


@pytest.mark.parametrize("n_layer", [1, 2, 12])
def test_residual_projections_are_scaled_by_depth(n_layer):
    weights = init.gpt2_residual(FAN_IN, FAN_OUT, n_layer, np.random.default_rng(0))
    assert_spread(weights, 0.02 / np.sqrt(2 * n_layer))


def test_gpt2_rule_by_name():
    shapes = {
        "wte.weight": (500, 256),
        "h.0.ln_1.weight": (256,),
        "h.0.attn.c_attn.weight": (256, 768),
        "h.0.attn.c_attn.bias": (768,),
        "h.0.attn.c_proj.weight": (256, 256),
        "h.0.mlp.c_proj.weight": (1024, 256),
        "h.0.mlp.c_proj.bias": (256,),
    }
    parameters = init.gpt2_init(shapes, 12, np.random.default_rng(0))
    assert {name: value.shape for name, value in parameters.items()} == shapes
    for name, value in parameters.items():
        if name.endswith(".bias"):
            np.testing.assert_array_equal(value, 0)
        elif value.ndim == 1:
            np.testing.assert_array_equal(value, 1)
        else:
            assert_spread(value, 0.02 / np.sqrt(24) if "c_proj" in name else 0.02)
