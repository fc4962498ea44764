"""Look through a folder of submissions: what can be graded, and what somebody must look at.

Nothing in the folder is changed, and no link in it is followed.
"""

from __future__ import annotations

import csv
import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from autograder.course.listing import safe_name, visible
from autograder.course.paths import CourseError

ROSTER = "roster.csv"
# Browsers append .json or .txt to a notebook whose server names no type.
NOTEBOOK_SUFFIXES = (".ipynb", ".ipynb.json", ".ipynb.txt")
# Gives the graded cells that a notebook lacks, or a ValueError if it cannot be read.
Lacks = Callable[[Path, str], set[str]]


@dataclass(frozen=True)
class Submission:
    """One notebook that was handed in.

    Attributes
    ----------
    student, layer : str
        Whose, and of which assignment.
    notebook : pathlib.Path
        The file, under whatever name it came.
    name : str
        The notebook of the assignment that it is.
    """

    student: str
    layer: str
    notebook: Path
    name: str


@dataclass
class Survey:
    """What a folder of submissions holds.

    Attributes
    ----------
    students : list of str
        Everybody on the roster or with a folder, sorted.
    submissions : list of Submission
        What can be graded.
    missing : list of Submission
        Notebooks that were not handed in with others of their assignment.
    problems : list of str
        One line each: the file, what is wrong, what to do.
    notes : list of str
        Put right without help, and said.
    unusable : dict of (student, layer) to str
        Handed in but not gradable; the word that stands in the grade table.
    """

    students: list[str] = field(default_factory=list)
    submissions: list[Submission] = field(default_factory=list)
    missing: list[Submission] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    unusable: dict[tuple[str, str], str] = field(default_factory=dict)


@dataclass(frozen=True)
class _Look:
    """What one survey looks for."""

    expected: Mapping[str, Sequence[str]]
    layers: Sequence[str]
    roster: Mapping[str, object] | None
    lacks: Lacks | None

def survey(
    folder: Path,
    expected: Mapping[str, Sequence[str]],
    layers: Sequence[str],
    students: Iterable[str] = (),
    lacks: Lacks | None = None,
) -> Survey:
    """Find every submission, ``folder/<student>/<assignment>/<notebook>.ipynb``.

    Parameters
    ----------
    folder : pathlib.Path
        The submissions. A ``roster.csv`` in it with a column ``id`` says who is in the class;
        without one, every folder is a student.
    expected : mapping of str to sequence of str
        The notebooks of every assignment of the course.
    layers : sequence of str
        The assignments to grade now.
    students : iterable of str
        Only these students; empty takes all.
    lacks : callable, optional
        Reads a notebook and tells which graded cells it lacks. Without it no file is opened.

    Raises
    ------
    CourseError
        The folder does not exist, or a named student has no folder in it.
    """
    if not folder.is_dir():
        raise CourseError(f"{folder}: no such folder; give the one that holds <student>/<layer>/.")
    found, wanted = Survey(), set(students)
    look = _Look(expected, layers, read_roster(folder), lacks)
    for path in visible(folder, found.problems):
        if path.is_dir():
            if not wanted or path.name in wanted:
                _survey_student(path, look, found)
        elif path.name != ROSTER:
            found.problems.append(
                f"{path}: a file among the student folders; "
                "move it to <student>/<layer>/<layer>.ipynb if it is a submission."
            )
    present = [path.name for path in visible(folder) if path.is_dir()]
    if not present:
        raise CourseError(f"{folder}: no student folder in it; expected <student>/<layer>/.")
    absent = {name for name in look.roster or () if not wanted}
    found.students = sorted(set(found.students) | absent)
    if missing := wanted - set(found.students):
        raise CourseError(
            f"{folder}: unknown student {', '.join(sorted(missing))}; "
            f"the folder holds {_few(present)}."
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


def files_beside(notebook: Path) -> list[Path]:
    """List the files that were handed in with a notebook: no notebooks, no links, no folders."""
    return [path for path in visible(notebook.parent) if path.is_file() and not is_notebook(path)]


def is_notebook(path: Path) -> bool:
    """Tell by its name whether a file is a notebook."""
    return path.name.endswith(NOTEBOOK_SUFFIXES)


def _survey_student(folder: Path, look: _Look, found: Survey) -> None:
    if safe_name(folder.name) != folder.name:
        found.problems.append(
            f'{folder}: not graded, its name holds <, >, ", a backslash or a control character, '
            "which could run in formgrader's pages; rename the folder."
        )
        return
    if look.roster is not None and folder.name not in look.roster:
        found.problems.append(
            f"{folder}: unknown student '{folder.name}', not graded; "
            f"rename the folder or add a line to {folder.parent / ROSTER}."
        )
        return
    found.students.append(folder.name)
    children = visible(folder, found.problems)
    if not any(path.is_dir() for path in children):
        found.problems.append(f"{folder}: no assignment in it; expected <layer>/<layer>.ipynb.")
    for path in children:
        if path.is_file():
            found.problems.append(
                f"{path}: not graded, it lies outside an assignment folder; "
                f"move it to {folder}/<layer>/<layer>.ipynb."
            )
        elif path.name not in look.expected:
            close = difflib.get_close_matches(path.name, look.expected, n=1)
            hint = f"did you mean {close[0]}?" if close else f"they are {_few(look.expected)}."
            found.problems.append(f"{path}: unknown assignment '{path.name}', not graded; {hint}")
        elif path.name in look.layers:
            _survey_assignment(path, look, found)


def _survey_assignment(folder: Path, look: _Look, found: Survey) -> None:
    student, layer = folder.parent.name, folder.name
    picked = _pick(folder, look.expected, found)
    for name in look.expected[layer]:
        item = Submission(student, layer, picked.get(name, folder / f"{name}.ipynb"), name)
        if name in picked:
            _look_inside(item, look, found)
        elif picked:
            found.missing.append(item)
            found.notes.append(f"{item.notebook}: not handed in; it counts 0.")
    if not picked:
        found.unusable[student, layer] = "missing"


def _look_inside(item: Submission, look: _Look, found: Survey) -> None:
    if look.lacks is not None:
        try:
            missing = look.lacks(item.notebook, item.layer)
        except ValueError as error:
            found.problems.append(f"{item.notebook}: {error}")
            found.unusable[item.student, item.layer] = "broken"
            return
        if missing:
            found.problems.append(
                f"{item.notebook}: graded cells are missing and count 0: "
                f"{', '.join(sorted(missing))}; ask for a notebook made from the released one."
            )
    found.submissions.append(item)


def _pick(folder: Path, expected: Mapping[str, Sequence[str]], found: Survey) -> dict[str, Path]:
    """Find the file of each notebook: under its name, or the only one that can be meant."""
    names = expected[folder.name]
    shown = visible(folder, found.problems)
    files = [path for path in shown if path.is_file() and is_notebook(path)]
    picked = {path.stem: path for path in files if path.suffix == ".ipynb" and path.stem in names}
    others = [path for path in files if path not in picked.values()]
    for name in names:
        place = folder / f"{name}.ipynb"
        alone = len(names) == 1 and len(others) == 1
        mine = [path for path in others if alone or path.name.startswith(name)]
        if name in picked:
            spare = others if len(names) == 1 else mine
            found.notes += [f"{path}: ignored, {place.name} lies beside it." for path in spare]
        elif len(mine) != 1:
            keep = _few(path.name for path in mine or others)
            way = f"keep one of {keep} under this name." if others else "ask for the file."
            found.problems.append(f"{place}: missing; {way}")
        elif (other := mine[0].name.split(".")[0]) in expected and other != name:
            found.problems.append(f"{mine[0]}: belongs to {other}; {place.name} is missing.")
        else:
            picked[name] = mine[0]
            found.notes.append(f"{mine[0]}: graded as {place.name}.")
    return picked


def _few(names: Iterable[str]) -> str:
    listed = list(names) or ["nobody"]
    return ", ".join(listed[:12]) + (f" and {len(listed) - 12} more" if len(listed) > 12 else "")
