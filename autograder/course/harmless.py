"""Take what could run out of a notebook before nbgrader's own pages show it.

formgrader and ``nbgrader generate_feedback`` put a student's Markdown and HTML into the page as
they are. The page of formgrader belongs to the instructor's Jupyter server: a script in it could
do whatever the instructor can. ``nbgrader_config.py`` registers this preprocessor for both.
"""

from __future__ import annotations

import re
from typing import Any

from nbconvert.preprocessors import Preprocessor
from nbformat import NotebookNode

from autograder.course.cells import IMAGES, image_data, markdown_html, plain

_BLANK = re.compile(r"\n(?=[ \t]*\n)")
# MathJax lets a formula link to a script and restyle the page.
_TEX = re.compile(r"\\(?=(?:href|require|style|class|cssId)\b)")


class Harmless(Preprocessor):
    """Leave text and images of students; drop HTML, scripts, drawings and attachments."""

    def preprocess_cell(
        self, cell: NotebookNode, resources: dict[str, Any], index: int
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Make one cell harmless, unless it is the course's own text."""
        mark = cell.metadata.get("nbgrader", {})
        if cell.cell_type == "code":
            cell.outputs = [_output(output) for output in cell.outputs]
        elif not (mark.get("locked") and not mark.get("solution")):
            cell.pop("attachments", None)
            cell.source = _settled(cell.source)
        return cell, resources


def _settled(source: str) -> str:
    """Render Markdown safely, as one block of HTML that rendering once more leaves as it is."""
    html = _BLANK.sub("&#10;", markdown_html(_TEX.sub("", source)).strip())
    return f"<div>{html}</div>"


def _output(output: NotebookNode) -> NotebookNode:
    if "data" in output:
        images = {mime: image_data(output.data, mime) for mime in IMAGES}
        data = {mime: packed for mime, packed in images.items() if packed}
        text = output.data.get("text/plain", "")
        output.data = NotebookNode({**data, "text/plain": plain("".join(text))})
        output.metadata = NotebookNode()
    return output
