"""A class of 12 made-up students who hand in the release with answers written into it."""

from __future__ import annotations

import inspect
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat

from autograder.course.sample_class import ada, emmy, slips
from autograder.course.sample_class.roster import ROSTER, Student

__all__ = ["LAYERS", "ROSTER", "Student", "answer_of", "write_sample_class"]

# What the class was asked to hand in: the first five notebooks of the course.
LAYERS = ("embedding", "layernorm", "rmsnorm", "dropout", "initialization")
_BASES: dict[str, Any] = {"ada": ada, "emmy": emmy}
_DEFINES = re.compile(r"^def (\w+)\(", re.MULTILINE)


def write_sample_class(exercises: Path, target: Path) -> list[str]:
    """Write the submissions of the sample class from the released notebooks.

    Parameters
    ----------
    exercises : Path
        Folder of the release, ``<layer>/<layer>.ipynb``.
    target : Path
        Folder of the submissions, replaced whole: ``<student>/<layer>/<layer>.ipynb``.

    Returns
    -------
    list of str
        Names of the students.
    """
    shutil.rmtree(target, ignore_errors=True)
    for student in ROSTER:
        for layer in sorted(LAYERS):
            released = exercises / layer / f"{layer}.ipynb"
            folder = target / student.name / layer
            folder.mkdir(parents=True)
            name = f"{layer} (1).ipynb" if student.renamed == layer else f"{layer}.ipynb"
            nbformat.write(_fill_in(released, student), folder / name)
    return [student.name for student in ROSTER]


def answer_of(student: Student, function: str) -> Callable[..., Any] | None:
    """Give what a student hands in for an exercise function; None if that does not run."""
    if function in student.unfinished or function == student.unreadable:
        return None
    own = getattr(slips, f"{student.name}__{function}", None)
    return own or getattr(_BASES[student.base], function)


def _fill_in(released: Path, student: Student) -> Any:
    notebook = nbformat.read(released, as_version=4)
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("solution"):
            cell.source = _source(student, _DEFINES.findall(cell.source)[0], cell.source)
    return notebook


def _source(student: Student, function: str, starter: str) -> str:
    if function == student.unreadable:
        return f"def {function}(x, gamma, eps=1e-5)\n    return gamma * x"
    answer = answer_of(student, function)
    if answer is None:
        return starter
    return inspect.getsource(answer).replace(f"def {student.name}__", "def ")
