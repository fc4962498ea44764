"""The extension that shows the released notebooks in the book."""

import importlib.util
import json
from types import SimpleNamespace

import pytest
from sphinx.errors import ExtensionError

from tests.book.site import ROOT

_spec = importlib.util.spec_from_file_location(
    "exercise_pages", ROOT / "book" / "_ext" / "exercise_pages.py"
)
exercise_pages = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(exercise_pages)


def cell(kind, source, **metadata):
    extra = {"outputs": [{"output_type": "error"}], "execution_count": 3} if kind == "code" else {}
    return {"cell_type": kind, "metadata": metadata, "source": source, **extra}


def graded(points):
    return {"grade": True, "points": points, "grade_id": f"g{points}"}


NOTEBOOK = {
    "cells": [
        cell("markdown", ["# Tiny layer\n", "\n", "What it does."]),
        cell("code", "def tiny(x):\n    raise NotImplementedError()"),
        cell("code", "# Hidden tests run here.", nbgrader=graded(2)),
        cell("code", "# Hidden tests run here.", nbgrader=graded(2.5)),
        cell("code", "assert True", nbgrader={"grade": False, "points": 9}),
    ],
    "metadata": {},
    "nbformat": 4,
    "nbformat_minor": 5,
}


@pytest.fixture
def bring(tmp_path):
    """Make a tiny book beside a folder of exercises; return a function that runs the extension."""
    (tmp_path / "book").mkdir()

    def run(*layers, launch=""):
        config = SimpleNamespace(
            exercises_folder="../exercises",
            exercise_launch_url=launch,
            external_site_map=["index", *(f"exercises/{layer}" for layer in layers)],
        )
        exercise_pages.bring_exercises(SimpleNamespace(srcdir=tmp_path / "book", config=config))
        return tmp_path / "book" / "exercises"

    return run


@pytest.fixture
def release(tmp_path):
    def write(layer, text):
        (tmp_path / "exercises" / layer).mkdir(parents=True)
        path = tmp_path / "exercises" / layer / f"{layer}.ipynb"
        path.write_text(text if isinstance(text, str) else json.dumps(text), encoding="utf-8")

    return write


def test_page_shows_title_worth_download_and_no_output(bring, release):
    release("tiny", NOTEBOOK)
    page = json.loads((bring("tiny") / "tiny.ipynb").read_text(encoding="utf-8"))
    top = page["cells"][0]["source"]
    assert top.startswith("# Exercise: Tiny layer\n")
    assert top.endswith("What it does.")
    assert "**4.5 points.**" in top
    assert "<../../exercises/tiny/tiny.ipynb>" in top
    assert "Open it online" not in top
    code = [cell for cell in page["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)


def test_launch_link_comes_from_the_setting(bring, release):
    release("tiny", NOTEBOOK)
    folder = bring("tiny", launch="https://hub.example/{layer}.ipynb")
    assert (
        "[Open it online](https://hub.example/tiny.ipynb)"
        in json.loads((folder / "tiny.ipynb").read_text(encoding="utf-8"))["cells"][0]["source"]
    )


def test_modules_beside_the_notebook_are_offered_and_must_not_leak(bring, release, tmp_path):
    release("tiny", NOTEBOOK)
    beside = tmp_path / "exercises" / "tiny" / "tiny_support.py"
    beside.write_text("LIMIT = 3\n", encoding="utf-8")
    page = json.loads((bring("tiny") / "tiny.ipynb").read_text(encoding="utf-8"))
    top = page["cells"][0]["source"]
    assert "{download}`tiny_support.py <../../exercises/tiny/tiny_support.py>`" in top
    beside.write_text("### BEGIN SOLUTION\n", encoding="utf-8")
    with pytest.raises(ExtensionError, match=r"tiny_support\.py contains '### BEGIN SOLUTION'"):
        bring("tiny")


def test_unchanged_page_is_left_alone_and_a_stale_one_goes(bring, release):
    release("tiny", NOTEBOOK)
    release("other", NOTEBOOK)
    path = bring("tiny", "other") / "tiny.ipynb"
    before = path.stat().st_mtime_ns
    bring("tiny")
    assert path.stat().st_mtime_ns == before
    assert [page.name for page in path.parent.iterdir()] == ["tiny.ipynb"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (None, r"_toc.yml lists exercises/tiny, but .*tiny\.ipynb does not exist. Run `make rele"),
        ("### BEGIN SOLUTION", "contains '### BEGIN SOLUTION', which no released notebook may"),
        ("from autograder.checks import x", "contains 'autograder'"),
        ("not a notebook", "is not a notebook with cells"),
        ('{"cells": []}', "is not a notebook with cells"),
        ({"cells": [cell("code", "x = 1")]}, "must be text that begins with a title"),
    ],
)
def test_a_release_that_cannot_be_shown_stops_the_build(bring, release, text, sentence):
    if text is not None:
        release("tiny", text)
    with pytest.raises(ExtensionError, match=sentence):
        bring("tiny")
