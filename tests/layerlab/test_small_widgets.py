"""The other widgets against NumPy, under hands and keys."""

import numpy as np
import pytest
from layerlab import widgets

from tests.layerlab.widget_page import measured, settled, shown


def test_anatomy_against_numpy(visit):
    page = visit(widgets.NormalizationAnatomy)
    page.get_by_label("gamma").fill("2")
    page.get_by_label("beta").fill("1")
    page.get_by_role("button", name="x \N{MULTIPLICATION SIGN} 10").click()
    assert "10⁻⁶" in settled(page)
    x, dout = np.array([10.0, 20, 30, 40]), np.array([1.0, 0, 0, 0])
    for (forward, backward), center in zip(measured(page)["results"], (True, False)):
        rows = x - center * x.mean()
        spread = np.sqrt(np.mean(rows**2) + 1e-5)
        hat, g = rows / spread, 2 * dout
        np.testing.assert_allclose(forward["hat"], hat, rtol=1e-6)
        np.testing.assert_allclose(forward["y"], 2 * hat + center, rtol=1e-6)
        dx = (g - center * g.mean() - hat * np.mean(g * hat)) / spread
        np.testing.assert_allclose(backward["dx"], dx, rtol=1e-5, atol=1e-8)


def test_anatomy_of_equal_numbers_and_of_nonsense(visit):
    page = visit(widgets.NormalizationAnatomy)
    page.get_by_label("eps").fill("0")
    for i in range(1, 5):
        page.get_by_label(f"x {i}", exact=True).fill("5")
    assert "eps is 0" in settled(page)
    assert "NaN" not in shown(page)
    page.get_by_label("x 1", exact=True).fill("lots")
    settled(page)
    assert page.get_by_text("1,000,000.").is_visible()
    page.get_by_role("button", name="Start again").click()
    assert "LayerNorm removes 70 %" in settled(page)


@pytest.mark.parametrize("norm", ["batchnorm", "layernorm", "rmsnorm"])
def test_shared_mean_against_numpy(visit, norm):
    page = visit(widgets.SharedMean)
    page.get_by_label("Norm").select_option(norm)
    words, result = settled(page), measured(page)
    axis = 0 if norm == "batchnorm" else 1
    for given, got in (("x", "before"), ("changed", "after")):
        x = np.array(result[given]).reshape(12, 5)
        rows = x - (norm != "rmsnorm") * x.mean(axis, keepdims=True)
        expected = rows / np.sqrt(np.mean(rows**2, axis, keepdims=True) + 1e-5)
        np.testing.assert_allclose(np.reshape(result[got], (12, 5)), expected, atol=2e-6)
    assert ("the future leaks" in words) == (norm == "batchnorm")


def test_shared_mean_by_touch(visit):
    page = visit(widgets.SharedMean, has_touch=True)
    page.locator(".ll-cell").nth(0).tap()
    assert "token 1 of example 1 changed" in settled(page)


def test_dropout_against_numpy(visit):
    page = visit(widgets.Dropout)
    page.get_by_label("Version").select_option("divides")
    assert "does not show" in settled(page)
    page.get_by_label("p, chance").fill("0.3")
    assert "should be 1" in settled(page)
    result = measured(page)
    draws = np.array(result["draws"])
    assert draws.mean() == pytest.approx(0.5, abs=0.01)
    output = (draws < 0.7) / 0.3
    np.testing.assert_allclose(result["output"], output[:100])
    means = output.reshape(300, 100).mean(1).cumsum() / np.arange(1, 301)
    np.testing.assert_allclose(result["means"], means)
    page.get_by_label("Mode").select_option("inference")
    assert "nothing is zeroed" in settled(page)
    page.get_by_role("button", name="Draw again").click()
    settled(page)
    assert measured(page)["seed"] == 1


@pytest.mark.parametrize("version", ["right", "keeps", "divides", "both"])
@pytest.mark.parametrize("p", ["0", "0.95"])
def test_dropout_at_the_ends(visit, p, version):
    page = visit(widgets.Dropout)
    page.get_by_label("Version").select_option(version)
    page.get_by_label("p, chance").fill(p)
    settled(page)
    assert "NaN" not in shown(page)
    assert "Infinity" not in shown(page)
    assert np.isfinite(measured(page)["means"]).all()


@pytest.mark.parametrize("text", ["a b a a", "", "?!", "one two three " * 9, "<b>x</b> x"])
def test_embedding_gradient_against_numpy(visit, text):
    page = visit(widgets.EmbeddingGradient)
    page.get_by_label("A sentence").fill(text)
    words, result = settled(page), measured(page)
    ids = np.array(result["ids"], int)
    dout = np.repeat(np.arange(1.0, len(ids) + 1)[:, None], 2, axis=1)
    added, written = np.zeros((2, len(result["added"]), 2))
    np.add.at(added, ids, dout)
    written[ids] += dout
    np.testing.assert_array_equal(np.reshape(result["added"], (-1, 2)), added)
    np.testing.assert_array_equal(np.reshape(result["written"], (-1, 2)), written)
    assert len(ids) <= 12
    assert ("Type a word" in words) == (len(ids) == 0)
    assert page.locator("b").count() == 0
