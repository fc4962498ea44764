"""Every page as readers meet it: wide and narrow, light and dark, by mouse, finger and keyboard."""

from pathlib import Path

import pytest
import yaml

from tests.book.browser import Visit, unreached
from tests.book.site import ROOT

pytestmark = pytest.mark.book

_TOC = yaml.safe_load((ROOT / "book" / "_toc.yml").read_text(encoding="utf-8"))
PAGES = [
    "index.html", "search.html", "genindex.html",
    *(f"{entry['file']}.html" for part in _TOC["parts"] for entry in part["chapters"]),
]  # fmt: skip
# One of each kind, and all that hold controls of their own.
WALKED = [
    name for name in PAGES if name.startswith("chapters/") or name in ("index.html", "search.html")
] + ["exercises/layernorm.html"]

SCROLLS = "document.documentElement.scrollWidth - window.innerWidth"
BROKEN_IMAGES = "[...document.images].filter((i) => !i.naturalWidth).map((i) => i.src)"
GROUND = "getComputedStyle(document.body).backgroundColor"
SERIOUS = """(rules) => axe.run(document, {
  ...rules, preload: false, resultTypes: ["violations"],
}).then(({violations}) => violations
  .filter(({impact}) => impact === "serious" || impact === "critical")
  .map(({id, nodes}) => `${id}: ${nodes.map((n) => n.html.slice(0, 120)).join(" | ")}`))"""
CONTRAST = "color-contrast"
BUT_CONTRAST = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"],
    "rules": {CONTRAST: {"enabled": False}},
}
# Measuring the contrast of each glyph and each number in a listing takes seconds: one of each kind.
THIN_OUT = """() => {
  for (const e of document.querySelectorAll("mjx-container, .bd-article svg")) e.replaceChildren();
  const seen = new Set();
  for (const e of document.querySelectorAll("pre span"))
    if (seen.has(e.className)) e.replaceWith(e.textContent); else seen.add(e.className);
}"""
# A link that sends the focus on to the next one as soon as it has it.
SKIPPED = """() => {
  const [first, second] = document.querySelectorAll("article dd a");
  first.addEventListener("focus", () => second.focus());
}"""


@pytest.fixture(scope="module")
def axe():
    package = pytest.importorskip("axe_playwright_python", reason="axe is not installed")
    return Path(package.__file__).with_name("axe.min.js").read_text(encoding="utf-8")


@pytest.fixture(scope="module", params=[1280, 375])
def visit(request, browser, address):
    with Visit(browser, address, request.param) as visit:
        yield visit


def test_the_list_of_pages_is_complete(pages):
    assert set(PAGES) == set(pages)


@pytest.mark.parametrize("name", PAGES)
def test_page(name, visit, axe):
    page = visit.page
    page.emulate_media(color_scheme="light")
    visit.open(name)
    assert page.evaluate(SCROLLS) <= 0
    assert page.evaluate(BROKEN_IMAGES) == []
    if visit.width < 500:
        open_and_close_the_menu(page)
    page.evaluate(axe)
    assert page.evaluate(SERIOUS, BUT_CONTRAST) == []
    page.evaluate(THIN_OUT)
    # Colours do not depend on the width: each scheme at one of them.
    if visit.width > 500:
        assert page.evaluate(SERIOUS, {"runOnly": [CONTRAST]}) == []
    ground = page.evaluate(GROUND)
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(f"{GROUND} !== {ground!r}")
    assert page.evaluate(SCROLLS) <= 0
    if visit.width < 500:
        assert page.evaluate(SERIOUS, {"runOnly": [CONTRAST]}) == []
    assert visit.problems == []


def open_and_close_the_menu(page):
    menu = page.locator(".bd-sidebar-primary a", has_text="LayerNorm").first
    assert not menu.is_visible()
    page.locator("button.primary-toggle").first.tap()
    menu.wait_for(state="visible")
    box = menu.bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 375
    page.keyboard.press("Escape")
    menu.wait_for(state="hidden")


@pytest.fixture(scope="module")
def desk(browser, address):
    with Visit(browser, address) as visit:
        yield visit


@pytest.mark.parametrize("name", WALKED)
def test_every_control_is_reached_by_tab(name, desk):
    assert unreached(desk.open(name)) == []


def test_a_control_that_tab_passes_over_is_found(desk):
    page = desk.open("glossary.html")
    page.evaluate(SKIPPED)
    assert len(unreached(page)) == 1


def test_pages_load_only_what_they_need(browser, address):
    """No formula, no MathJax; no question, no script for questions."""
    with Visit(browser, address) as visit:
        visit.open("guides/readers.html")
        assert not [url for url in visit.requests if "mathjax" in url or "numbercheck" in url]
        assert not [url for url in visit.requests if "widget_host" in url or "fontawesome" in url]
        visit.open("chapters/layernorm.html")
        loaded = " ".join(visit.requests)
        assert "mathjax/startup.js" in loaded
        assert "MathJax_Main-Regular.woff" in loaded
        assert "numbercheck.js" in loaded


def test_every_icon_is_drawn(pages, site):
    css = (site.html / "_static" / "site" / "icons.css").read_text(encoding="utf-8")
    words = {"fa-solid", "fa-lg"}
    used = {word for page in pages.values() for word in page.classes if word.startswith("fa-")}
    assert used > words
    assert [word for word in used - words if f".{word} {{" not in css] == []


def test_colours_before_and_without_scripts(browser, address):
    """The first paint has the reader's scheme; without scripts the page is light, and in colour."""
    with Visit(browser, address, scheme="dark") as visit:
        visit.page.route("**/pydata-sphinx-theme.js*", lambda route: route.abort())
        visit.open("index.html")
        assert visit.page.evaluate(GROUND) == "rgb(18, 18, 18)"
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address + "index.html")
    link = page.locator("article a.reference").first
    assert link.evaluate("e => getComputedStyle(e).color") == "rgb(11, 92, 196)"
    context.close()
