"""Whether stock nbgrader can read a notebook; our own engine repairs what this refuses."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

from nbgrader.nbgraderformat import read as read_as_nbgrader


def graded_ids(notebook: Path) -> set[str]:
    """Read a notebook as nbgrader will; return the ids of its graded cells.

    Raises
    ------
    ValueError
        Nbgrader would refuse it, and with it the whole run; the message says why and what to do.
    """
    if notebook.stat().st_size == 0:
        raise ValueError("the file is empty (0 bytes), not graded; ask for it again.")
    try:
        json.loads(notebook.read_text(encoding="utf-8"))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            cells = read_as_nbgrader(str(notebook), as_version=4).cells
    except json.JSONDecodeError as error:
        raise ValueError(
            f"broken at line {error.lineno}, column {error.colno} (not JSON), not graded; "
            "ask for it again or mend it in a text editor."
        ) from None
    except Exception as error:
        reason = (str(error).strip().splitlines() or ["no reason given"])[0]
        raise ValueError(
            f"nbgrader cannot read it ({type(error).__name__}: {reason[:120]}), not graded; "
            "ask for a notebook saved by Jupyter."
        ) from None
    marks = [cell.metadata.get("nbgrader", {}) for cell in cells]
    return {mark["grade_id"] for mark in marks if mark.get("grade") and "grade_id" in mark}
