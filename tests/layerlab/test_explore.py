"""The sliders run the reader's functions, and show what these raise."""

import numpy as np
import pytest
from layerlab import explore


def he_normal(fan_in, fan_out, rng):
    return rng.normal(0, np.sqrt(2 / fan_in), (fan_in, fan_out))


def rmsnorm_forward(x, gamma, eps=1e-5):
    return gamma * x / np.sqrt(np.mean(x * x, -1, keepdims=True) + eps), None


def layernorm_forward(x, gamma, beta, eps=1e-5):
    centered = x - x.mean(-1, keepdims=True)
    return gamma * centered / np.sqrt(x.var(-1, keepdims=True) + eps) + beta, None


def open_explorer(**functions):
    *sliders, picture = explore(**functions, width=16, batch=4).children
    return {slider.description: slider for slider in sliders}, picture


@pytest.mark.parametrize(
    "functions",
    [{}, {"init": he_normal}, {"norm": layernorm_forward}, {"norm": rmsnorm_forward}],
    ids=["alone", "init", "layernorm", "rmsnorm"],
)
def test_each_slider_draws_anew(functions):
    sliders, picture = open_explorer(**functions)
    seen = {picture.value}
    moves = {"std of w": 0.9, "depth": 7, "activation": "tanh", "seed": 3}
    for name, value in moves.items():
        sliders[name].value = value
        assert picture.value.startswith('<div role="img"')
        seen.add(picture.value)
    assert len(seen) == 5


def test_the_slider_starts_at_the_scale_of_the_readers_init():
    sliders, _ = open_explorer(init=he_normal)
    assert sliders["std of w"].value == pytest.approx(np.sqrt(2 / 16), rel=0.05)


def test_init_is_called_for_new_layers_only():
    calls = []
    sliders, _ = open_explorer(init=lambda i, o, rng: calls.append(i) or he_normal(i, o, rng))
    sliders["std of w"].value = 0.5
    sliders["std of w"].value = 0.7
    assert len(calls) == 20
    sliders["seed"].value = 1
    assert len(calls) == 40


def unwritten(*_):
    raise NotImplementedError("he_normal: write <me>")


@pytest.mark.parametrize(
    ("functions", "said"),
    [
        ({"init": unwritten}, "NotImplementedError: he_normal: write &lt;me>"),
        ({"init": lambda i, o, rng: np.zeros(3)}, "w must have shape (fan_in, fan_out) = (16, 16)"),
        ({"init": lambda i, o, rng: np.zeros((i, o))}, "w must vary; its std is 0.0"),
        ({"norm": lambda x, gamma: (x[0], None)}, "out must have the shape of x, (4, 16); got"),
        ({"norm": unwritten}, "NotImplementedError"),
    ],
)
def test_what_goes_wrong_stands_in_place_of_the_picture(functions, said):
    _, picture = open_explorer(**functions)
    assert picture.value.startswith("<pre>")
    assert said in picture.value


def test_a_call_in_place_of_a_function_is_refused():
    with pytest.raises(TypeError, match="init must be a function or None; got ndarray"):
        explore(init=np.ones((2, 2)))
