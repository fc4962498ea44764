"""What the site says about itself, what it gives away, and how it opens without a server."""

import sys
import zipfile

import pytest
from PIL import Image

from autograder.course.leaks import MARKERS, find_leaks, secrets_of
from autograder.course.paths import Course
from tests.book.browser import Visit
from tests.book.site import ADDRESS, ROOT

sys.path.insert(0, str(ROOT / "book" / "_ext"))
from offline_zip import pack
from page_meta import shorten

pytestmark = pytest.mark.book
HEADING = "document.querySelector('#search-results h2')"
MADE_BY_SPHINX = {"genindex.html", "search.html"}


def test_every_page_has_an_address_a_description_and_a_picture(site, pages):
    descriptions = []
    for name in set(pages) - MADE_BY_SPHINX:
        meta = pages[name].meta
        assert meta["canonical"] == meta["og:url"] == f"{ADDRESS}/{name}"
        assert 25 < len(meta["description"]) <= 200, name
        assert meta["og:description"] == meta["description"]
        descriptions.append(meta["description"])
        picture = meta["og:image"].removeprefix(f"{ADDRESS}/")
        with Image.open(site.html / picture) as image:
            assert image.size == (1200, 630)
    assert len(set(descriptions)) == len(descriptions)


def test_descriptions_end_with_a_sentence():
    assert shorten("Short.") == "Short."
    assert shorten("One sentence. " + "Another that is far too long " * 20) == "One sentence."
    assert shorten("word " * 100).endswith(" ...")


def test_no_file_gives_a_secret_away(site, pages):
    """Scripts, data of widgets and questions, listings: everything that is text."""
    secrets = secrets_of(Course(ROOT))
    for word in MARKERS:
        del secrets[word]
    texts = {name: " ".join(page.scripts) for name, page in pages.items()}
    kinds = {".js", ".mjs", ".json", ".css", ".svg", ".inv", ".txt", ".ipynb"}
    for path in site.html.rglob("*"):
        if path.suffix in kinds and "mathjax" not in path.parts:
            texts[str(path)] = path.read_text(encoding="utf-8", errors="replace")
    leaks = {name: find_leaks(text, secrets) for name, text in texts.items()}
    assert {name: found for name, found in leaks.items() if found} == {}
    assert not (site.html / "_sources").exists()


def test_nothing_is_published_that_no_page_uses(site):
    static = site.html / "_static"
    assert not list(static.rglob("*fontawesome*"))
    assert not list(static.rglob("*.map"))
    assert "Font Awesome" not in "".join(
        rule
        for rule in (static / "styles" / "pydata-sphinx-theme.css").read_text().split("}")
        if "@font-face" in rule
    )


@pytest.fixture(scope="module")
def unpacked(site, tmp_path_factory):
    folder = tmp_path_factory.mktemp("zip")
    packed = pack(site.html, folder / "layers-from-scratch.zip")
    assert packed.stat().st_size < 6e6
    first = packed.read_bytes()
    assert pack(site.html, packed).read_bytes() == first
    with zipfile.ZipFile(packed) as archive:
        archive.extractall(folder)
    return folder / "layers-from-scratch"


def test_the_zip_opens_without_a_server(unpacked, browser):
    with Visit(browser, unpacked.as_uri() + "/") as visit:
        page = visit.open("index.html")
        page.locator("article a", has_text="RMSNorm").first.click()
        page.wait_for_url("**/chapters/rmsnorm.html")
        page.wait_for_selector("mjx-container mjx-math")
        faces = page.evaluate("document.fonts.ready.then((f) => [...f].map((x) => x.status))")
        assert "loaded" in faces
        page.fill("#check-rmsnorm-size-field", "2.5")
        page.press("#check-rmsnorm-size-field", "Enter")
        assert page.inner_text("#check-rmsnorm-size-reply").startswith("Right.")
        assert visit.problems == []


@pytest.mark.parametrize("over", ["http", "file"])
def test_search_finds(over, browser, unpacked, address):
    home = address if over == "http" else unpacked.as_uri() + "/"
    with Visit(browser, home) as visit:
        page = visit.open("search.html?q=cancellation")
        page.wait_for_selector("#search-results li a")
        page.wait_for_function(
            "document.querySelector('#search-results h2').textContent !== 'Searching'"
        )
        found = page.locator("#search-results li a").evaluate_all("all => all.map((a) => a.href)")
        assert any("chapters/layernorm.html" in link or "glossary.html" in link for link in found)
        assert visit.problems == []
