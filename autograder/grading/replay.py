"""Recompute a verdict from its receipt, and say whether it comes out the same."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.grading.master import Master
from autograder.grading.receipt import differences
from autograder.grading.result import Job, Result
from autograder.grading.submission import Engine
from autograder.grading.writing import RECEIPT_KEY


@dataclass(frozen=True)
class Replay:
    """What came out the second time.

    Attributes
    ----------
    same : bool
        Whether scores, properties and mistakes agree.
    differences : tuple of str
        Where they do not, and whether the submission, the master or the engine is another.
    result : Result
        The new verdict.
    """

    same: bool
    differences: tuple[str, ...]
    result: Result


def replay(
    receipt: Mapping[str, Any],
    submission: bytes,
    master: Master,
    engine: Engine,
    files: Mapping[str, bytes] | None = None,
) -> Replay:
    """Grade a submission again with the seeds of a receipt.

    Parameters
    ----------
    receipt : mapping
        From a graded notebook, see `receipt_in`.
    submission : bytes
        The file that was handed in.
    master : Master
        What it is graded against.
    engine : Engine
        With the course secret of the first time.
    files : mapping of str to bytes, optional
        The submission's other files.
    """
    salt = str(receipt.get("salt", ""))
    job = Job("", master.assignment, master.notebook, Path("submission.ipynb"), salt=salt)
    result = engine.grade_bytes(job, submission, master, files)
    found = differences(receipt, result.receipt)
    return Replay(not found, tuple(found), result)


def receipt_in(notebook: bytes) -> dict[str, Any]:
    """Find the receipt in a graded notebook, or take a receipt saved alone.

    Raises
    ------
    ValueError
        There is none.
    """
    data = json.loads(notebook)
    if isinstance(data, dict):
        inside = data.get("metadata", {}).get(RECEIPT_KEY, data)
        if isinstance(inside, dict) and "checks" in inside:
            return inside
    raise ValueError("no receipt in it; it was not graded by this engine.")
