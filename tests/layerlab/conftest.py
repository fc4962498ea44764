"""A browser, and a page in it for every widget."""

import pytest
from layerlab import widgets

from tests.book.browser import serve
from tests.book.conftest import browser
from tests.layerlab.widget_page import write_page

__all__ = ["browser"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("widgets")
    for cls in (getattr(widgets, name) for name in widgets.__all__):
        write_page(cls(), folder / f"{cls.__name__}.html")
    with serve(folder) as home:
        yield folder, home


@pytest.fixture
def visit(browser, folder):
    """Open a widget's page; at the end nothing may have gone wrong on it."""
    contexts, problems = [], []

    def open_page(cls, by="file", page=None, **options):
        context = browser.new_context(viewport={"width": 375, "height": 720}, **options)
        contexts.append(context)
        tab = context.new_page()
        tab.on("pageerror", lambda error: problems.append(str(error)))
        tab.on("console", lambda said: said.type == "error" and problems.append(said.text))
        name = page or f"{cls.__name__}.html"
        tab.goto((folder[0] / name).as_uri() if by == "file" else folder[1] + name)
        tab.wait_for_function("window.shownAfter || window.failed")
        assert tab.evaluate("window.failed") is None
        return tab

    yield open_page
    for context in contexts:
        context.close()
    assert problems == []
