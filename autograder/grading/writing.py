"""Write a graded notebook as text, in nbformat 4.5 as Jupyter writes it."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from typing import Any

from autograder.grading.document import clean
from autograder.grading.wording import Repair

RECEIPT_KEY = "layers_receipt"


def notebook_text(notebook: dict[str, Any]) -> str:
    """Write a notebook; longer texts as lists of lines, keys in order, a newline at the end."""
    cells = [_cell(cell) for cell in notebook["cells"]]
    text = json.dumps({**notebook, "cells": cells}, indent=1, sort_keys=True, ensure_ascii=False)
    return clean(text) + "\n"


def repairs_cell(repairs: Sequence[Repair]) -> dict[str, Any]:
    """Make the cell that tells the student what was put right before grading."""
    lines = [f"- {html.escape(text)}" for text in dict.fromkeys(r.student for r in repairs)]
    source = "\n".join(["**Before grading, this was put right in your notebook:**", "", *lines])
    return {
        "cell_type": "markdown",
        "id": "layers-repairs",
        "metadata": {"deletable": False, "editable": False},
        "source": source,
    }


def _cell(cell: dict[str, Any]) -> dict[str, Any]:
    written = {**cell, "source": cell["source"].splitlines(keepends=True)}
    if cell["cell_type"] == "code":
        written["outputs"] = [_output(output) for output in cell["outputs"]]
    return written


def _output(output: dict[str, Any]) -> dict[str, Any]:
    if output["output_type"] == "stream":
        return {**output, "text": output["text"].splitlines(keepends=True)}
    if "data" in output:
        data = {mime: _data(mime, value) for mime, value in output["data"].items()}
        return {**output, "data": data}
    return output


def _data(mime: str, value: Any) -> Any:
    is_text = isinstance(value, str) and (mime.startswith("text/") or mime == "image/svg+xml")
    return value.splitlines(keepends=True) if is_text else value
