"""What the hidden tests found in one graded notebook."""

from __future__ import annotations

import re

from nbformat import NotebookNode
from nbgrader.utils import determine_grade

from autograder.checks.report import Finding, parse

_CALL = re.compile(r"^check_(\w+)\(", re.MULTILINE)
# The inputs' shapes help a student; in a list of a whole class they bury the reason.
_GIVEN = re.compile(r" \(given [^()]*(\([^()]*\)[^()]*)*\)$")
# IPython names a cell's file after a hash: "expected ':' (3040635683.py, line 1)".
_PLACE = re.compile(r" \(\d+\.py, line")
_REASON = re.compile(r"^ {10}(\S.*)$", re.MULTILINE)


def findings_in(notebook: NotebookNode) -> list[tuple[Finding, str]]:
    """Read the reports that the graded cells of an executed notebook printed.

    Parameters
    ----------
    notebook : nbformat.NotebookNode
        A notebook from nbgrader's ``autograded`` folder.

    Returns
    -------
    list of (Finding, str)
        In order; the string says in one line why points were lost and is empty if none were.
        A cell that ended in an error before its check could report gives a finding of 0 points.
    """
    found: list[tuple[Finding, str]] = []
    answer_error = ""
    for cell in notebook.cells:
        mark = cell.metadata.get("nbgrader", {})
        if cell.cell_type != "code":
            continue
        if mark.get("solution"):
            answer_error = _error(cell) or answer_error
        if mark.get("grade"):
            text = "".join(out.text for out in cell.outputs if out.output_type == "stream")
            reports = [(finding, _reason(finding, text)) for finding in parse(text)]
            found.extend(reports or [_unreported(cell, answer_error)])
    return found


def _reason(finding: Finding, text: str) -> str:
    if finding.score >= finding.points:
        return ""
    if finding.mistake_name:
        return finding.mistake_name
    found = _REASON.search(text)
    return in_short(found[1]) if found else "lost " + ", ".join(finding.lost)


def in_short(reason: str) -> str:
    """Cut a reason that was written for one student down to what a list of a class needs."""
    return "not written yet" if "not written yet" in reason else _GIVEN.sub("", reason)


def _unreported(cell: NotebookNode, answer_error: str) -> tuple[Finding, str]:
    """Say why a check got to no report: mostly the answer's own cell does not run."""
    mark = cell.metadata.nbgrader
    score, points = determine_grade(cell)
    error = _error(cell)
    reason = answer_error if error.startswith("NameError") and answer_error else error
    call = _CALL.search(cell.source)
    function = call[1] if call else mark.grade_id
    finding = Finding(function, float(score or 0), float(points), None, None, ())
    return finding, reason or ("" if finding.score >= finding.points else "no report")


def _error(cell: NotebookNode) -> str:
    for output in cell.outputs:
        if output.output_type == "error":
            first = [_PLACE.sub(" (line", line) for line in output.evalue.splitlines()[:1]]
            return ": ".join([output.ename, *first])
    return ""
