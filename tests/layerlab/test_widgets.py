"""Every widget comes up without a server, and has names and words for all it shows."""

import pytest
from layerlab import widgets

from tests.layerlab.widget_page import settled, shown

CLASSES = [getattr(widgets, name) for name in widgets.__all__]
WITH_LOOPS = [widgets.ActivationScale, widgets.NormalizationAnatomy, widgets.SharedMean]


@pytest.mark.parametrize("by", ["http", "file"])
@pytest.mark.parametrize("cls", CLASSES)
def test_it_comes_up_and_has_names_for_all_controls(visit, cls, by):
    page = visit(cls, by)
    assert settled(page)
    assert page.evaluate("document.documentElement.scrollWidth") == 375
    nameless = page.evaluate(
        "[...el.querySelectorAll('input, select, button, [role=slider]')].filter((e) =>"
        " !(e.labels?.length || e.ariaLabel || e.textContent.trim())).length"
    )
    assert nameless == 0
    assert "NaN" not in shown(page)
    page.wait_for_function("el.querySelector('[role=status].ll-spoken').textContent !== ''")


@pytest.mark.parametrize("cls", CLASSES)
def test_axe_finds_nothing_serious(visit, cls):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page = visit(cls)
    violations = axe.run(page).response["violations"]
    assert [v["id"] for v in violations if v["impact"] in ("serious", "critical")] == []


@pytest.mark.parametrize("cls", WITH_LOOPS)
def test_without_webassembly_it_says_so(browser, folder, cls):
    page = browser.new_page()
    page.add_init_script("delete window.WebAssembly")
    page.goto((folder[0] / f"{cls.__name__}.html").as_uri())
    page.wait_for_function("window.failed")
    assert "WebAssembly is switched off" in page.evaluate("window.failed")
    page.close()


@pytest.mark.parametrize("cls", CLASSES)
def test_the_still_picture_and_the_settings_come_from_python(cls):
    widget = cls()
    assert "<svg" in widget.fallback
    assert "live version needs JavaScript" in widget.fallback
    # Small enough for a page; parts that are read separately stay readable.
    assert len(widget._esm) < 48_000
