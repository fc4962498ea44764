"""The ``numbercheck`` directive: a small question whose answer the reader types.

.. code-block:: markdown

   ```{numbercheck} he-512
   :answer: sqrt(2 / 512)
   :within: 0.0005
   :why: Two, because ReLU removes half of the squares.
   Which standard deviation does He's rule give for `fan_in` = 512?

   - `2 / 512` That is the variance. Take its root.
   - `sqrt(1 / 512)` That keeps a linear layer steady; ReLU removes half of the squares.
   ```

The answer and the typical wrong answers in the list are expressions of NumPy functions (see
``expressions``), evaluated when the book is built. ``given`` holds assignments that they share,
such as ``x = [3, 4]; dout = [1, 2]``. An answer may be a vector; the reader types several numbers.
``why`` is shown after a right answer, ``hint`` after a wrong one that the list does not know.
Explanations are plain text with `` `code` `` and ``*emphasis*`` of a word.

The page answers without a kernel and without showing the value: see ``buckets``.
"""

import html
import json
import re
from itertools import combinations
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from numbercheck.buckets import conceal, marks
from numbercheck.expressions import evaluate, namespace

# An entry of the list of wrong answers, with its indented continuation lines.
WRONG = re.compile(r"^- `([^`]+)`:?\s+(.+(?:\n[ \t]+\S.*)*)$", re.MULTILINE)
# What a question that is written wrongly can raise.
MISTAKES = (ValueError, TypeError, NameError, SyntaxError, ArithmeticError, LookupError)


class check_node(nodes.General, nodes.Element):  # noqa: N801 (docutils names nodes like this)
    """A question; its children are the question's text."""


class NumberCheck(SphinxDirective):
    """Read a question, evaluate its answers, and keep only marks of them."""

    required_arguments = 1
    has_content = True
    option_spec = {  # noqa: RUF012 (the form that docutils expects)
        "answer": directives.unchanged_required,
        "within": directives.unchanged_required,
        "given": directives.unchanged,
        "why": directives.unchanged,
        "hint": directives.unchanged,
    }

    def run(self) -> list[nodes.Node]:
        """Make the node, or report what is wrong with the question."""
        text = "\n".join(self.content)
        try:
            data = self.data(WRONG.findall(text))
            question = WRONG.sub("", text).strip()
            if not question:
                raise ValueError("the question is missing")
        except MISTAKES as problem:
            raise self.error(f"numbercheck {self.arguments[0]}: {problem}") from problem
        node = check_node(data=data)
        node["ids"] = [f"check-{nodes.make_id(self.arguments[0])}"]
        node["names"] = [f"check {self.arguments[0]}"]
        self.state.document.note_explicit_target(node, node)
        self.state.nested_parse(question.splitlines(), self.content_offset, node)
        return [node]

    def data(self, wrong: list[tuple[str, str]]) -> dict[str, Any]:
        """Collect what the page gets to know."""
        missing = [name for name in ("answer", "within") if name not in self.options]
        if missing:
            raise ValueError(f"it needs the option :{missing[0]}:")
        names = namespace(self.options.get("given", ""))
        within = float(self.options["within"])
        key = f"{self.env.docname}#{self.arguments[0]}"
        right = evaluate(self.options["answer"], names)
        known = [(evaluate(source, names), source, why) for source, why in wrong]
        refuse_twins(
            [(right, "the answer"), *((value, source) for value, source, _ in known)], within
        )
        return {
            "key": key,
            "count": len(right),
            "within": within,
            "right": marks(right, within, key),
            "why": conceal(plain(self.options.get("why", ""))),
            "hint": conceal(plain(self.options.get("hint", ""))),
            "wrong": [
                {"marks": marks(value, within, key), "why": conceal(plain(why))}
                for value, _, why in known
            ],
        }


def refuse_twins(values: list[tuple[list[float], str]], within: float) -> None:
    """Make sure that no number can be taken for two of the answers."""
    for (a, first), (b, second) in combinations(values, 2):
        if len(a) != len(b):
            raise ValueError(f"{first} has {len(a)} numbers and {second} has {len(b)}")
        # Buckets reach a little beyond the tolerance on either side.
        if all(abs(x - y) <= 2.5 * within for x, y in zip(a, b)):
            raise ValueError(f"{second} is too close to {first} for within={within:g}")


def plain(text: str) -> str:
    """Join the lines of an explanation."""
    if "$" in text:
        raise ValueError(f"explanations are plain text with `code`, without mathematics: {text!r}")
    return " ".join(text.split())


def open_check(translator: Any, node: check_node) -> None:
    """Write what stands before the question's text."""
    name = node["ids"][0]
    translator.body.append(
        f'<div class="numbercheck" id="{name}" role="group" aria-labelledby="{name}-title">\n'
        f'<p class="numbercheck-title" id="{name}-title">Check yourself</p>\n'
        f'<div id="{name}-question">\n'
    )


def close_check(translator: Any, node: check_node) -> None:
    """Write the field, the place of the reply, and the marks of the answers."""
    name, data = node["ids"][0], node["data"]
    count = f"{data['count']} numbers" if data["count"] > 1 else "Your answer"
    mode = "text" if data["count"] > 1 else "decimal"
    described = f"{name}-question {name}-within {name}-reply"
    shown = html.escape(json.dumps(data), quote=True)
    translator.body.append(
        f'</div>\n<form class="numbercheck-form" data-check="{shown}">\n'
        f'<label for="{name}-field">{count}</label>\n'
        f'<input id="{name}-field" type="text" inputmode="{mode}" autocomplete="off" '
        f'spellcheck="false" aria-describedby="{described}">\n'
        f'<button type="submit">Check</button>\n'
        f'<span class="numbercheck-within" id="{name}-within">to within {data["within"]:g}</span>\n'
        f"</form>\n"
        f'<p class="numbercheck-reply" id="{name}-reply" role="status"></p>\n'
        "<noscript><p>Checking your answer needs JavaScript.</p></noscript>\n</div>\n"
    )


def leave_out(translator: Any, node: check_node) -> None:
    """Show the question only: other formats have no page that could answer."""


def add_files(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    """Load script and style on pages with a question."""
    if doctree is not None and next(iter(doctree.findall(check_node)), None) is not None:
        app.add_css_file("numbercheck/numbercheck.css")
        app.add_js_file("numbercheck/numbercheck.js", loading_method="defer")


def publish_files(app: Sphinx) -> None:
    """Offer script and style under ``_static/numbercheck``."""
    app.config.html_static_path.append(str(Path(__file__).parent / "static"))


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    pass_over = (leave_out, leave_out)
    app.add_node(check_node, html=(open_check, close_check), latex=pass_over, text=pass_over)
    app.add_directive("numbercheck", NumberCheck)
    app.connect("builder-inited", publish_files)
    app.connect("html-page-context", add_files)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
