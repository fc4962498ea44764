"""The widgets where a kernel is: in a real JupyterLab."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from tests.jupyter_server import jupyter_server

WIDGETS = ("ActivationScale", "NormalizationAnatomy", "SharedMean", "Dropout", "EmbeddingGradient")
EXPLORE = """import numpy as np
import layerlab

def he_normal(fan_in, fan_out, rng):
    return rng.normal(0.0, np.sqrt(2 / fan_in), size=(fan_in, fan_out))

layerlab.explore(init=he_normal)"""
MS = 60_000


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """Run JupyterLab on a folder with a notebook of all widgets."""
    pytest.importorskip("jupyterlab", reason="jupyterlab is not installed")
    root = tmp_path_factory.mktemp("lab")
    shown = [f"from layerlab import widgets\nwidgets.{name}()" for name in WIDGETS]
    cells = [new_code_cell(text) for text in (*shown, EXPLORE)]
    # Without the name of a kernel JupyterLab asks for one.
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = new_notebook(metadata={"kernelspec": kernel}, cells=cells)
    nbformat.write(notebook, root / "widgets.ipynb")
    settings = {"LabApp": {"expose_app_in_browser": True, "news_url": None}}
    extensions = {"jupyterlab": True}
    with jupyter_server(root, tmp_path_factory.mktemp("home"), extensions, **settings) as server:
        yield server


def run_all(page):
    """Run all cells; what is asked for before the kernel is connected may be lost, so ask again."""
    for _ in range(4):
        # Not awaited: the promise lasts as long as the cells.
        page.evaluate("() => { window.jupyterapp.commands.execute('notebook:run-all-cells'); }")
        try:
            page.wait_for_selector(".ll-words", state="attached", timeout=MS / 2)
            return
        except Exception as error:
            if type(error).__name__ != "TimeoutError":
                raise
    pytest.fail("nothing came of the cells:\n" + page.locator(".jp-Notebook").inner_text())


@pytest.fixture(scope="module")
def page(lab, browser):
    """Open the notebook and run all its cells."""
    # As high as the notebook: JupyterLab shows a cell only when it is in view.
    context = browser.new_context(viewport={"width": 1280, "height": 6000})
    page = context.new_page()
    page.goto(f"{lab.url}lab/tree/widgets.ipynb?token={lab.token}")
    page.wait_for_selector(".jp-Notebook .jp-CodeCell", timeout=MS)
    run_all(page)
    yield page
    context.close()


def test_every_widget_shows_its_words(page):
    told = "() => [...document.querySelectorAll('.ll-words')].map((e) => e.innerText)"
    page.wait_for_function(f"number => ({told})().length === number", arg=len(WIDGETS), timeout=MS)
    assert all(len(words) > 20 for words in page.evaluate(told))


def test_a_slider_redraws_the_student_s_own_function(page):
    picture = page.locator(".widget-vbox > :last-child")
    picture.locator("svg").first.wait_for(timeout=MS)
    before = picture.inner_html()
    slider = page.locator(".noUi-handle").first
    slider.focus()
    slider.press("ArrowRight")
    arguments = [picture.element_handle(), before]
    page.wait_for_function(
        "([picture, before]) => picture.querySelector('svg') && picture.innerHTML !== before",
        arg=arguments,
        timeout=MS,
    )
