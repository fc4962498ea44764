"""The book builds without a warning, keeps the course's secrets, and says what is true."""

import re
from urllib.parse import unquote, urldefrag

import pytest
from layerlab.ledger import ledger, written
from layerlab.ledger.table import anchor

from autograder.course.leaks import MARKERS, find_leaks, secrets_of
from autograder.course.paths import Course
from tests.book.claims import CLAIMS, holds
from tests.book.site import LAYERS, ROOT

pytestmark = pytest.mark.book
# Chapters that watch networks learn instead of deriving one layer.
EXPERIMENTS = {"regularization", "tinygpt"}


def test_builds_without_a_warning(site):
    problems = [line for line in site.log.splitlines() if "WARNING:" in line or "ERROR" in line]
    assert site.code == 0, "\n".join(problems) or site.log[-3000:]
    assert problems == []


def test_every_page_of_the_contents_is_there(pages):
    exercises = {path.stem for path in (ROOT / "exercises").glob("*/*.ipynb")}
    wanted = {f"exercises/{layer}.html" for layer in exercises}
    wanted |= {f"chapters/{layer}.html" for layer in LAYERS}
    wanted |= {"index.html", "notation.html", "references.html", "ledger.html"}
    assert wanted <= set(pages)


def test_links_and_images_resolve(site, pages):
    broken = []
    for name, page in pages.items():
        for link in page.links:
            path, fragment = urldefrag(unquote(link))
            path = path.partition("?")[0]
            target = (site.html / name).parent / path if path else site.html / name
            there = target.resolve()
            if not there.is_file():
                broken.append(f"{name}: {link}")
            elif fragment and there.suffix == ".html":
                other = pages[there.relative_to(site.html.resolve()).as_posix()]
                if fragment not in other.ids:
                    broken.append(f"{name}: {link}")
    assert broken == []


def test_no_secret_is_published(site, pages):
    """Neither what a page shows nor any other file, such as the search index, gives one away."""
    secrets = secrets_of(Course(ROOT))
    for word in MARKERS:
        del secrets[word]
    texts = {name: page.text for name, page in pages.items()}
    for path in site.html.rglob("*"):
        if path.suffix in (".txt", ".ipynb", ".md", ".py") or path.name == "searchindex.js":
            texts[str(path.relative_to(site.html))] = path.read_text(encoding="utf-8")
    leaks = {name: find_leaks(text, secrets) for name, text in texts.items()}
    assert {name: found for name, found in leaks.items() if found} == {}
    # The guide for instructors names the command; no page holds a marker or an import.
    private = re.compile(r"### ?BEGIN|HIDDEN TESTS|import autograder|from autograder|\bcheck_\w")
    assert {
        name: private.findall(text) for name, text in texts.items() if private.search(text)
    } == {}


def test_nothing_comes_from_another_host(pages):
    assert {link for page in pages.values() for link in page.hosts} == set()


def test_exercises_are_not_run_and_link_to_the_released_file(site, pages):
    for path in (ROOT / "exercises").glob("*/*.ipynb"):
        page = pages[f"exercises/{path.stem}.html"]
        assert "NotImplementedError" in page.text
        assert "Traceback" not in page.text
        assert "20 points." in page.text
        [download] = [link for link in page.links if link.endswith(f"{path.stem}.ipynb")]
        published = (site.html / "exercises" / download).resolve()
        assert published.read_bytes() == path.read_bytes()


def test_the_ledger_shows_every_claim_and_what_was_computed(pages):
    page = pages["ledger.html"]
    text = page.text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    rows = {anchor(claim): claim for claim in ledger()}
    assert {name for name in page.ids if name.startswith("claim-")} == set(rows)
    assert f"There are {len(rows)} rows" in text
    # What depends on neither rounding nor draws is the same here as on the page.
    for name in ("5", "33", "37", "40", "43"):
        assert written(rows[f"claim-{name}"]) in text
    for claim in rows.values():
        assert claim.claimed in text, claim.id


@pytest.mark.parametrize("layer", LAYERS)
def test_a_chapter_has_the_parts_that_readers_expect(layer, pages):
    text = pages[f"chapters/{layer}.html"].text
    parts = ["by hand", "What goes wrong", "Practice"]
    if layer not in EXPERIMENTS:
        parts += ["formula", "ackward", "What it costs"]
    for part in parts:
        assert part.lower() in text.lower(), part
    assert "Further reading" in text
    assert "Correction:" in text
    assert len(re.findall(r"Fig\. \d+", text)) >= 2


@pytest.mark.parametrize("layer", LAYERS)
def test_the_numbers_in_the_text_are_those_claimed(layer, site):
    claims, said = [claim for claim in CLAIMS if claim.layer == layer], site.said(layer)
    missing = [claim.name for claim in claims if claim.name not in said]
    assert missing == [], f"the chapter no longer says these; it says {sorted(said)}"
    wrong = [(claim, said[claim.name]) for claim in claims if not holds(claim, said[claim.name])]
    assert wrong == []
