"""nbgrader's own pages, with our preprocessor in front of them."""

import nbformat
import pytest
from nbconvert.exporters import HTMLExporter
from nbconvert.filters import markdown2html
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from traitlets.config import Config

from autograder.course.harmless import Harmless
from autograder.course.stock import load_config
from tests.course.conftest import ROOT
from tests.course.test_page import ATTACKS, Guard

MARKED = [*ATTACKS, "a\n\n    <b>code</b>\n\n[x](javascript:alert(1))\n\n<script>alert(1)</script>",
          "```\n\n[x](javascript:alert(1))\n\n```", r"$\href{javascript:alert(1)}{x}$",
          r"$$\let\a\href \a{javascript:alert(1)}{x}$$"]  # fmt: skip


def harmless(notebook):
    preprocessor = Harmless()
    preprocessor.enabled = True
    return preprocessor.preprocess(notebook, {})[0]


@pytest.mark.parametrize("attack", MARKED)
def test_markdown_of_a_student_survives_being_rendered_once_more(attack):
    notebook = harmless(new_notebook(cells=[new_markdown_cell(attack)]))
    html = markdown2html(notebook.cells[0].source)
    guard = Guard()
    guard.feed(html)
    assert guard.found == []
    assert guard.styles == 0
    assert "\\href" not in html


def test_plain_markdown_stays_what_it_is_and_the_courses_own_is_not_touched():
    text = "# Answer\n\n- one\n- *two*\n\n> said, $a < b$\n\n```\nx\n\ny\n```"
    mark = {"nbgrader": {"grade_id": "q", "locked": True, "solution": False}}
    notebook = new_notebook(cells=[
        new_markdown_cell(text), new_markdown_cell("<b>[ours](javascript:x)</b>", metadata=mark)
    ])  # fmt: skip
    theirs, ours = harmless(notebook).cells
    html = markdown2html(theirs.source)
    for part in ("<h1>Answer</h1>", "<li><em>two</em></li>", "<blockquote>", "x&#10;\ny"):
        assert part in html
    assert ours.source == "<b>[ours](javascript:x)</b>"


@pytest.mark.parametrize("attack", ATTACKS)
def test_outputs_keep_text_and_images_only(attack):
    kinds = ("text/html", "image/svg+xml", "image/png", "application/javascript", "text/plain")
    data = dict.fromkeys(kinds, attack)
    output = new_output("display_data", data, metadata={"image/png": {"width": attack}})
    image = new_output("display_data", {"image/png": "iVBORw0KGgo=\n"})
    cell = new_code_cell("1", outputs=[output, image, new_output("error", ename=attack)])
    (cell,) = harmless(new_notebook(cells=[cell])).cells
    assert list(cell.outputs[0].data) == ["text/plain"]
    assert cell.outputs[0].metadata == {}
    assert cell.outputs[1].data["image/png"] == "iVBORw0KGgo="


def test_the_configuration_puts_it_in_front_of_nbgraders_pages():
    """Formgrader makes its exporter from this configuration."""
    config = Config({"HTMLExporter": load_config(ROOT)["HTMLExporter"]})
    config.HTMLExporter.template_name = "basic"
    notebook = new_notebook(cells=[new_markdown_cell("<script>alert(20260130)</script>")])
    html, _ = HTMLExporter(config=config).from_notebook_node(nbformat.from_dict(notebook))
    assert "<script>alert(20260130)" not in html
    assert "alert(20260130)" in html
