"""Look through a folder of submissions: what can be graded, and what somebody must look at.

Nothing in the folder is changed; `stage` copies what is graded.
"""

from __future__ import annotations

import csv
import difflib
import json
import shutil
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from nbgrader.nbgraderformat import read as read_as_nbgrader

from autograder.course.paths import CourseError

ROSTER = "roster.csv"
# Browsers append .json or .txt to a notebook whose server names no type.
NOTEBOOK_SUFFIXES = (".ipynb", ".ipynb.json", ".ipynb.txt")


@dataclass(frozen=True)
class Submission:
    """One notebook that can be graded."""

    student: str
    layer: str
    notebook: Path


@dataclass
class Survey:
    """What a folder of submissions holds.

    Attributes
    ----------
    students : list of str
        Everybody on the roster or with a folder, sorted.
    submissions : list of Submission
        What can be graded.
    problems : list of str
        One line each: the file, what is wrong, what to do.
    notes : list of str
        Put right without help, and said.
    unusable : dict of (student, layer) to str
        Handed in but not gradable; the word that stands in the grade table.
    """

    students: list[str] = field(default_factory=list)
    submissions: list[Submission] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    unusable: dict[tuple[str, str], str] = field(default_factory=dict)


def survey(
    folder: Path,
    exercises: dict[str, set[str]],
    layers: Sequence[str],
    students: Iterable[str] = (),
) -> Survey:
    """Find every submission in ``folder/<student>/<layer>/<layer>.ipynb``.

    Parameters
    ----------
    folder : pathlib.Path
        The submissions. A ``roster.csv`` in it with a column ``id`` says who is in the class;
        without one, every folder is a student.
    exercises : dict of str to set of str
        For every layer of the course, the ids of its graded cells.
    layers : sequence of str
        The layers to grade now.
    students : iterable of str
        Only these students; empty takes all.

    Raises
    ------
    CourseError
        The folder does not exist, or a named student has no folder in it.
    """
    if not folder.is_dir():
        raise CourseError(f"{folder}: no such folder; give the one that holds <student>/<layer>/.")
    found = Survey()
    roster = read_roster(folder)
    wanted = set(students)
    for path in _visible(folder):
        if path.is_dir():
            if not wanted or path.name in wanted:
                _survey_student(path, exercises, layers, roster, found)
        elif path.name != ROSTER:
            found.problems.append(
                f"{path}: a file among the student folders; "
                "move it to <student>/<layer>/<layer>.ipynb if it is a submission."
            )
    if not any(path.is_dir() for path in _visible(folder)):
        raise CourseError(f"{folder}: no student folder in it; expected <student>/<layer>/.")
    found.students = sorted(set(found.students) | {name for name in roster or () if not wanted})
    if missing := wanted - set(found.students):
        raise CourseError(
            f"{folder}: unknown student {', '.join(sorted(missing))}; the folder holds "
            f"{', '.join(path.name for path in _visible(folder) if path.is_dir()) or 'nobody'}."
        )
    return found


def read_roster(folder: Path) -> dict[str, dict[str, str]] | None:
    """Read ``roster.csv`` (columns id, and if you like first_name, last_name, email)."""
    path = folder / ROSTER
    if not path.exists():
        return None
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    if not rows or not rows[0].get("id"):
        raise CourseError(f"{path}: needs a first line with a column 'id' and a line per student.")
    return {row.pop("id"): row for row in rows}


def stage(submission: Submission, target: Path) -> None:
    """Copy a submission to ``target/<student>/<layer>/<layer>.ipynb`` with the files beside it."""
    folder = target / submission.student / submission.layer
    folder.mkdir(parents=True)
    for path in _visible(submission.notebook.parent):
        # A link from an unpacked archive may point at any file of this machine.
        if path.is_file() and not path.is_symlink() and not _is_notebook(path):
            shutil.copyfile(path, folder / path.name)
    shutil.copyfile(submission.notebook, folder / f"{submission.layer}.ipynb")


def _survey_student(
    folder: Path,
    exercises: dict[str, set[str]],
    layers: Sequence[str],
    roster: dict[str, dict[str, str]] | None,
    found: Survey,
) -> None:
    if roster is not None and folder.name not in roster:
        found.problems.append(
            f"{folder}: unknown student '{folder.name}', not graded; "
            f"rename the folder or add a line to {folder.parent / ROSTER}."
        )
        return
    found.students.append(folder.name)
    children = _visible(folder)
    if not any(path.is_dir() for path in children):
        found.problems.append(f"{folder}: no assignment in it; expected <layer>/<layer>.ipynb.")
    for path in children:
        if path.is_file():
            found.problems.append(
                f"{path}: not graded, it lies outside an assignment folder; "
                f"move it to {folder}/<layer>/<layer>.ipynb."
            )
        elif path.name not in exercises:
            close = difflib.get_close_matches(path.name, exercises, n=1)
            hint = f"did you mean {close[0]}?" if close else f"they are {', '.join(exercises)}."
            found.problems.append(f"{path}: unknown assignment '{path.name}', not graded; {hint}")
        elif path.name in layers:
            _survey_layer(path, exercises, found)


def _survey_layer(folder: Path, exercises: dict[str, set[str]], found: Survey) -> None:
    student, layer = folder.parent.name, folder.name
    try:
        notebook = _pick_notebook(folder, exercises, found.notes)
    except ValueError as error:
        found.problems.append(str(error))
        found.unusable[student, layer] = "missing"
        return
    try:
        missing = exercises[layer] - _graded_ids(notebook)
    except ValueError as error:
        found.problems.append(f"{notebook}: {error}")
        found.unusable[student, layer] = "broken"
        return
    if missing:
        found.problems.append(
            f"{notebook}: graded cells are missing and count 0: {', '.join(sorted(missing))}; "
            "ask for a notebook made from the released one."
        )
    found.submissions.append(Submission(student, layer, notebook))


def _pick_notebook(folder: Path, exercises: dict[str, set[str]], notes: list[str]) -> Path:
    """Take the notebook that the exercise expects, or the only one that can be meant."""
    layer = folder.name
    expected = folder / f"{layer}.ipynb"
    notebooks = [path for path in _visible(folder) if path.is_file() and _is_notebook(path)]
    others = [path for path in notebooks if path != expected]
    if expected in notebooks:
        notes.extend(f"{path}: ignored, {expected.name} lies beside it." for path in others)
        return expected
    if not notebooks:
        raise ValueError(f"{expected}: missing; nothing to grade in this folder, ask for the file.")
    mine = [path for path in others if path.name.startswith(layer)] if len(others) > 1 else others
    if len(mine) != 1:
        names = ", ".join(path.name for path in others)
        raise ValueError(f"{expected}: missing; keep one of {names} under this name.")
    other_layer = mine[0].name.split(".")[0]
    if other_layer in exercises and other_layer != layer:
        raise ValueError(f"{mine[0]}: belongs to {other_layer}; {expected.name} is missing.")
    notes.append(f"{mine[0]}: graded as {expected.name}.")
    return mine[0]


def _graded_ids(notebook: Path) -> set[str]:
    """Read a notebook as nbgrader will; return the ids of its graded cells."""
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


def _visible(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.iterdir()) if not path.name.startswith(".")]


def _is_notebook(path: Path) -> bool:
    return path.name.endswith(NOTEBOOK_SUFFIXES)
