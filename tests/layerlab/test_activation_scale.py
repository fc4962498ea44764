"""The simulation of activation sizes against plain matrix products in float64."""

import numpy as np
import pytest
from layerlab import activation_scale

ACTIVATIONS = {
    "relu": lambda z: np.maximum(z, 0),
    "tanh": np.tanh,
    "linear": lambda z: z,
    "gelu": lambda z: 0.5 * z * (1 + np.tanh(np.sqrt(2 / np.pi) * (z + 0.044715 * z**3))),
}
NORMS = {
    "none": lambda z: z,
    "layernorm": lambda z: (
        (z - z.mean(-1, keepdims=True)) / np.sqrt(z.var(-1, keepdims=True) + 1e-5)
    ),
    "rmsnorm": lambda z: z / np.sqrt(np.mean(z * z, axis=-1, keepdims=True) + 1e-5),
}


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("norm", NORMS)
def test_sizes_are_those_of_matrix_products(activation, norm):
    depth, width, batch, std = 6, 48, 5, 0.3
    got = activation_scale(depth, width, batch, std, activation, norm, rng=3)
    rng = np.random.default_rng(3)
    h = rng.standard_normal((batch, width), dtype=np.float32).astype(np.float64)
    expected = []
    for w in rng.standard_normal((depth, width, width), dtype=np.float32).astype(np.float64):
        h = ACTIVATIONS[activation](NORMS[norm](h @ (std * w)))
        expected.append(np.sqrt(np.mean(h * h)))
    np.testing.assert_allclose(got, expected, rtol=1e-5)


def test_ten_relu_layers_of_512_grow_by_exactly_16_per_layer_from_he_to_one():
    """Claim 32: with the same draws the ratio is exact, because 0.0625 is a power of two."""
    he, one, small = (activation_scale(10, 512, 64, std) for std in (0.0625, 1.0, 0.01))
    np.testing.assert_array_equal(one / he, 16.0 ** np.arange(1, 11))
    assert small[-1] / he[-1] == pytest.approx(0.16**10, rel=1e-5)
    assert 0.5 < he[-1] < 1.6


def test_overflow_shows_and_does_not_turn_into_zero():
    sizes = activation_scale(60, 32, 4, 30.0)
    first = np.argmax(~np.isfinite(sizes))
    assert not np.isfinite(sizes[first:]).any()
    assert sizes[first - 1] > 1e30


def test_a_generator_serves_as_well_as_its_seed():
    by_seed = activation_scale(3, 8, 2, 0.5, rng=11)
    np.testing.assert_array_equal(
        by_seed, activation_scale(3, 8, 2, 0.5, rng=np.random.default_rng(11))
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 8, 2, 1.0), "depth must be 1 or more; got 0"),
        ((2, 8.0, 2, 1.0), "width must be an integer; got float"),
        ((2, 8, True, 1.0), "batch must be an integer; got bool"),
        ((2, 8, 2, -1.0), r"std must be a finite number of 0 or more; got -1\.0"),
        ((2, 8, 2, "he"), "std must be .* got 'he'"),
        (
            (2, 8, 2, 1.0, "swish"),
            "activation must be one of relu, tanh, linear, gelu; got 'swish'",
        ),
        ((2, 8, 2, 1.0, "relu", "batch"), "norm must be one of none, .*; got 'batch'"),
    ],
)
def test_refusals(arguments, message):
    with pytest.raises((TypeError, ValueError), match=message):
        activation_scale(*arguments)
