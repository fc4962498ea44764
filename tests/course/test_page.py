"""What a student may see, and that nothing a student wrote can run in a browser."""

from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.course.page import Facts, hidden_regions, page

HIDDEN = hidden_regions(("BEGIN HIDDEN TESTS", "END HIDDEN TESTS"),
                        ("=== BEGIN MARK SCHEME ===", "=== END MARK SCHEME ==="))  # fmt: skip
ATTACKS = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "</pre></div><svg onload=alert(1)>",
    "[click](javascript:alert(1))",
    "![x](javascript:alert(1))",
    "[a](data:text/html;base64,PHNjcmlwdD4=)",
    "<iframe src='https://example.org'></iframe>",
    '"><style>@import "https://example.org";</style>',
    "<a href='vbscript:x'>x</a>\n\n<form action=//example.org><input></form>",
    "[x]: javascript:alert(1)\n\n[x]",
    "<java\x00script>\x1b]8;;javascript:alert(1)\x07link\x1b]8;;\x07",
    "``` \"onmouseover=alert(1)\nx\n```",
    "</title></head><script src=//example.org/x.js></script>",
]
FORBIDDEN_TAGS = {"script", "iframe", "object", "embed", "form", "input", "base", "svg", "link",
                  "math", "video", "audio", "button", "template"}  # fmt: skip


class Guard(HTMLParser):
    """Collects whatever could run, or load from elsewhere."""

    def __init__(self):
        super().__init__()
        self.found, self.styles, self.metas = [], 0, 0

    def handle_starttag(self, tag, attrs):
        if tag in FORBIDDEN_TAGS:
            self.found.append(tag)
        self.styles += tag == "style"
        self.metas += tag == "meta"
        for name, value in attrs:
            target = "".join((value or "").split()).lower()
            runs = target.startswith(("javascript:", "vbscript:", "data:text"))
            if name.startswith("on") or runs or name == "srcdoc":
                self.found.append((tag, name, value))
            if name == "src" and not target.startswith("data:image/"):
                self.found.append((tag, name, value)) if tag != "img" else None


def check(html):
    guard = Guard()
    guard.feed(html)
    assert guard.found == []
    assert (guard.styles, guard.metas) == (1, 3), "a tag of the student got through"
    assert "default-src 'none'" in html
    assert "\x1b" not in html
    assert "\x00" not in html


def cell(source, kind="code", outputs=(), **mark):
    metadata = {"nbgrader": {"grade_id": "it", **mark}} if mark else {}
    return {"cell_type": kind, "source": source, "metadata": metadata, "outputs": list(outputs)}


def outputs_with(text):
    return [
        {"output_type": "stream", "name": "stdout", "text": text},
        {"output_type": "display_data", "data": {"text/html": text, "text/plain": text}},
        {"output_type": "execute_result", "data": {"text/html": [text], "image/svg+xml": text}},
        {"output_type": "display_data", "data": {"image/png": text, "text/markdown": text}},
        {"output_type": "display_data", "data": {"application/javascript": text}},
        {"output_type": "error", "ename": text, "evalue": text, "traceback": [text]},
    ]


def notebook_of(text):
    return {"cells": [
        cell(text), cell(text, "markdown"), cell(text, "raw"),
        cell(text, outputs=outputs_with(text), solution=True),
        cell(text, outputs=outputs_with(text), grade=True, locked=True),
        cell(text, "markdown", grade=True, solution=True),
        cell(text, "markdown", locked=True),
        {**cell(text, "markdown"), "id": "layers-repairs"},
    ]}  # fmt: skip


FACTS = Facts({"it": (1.0, 2.0)})


@pytest.mark.parametrize("attack", ATTACKS)
def test_nothing_that_a_student_wrote_can_run(attack):
    facts = Facts({"it": (1.0, 2.0), attack: (None, 1.0)}, {"it": attack}, 0.5)
    check(page(notebook_of(attack), attack, facts, HIDDEN))


PIECES = st.sampled_from([*ATTACKS, "`", "\n", "\n\n", "    ", "|", "[", "](", "<", ">", "'", '"',
                          "&lt;script&gt;", "!", "#", "-", "*", "~", "\\", "\t"])  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(st.lists(PIECES, max_size=12).map("".join))
def test_no_mixture_of_markdown_and_html_runs_either(text):
    check(page(notebook_of(text), "layer", FACTS, HIDDEN))


def test_hidden_regions_and_tracebacks_of_tests_are_left_out():
    source = "# Hidden tests run here.\n### BEGIN HIDDEN TESTS\nsecret_test()\n### END HIDDEN TESTS"
    error = {"output_type": "error", "ename": "AssertionError", "evalue": "wrong\nDESIRED secret",
             "traceback": ["----> 3 secret_test()"]}  # fmt: skip
    scheme = "Explain.\n=== BEGIN MARK SCHEME ===\nsecret answer\n=== END MARK SCHEME ==="
    cells = [
        cell(source, outputs=[error], grade=True, locked=True),
        cell("### BEGIN HIDDEN TESTS\nsecret never ends", grade=True, locked=True),
        cell(scheme, "markdown", task=True, locked=True),
        cell(scheme, "markdown", grade=True, solution=True),
    ]
    html = page({"cells": cells}, "layer", FACTS, HIDDEN)
    assert "secret" not in html
    assert "AssertionError: wrong" in html
    assert "Hidden tests run here." in html


def test_the_misconception_stands_out_and_the_score_is_the_gradebooks():
    report = (
        "layernorm_forward: 6 of 8 points\n"
        "  right   values  6 of 6\n"
        "  lost    small variance  0 of 2\n"
        "          differs (given x (5, 64))\n"
        "  Misconception LF2: eps outside the square root\n"
        "  You added eps <after> taking the root."
    )
    output = {"output_type": "stream", "name": "stdout", "text": report}
    notebook = {"cells": [cell("", outputs=[output], grade=True, locked=True)]}
    html = page(notebook, "layernorm", Facts({"it": (7.5, 8.0)}, penalty=1.0), HIDDEN)
    assert "<h1>layernorm: 6.5 of 8 points</h1>" in html
    assert ('<div class="misconception"><strong>eps outside the square root</strong>'
            "<br>You added eps &lt;after&gt; taking the root.</div>") in html  # fmt: skip
    assert html.count("outside the square root") == 1


def test_a_flood_is_cut_and_an_image_is_shown():
    flood = {"output_type": "stream", "name": "stdout", "text": "x" * 5_000_000}
    image = {"output_type": "display_data", "data": {"image/png": "iVBORw0KGgo=\n"}}
    cells = [cell("y = 1\n" * 200_000, outputs=[flood, image], solution=True)]
    html = page({"cells": cells}, "layer", FACTS, HIDDEN)
    assert len(html) < 200_000
    assert 'src="data:image/png;base64,iVBORw0KGgo="' in html
