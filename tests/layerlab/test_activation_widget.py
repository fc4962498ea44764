"""The activation-scale widget: the native numbers, under hands and keys."""

from importlib.resources import files

import numpy as np
import pytest
from layerlab import activation_scale as native
from layerlab import widgets
from layerlab.activation_scale import measure
from layerlab.activations import ACTIVATIONS
from layerlab.expected_scale import expected_scale
from layerlab.network_loops import NORMS
from traitlets import TraitError

from tests.layerlab.widget_page import measured, settled, shown, write_page


def test_settings_outside_their_range_are_refused():
    for wrong in ({"std": 0.0}, {"depth": 65}, {"activation": "swish"}):
        with pytest.raises(TraitError):
            widgets.ActivationScale(**wrong)


def draws(page, width, depth, batch, seed):
    """Make the page's own random numbers with its generator."""
    text = (files("layerlab.widgets") / "loops.js").read_text(encoding="utf-8")
    code = text[text.index("function normals") : text.index("// A random network")]
    counts = [batch * width, batch * width, *([width * width] * depth)]
    arrays = page.evaluate(
        f"(counts) => {{ {code} return counts.map((n, i) => {{ const out = new Float32Array(n);"
        f" normals(out, {seed}, i + 1); return [...out]; }}); }}",
        counts,
    )
    x, grad, *weights = (np.array(a, "f4") for a in arrays)
    return x, grad, np.concatenate(weights)


@pytest.mark.parametrize(
    ("activation", "norm", "std"),
    [("relu", "none", 0.3), ("relu", "layernorm", 0.02), ("tanh", "none", 0.5),
     ("gelu", "rmsnorm", 0.1), ("linear", "none", 0.01)],
)  # fmt: skip
def test_activation_scale_shows_the_native_numbers(browser, tmp_path, activation, norm, std):
    width, depth, seed = 32, 12, 5
    widget = widgets.ActivationScale(
        std=std, activation=activation, norm=norm, width=width, depth=depth, seed=seed
    )
    page = browser.new_page()
    page.goto(write_page(widget, tmp_path / "page.html").as_uri())
    page.wait_for_function("window.shownAfter")
    sizes = page.evaluate(
        "Object.fromEntries(Object.entries(el.measured().sizes).map(([k, v]) => [k, [...v]]))"
    )
    x, grad, weights = draws(page, width, depth, 32, seed)
    page.close()
    assert abs(weights.mean()) < 0.05
    assert weights.std() == pytest.approx(1, abs=0.03)
    codes = ACTIVATIONS.index(activation), NORMS.index(norm)
    outputs, gradients = measure(x, weights, grad, depth, width, std, *codes)
    np.testing.assert_array_equal(sizes["outputs"], outputs)
    np.testing.assert_array_equal(sizes["gradients"], gradients)
    expected = expected_scale(depth, width, std, *codes)
    np.testing.assert_array_equal(sizes["outputsExpected"], expected[0])
    np.testing.assert_array_equal(sizes["gradientsExpected"], expected[1])


def test_activation_scale_by_keyboard_mouse_and_touch(visit):
    page = visit(widgets.ActivationScale, has_touch=True)
    slider = page.get_by_label("Standard deviation", exact=True)
    assert "output is steady" in settled(page)
    slider.focus()
    for _ in range(12):
        page.keyboard.press("ArrowRight")
    assert "output explodes" in settled(page)
    page.get_by_role("button", name="GPT-2 0.02").click()
    assert "output vanishes" in settled(page)
    page.get_by_role("button", name="He").tap()
    assert "output is steady" in settled(page)
    page.get_by_label("Norm before it").select_option("layernorm")
    page.get_by_label("Typed").fill("2")
    assert "output is steady" in settled(page)

    chart = page.get_by_role("slider", name="Layer to read")
    box = chart.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 50)
    settled(page)
    layer = int(chart.get_attribute("aria-valuenow"))
    assert 20 < layer < 32
    chart.focus()
    page.keyboard.press("ArrowLeft")
    settled(page)
    assert int(chart.get_attribute("aria-valuenow")) == layer - 1
    assert f"Layer {layer - 1}: output" in page.locator(".ll-readout").inner_text()


def test_activation_scale_map_is_drawn_and_sets_the_slider(visit):
    page = visit(widgets.ActivationScale)
    page.wait_for_selector("canvas[data-done]", state="attached")
    area = page.locator(".ll-map svg")
    area.scroll_into_view_if_needed()
    box = area.bounding_box()
    page.mouse.click(box["x"] + box["width"] * 0.95, box["y"] + 60)
    assert "output explodes" in settled(page)
    assert measured(page)["std"] > 1
    corner = page.evaluate(
        "[...el.querySelector('canvas').getContext('2d').getImageData(44, 0, 1, 1).data]"
    )
    assert corner == [122, 48, 0, 255]


@pytest.mark.parametrize("std", ["", "abc", "0", "-1", "1e9", "NaN", "Infinity"])
def test_activation_scale_answers_absurd_input_with_a_hint(visit, std):
    page = visit(widgets.ActivationScale)
    before = measured(page)["std"]
    page.get_by_label("Typed").fill(std)
    settled(page)
    assert page.get_by_text("A number from 0.001 to 2.").is_visible()
    assert measured(page)["std"] == before
    assert "NaN" not in shown(page)


def test_activation_scale_at_its_ends_keeps_the_axis_finite(visit):
    page = visit(widgets.ActivationScale)
    page.get_by_label("Depth").fill("64")
    page.get_by_label("Activation", exact=True).select_option("linear")
    for std, words in (("2", "leaves the range of float32"), ("0.001", "reaches 0")):
        page.get_by_label("Typed").fill(std)
        assert words in settled(page)
        assert "NaN" not in shown(page)
        assert "Infinity" not in shown(page)


def test_a_kernel_moves_the_controls(visit):
    page = visit(widgets.ActivationScale)
    page.evaluate("model.fromKernel('std', 0.02)")
    assert "output vanishes" in settled(page)
    assert page.get_by_label("Typed").input_value() == "0.02"
    page.get_by_label("Depth").fill("7")
    settled(page)
    assert page.evaluate("model.get('depth')") == 7


def test_the_still_of_absurd_settings_is_drawn_without_a_warning():
    for std in (0.001, 2.0):
        assert native(64, 64, 2, std)[-1] in (0, np.inf) or np.isnan(native(64, 64, 2, std)[-1])
        assert "<svg" in widgets.ActivationScale(std=std, depth=64, width=64).fallback
