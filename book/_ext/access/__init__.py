"""Repair what Sphinx and MathJax leave inaccessible.

A list of citations gets a role whose children do not match it; the roles are taken out. A formula
that is wider than a phone scrolls, but only by touch; ``formulas.js`` lets the keyboard reach it.
The theme looks up the reader's colour scheme after the page has been painted; here it is done
before, so that a dark room stays dark.
"""

from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

ROLES = (
    ('<div role="list" class="citation-list">', '<div class="citation-list">'),
    (' role="doc-biblioentry"', ""),
)
SCHEME = """(({dataset}) => {
  if (dataset.theme === "auto")
    dataset.theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
})(document.documentElement);"""


def repair_page(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    """Correct roles; add the script where formulas are."""
    for before, after in ROLES:
        context["body"] = context.get("body", "").replace(before, after)
    mathjax = f"_static/{app.config.mathjax_path}"
    app.add_js_file(None, body=SCHEME, priority=100)
    if any(script.filename == mathjax for script in context["script_files"]):
        # After MathJax itself, whose promise it waits for.
        app.add_js_file("access/formulas.js", loading_method="defer", priority=700)


def publish_files(app: Sphinx) -> None:
    """Offer the script under ``_static/access``."""
    app.config.html_static_path.append(str(Path(__file__).parent / "static"))


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("builder-inited", publish_files)
    app.connect("html-page-context", repair_page, priority=900)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
