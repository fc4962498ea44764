"""Read an exercise source and refuse the slips that nbgrader would turn into wrong notebooks.

nbgrader blanks a solution cell without markers, publishes a hidden region whose marker has a
typing error, and gives full points to a test cell that tests nothing. None of these is an error
there, so each is one here.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections import Counter
from pathlib import Path

import jupytext
from nbformat import NotebookNode

from autograder.course.paths import CourseError

KERNELSPEC = {"display_name": "Python 3", "language": "python", "name": "python3"}
REGIONS = ("SOLUTION", "HIDDEN TESTS")
_MARKER = re.compile(r"^\s*#+\s*(begin|end)\s+(\S.*?)\s*$", re.IGNORECASE)
_SUSPECT = re.compile(r"solution|hidden|test", re.IGNORECASE)
_GRADE_ID = re.compile(r"^[a-zA-Z0-9_-]{1,64}$")


def read_source(path: Path) -> NotebookNode:
    """Read ``solutions/<layer>/<layer>.md`` as a checked instructor notebook.

    The result depends on nothing but the text: cell ids come from ``grade_id`` or the cell's
    source, metadata that varies between machines is dropped.

    Raises
    ------
    CourseError
        A rule of the source format is broken; the message names file, cell and rule.
    """
    try:
        notebook = jupytext.reads(path.read_text(encoding="utf-8"), fmt="md:myst")
    except Exception as error:
        # jupytext lets through whatever its YAML and Markdown parsers raise.
        raise CourseError(f"{path}: not a MyST notebook: {error}") from error
    check_source(notebook, path)
    set_cell_ids(notebook)
    notebook.metadata = NotebookNode(kernelspec=NotebookNode(KERNELSPEC))
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    return notebook


def set_cell_ids(notebook: NotebookNode) -> None:
    """Give each cell an id that stays the same from one conversion to the next."""
    seen: Counter[str] = Counter()
    for cell in notebook.cells:
        grade_id = cell.metadata.get("nbgrader", {}).get("grade_id")
        digest = hashlib.sha256(cell.source.encode()).hexdigest()[:12]
        name = grade_id or f"{cell.cell_type}-{digest}"
        seen[name] += 1
        cell.id = name if seen[name] == 1 else f"{name}-{seen[name]}"


def check_source(notebook: NotebookNode, path: Path) -> None:
    """Check every rule of the source format over a whole notebook.

    Raises
    ------
    CourseError
        At the first cell that breaks a rule.
    """
    seen: set[str] = set()
    for number, cell in enumerate(notebook.cells, start=1):
        try:
            _, regions = split_regions(cell.source)
            _check_metadata(cell, seen)
            _check_regions(cell, regions)
        except ValueError as error:
            raise CourseError(f"{path}, cell {number} ({_title(cell)}): {error}") from None


def split_regions(source: str) -> tuple[str, dict[str, list[str]]]:
    """Split a cell into what everybody may read and the lines of each marked region.

    Returns
    -------
    public : str
        The lines outside ``### BEGIN name`` ... ``### END name``.
    regions : dict of str to list of str
        The lines inside, by region name; a region without lines is present and empty.

    Raises
    ------
    ValueError
        A marker is unknown, nested, never opened or never closed.
    """
    public: list[str] = []
    regions: dict[str, list[str]] = {}
    inside = None
    for line in source.splitlines():
        match = _MARKER.match(line)
        if match is not None and _SUSPECT.search(match[2]):
            inside = _step(line.strip(), match[1], match[2], inside)
            regions.setdefault(match[2], [])
        else:
            (regions[inside] if inside else public).append(line)
    if inside:
        raise ValueError(f"'### BEGIN {inside}' is never closed; add '### END {inside}'.")
    return "\n".join(public), regions


def _step(line: str, verb: str, name: str, inside: str | None) -> str | None:
    if verb not in ("BEGIN", "END") or name not in REGIONS:
        known = ", ".join(f"'### BEGIN {region}'" for region in REGIONS)
        raise ValueError(f"unknown marker '{line}'; the markers are {known} and their '### END'.")
    if verb == "BEGIN":
        if inside:
            raise ValueError(f"'{line}' stands inside '### BEGIN {inside}'; close that one first.")
        return name
    if inside != name:
        raise ValueError(f"'{line}' closes a region that is not open.")
    return None


def _check_metadata(cell: NotebookNode, seen: set[str]) -> None:
    data = cell.metadata.get("nbgrader")
    if data is None:
        return
    grade_id = data.get("grade_id")
    if grade_id is None:
        raise ValueError("nbgrader metadata has no grade_id; add one that is unique in this file.")
    if not _GRADE_ID.match(str(grade_id)):
        raise ValueError(f"grade_id '{grade_id}' must be 1 to 64 letters, digits, '-' or '_'.")
    if grade_id in seen:
        raise ValueError(f"grade_id '{grade_id}' is used by an earlier cell; choose another.")
    seen.add(grade_id)
    if data.get("schema_version") != 3:
        raise ValueError(f"schema_version must be 3; got {data.get('schema_version')}.")
    missing = [key for key in ("grade", "solution", "locked") if key not in data]
    if missing:
        raise ValueError(f"nbgrader metadata lacks {', '.join(missing)}; write true or false.")
    points = data.get("points")
    if data["grade"] and (isinstance(points, bool) or not isinstance(points, int) or points <= 0):
        raise ValueError(f"a graded cell needs 'points', a whole number above 0; got {points}.")


def _check_regions(cell: NotebookNode, regions: dict[str, list[str]]) -> None:
    data = cell.metadata.get("nbgrader", {})
    graded, solution = data.get("grade", False), data.get("solution", False)
    if solution and "SOLUTION" not in regions:
        raise ValueError(
            "a solution cell without '### BEGIN SOLUTION' is blanked whole; mark the region."
        )
    if "SOLUTION" in regions and not solution:
        raise ValueError("a solution region in a cell that is not 'solution: true' stays public.")
    if "HIDDEN TESTS" in regions and not graded:
        raise ValueError("a hidden region in a cell that is not 'grade: true' stays public.")
    if graded:
        _check_hidden_call(regions.get("HIDDEN TESTS", []), data["points"])


def _check_hidden_call(lines: list[str], points: int) -> None:
    """Ask for ``check_...(..., points=N)`` at the end, N being the points of the cell."""
    try:
        body = ast.parse("\n".join(lines)).body
    except SyntaxError as error:
        raise ValueError(f"the hidden region is not Python: {error.msg}.") from None
    call = body[-1].value if body and isinstance(body[-1], ast.Expr) else None
    name = call.func.id if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) else ""
    if not isinstance(call, ast.Call) or not name.startswith("check_"):
        raise ValueError(
            "a graded cell must end its hidden region with a call check_<function>(<function>, "
            "points=N); without it every answer gets all points."
        )
    given = [key.value.value for key in call.keywords
             if key.arg == "points" and isinstance(key.value, ast.Constant)]
    if given != [points]:
        raise ValueError(f"{name} must be called with points={points}, the points of its cell.")


def _title(cell: NotebookNode) -> str:
    grade_id = cell.metadata.get("nbgrader", {}).get("grade_id")
    first = cell.source.strip().splitlines()[:1]
    return f"grade_id {grade_id}" if grade_id else f"{cell.cell_type}: {''.join(first)[:50]!r}"
