"""Refuse a page whose code would silently not run.

A Markdown page runs its code cells only if it declares ``file_format: mystnb`` and a kernel;
otherwise they are shown like any listing, and the numbers they should compute are missing.
"""

import re
from typing import Any

from sphinx.application import Sphinx
from sphinx.util import logging

logger = logging.getLogger(__name__)

CELL = re.compile(r"^\s*(?:`{3,}|:{3,})\{code-cell\}", re.MULTILINE)
FRONT = re.compile(r"\A---\n(.*?)\n---\n", re.DOTALL)
NEEDED = ("file_format: mystnb", "kernelspec:")


def check_page(app: Sphinx, docname: str, source: list[str]) -> None:
    """Warn, and so stop the build, if a page with code cells is no notebook."""
    path = str(app.env.doc2path(docname))
    if not path.endswith(".md") or not CELL.search(source[0]):
        return
    front = FRONT.match(source[0])
    lines = front[1].splitlines() if front else []
    missing = [word for word in NEEDED if word not in lines]
    if missing:
        logger.warning(
            "code_cells: this page has code cells, but its front matter lacks %s, so they would "
            "not run. Copy the front matter of another chapter.",
            " and ".join(repr(word) for word in missing),
            location=docname,
        )


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("source-read", check_page)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
