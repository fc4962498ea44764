"""What was put right in a submission, in a sentence for the student and one for the instructor."""

from __future__ import annotations

from dataclasses import dataclass

_NO_LOSS = "This cost you nothing."
# kind -> (for the student, for the instructor); {cell} is the cell's name, never a student's text.
SENTENCES = {
    "encoding": (
        f"The file was not saved as UTF-8 text; it was read anyway. {_NO_LOSS}",
        "the file is not plain UTF-8; it was decoded.",
    ),
    "format": (
        f"The notebook was saved in an old format; it was brought up to date. {_NO_LOSS}",
        "the notebook was in an old or undeclared format; it was read as format 4.",
    ),
    "newer_format": (
        f"The notebook says that it has a newer format; it was read as the known one. {_NO_LOSS}",
        "the notebook declares a format newer than 4; it was read as format 4.",
    ),
    "kernel": (
        f"The notebook named another kernel; it was run with the course's. {_NO_LOSS}",
        "another kernel or none was named; the master's was set.",
    ),
    "broken_cell": (
        "One part of the notebook was not a cell; it was left out or emptied. "
        "Check that your answers are all in the graded notebook.",
        "something that is no cell, or a source that is no text, was left out.",
    ),
    "missing": (
        'The cell "{cell}" was missing and was put back. If it held your answer, that is lost.',
        'cell "{cell}" was missing; the master\'s was put back.',
    ),
    "missing_locked": (
        f'The cell "{{cell}}" was missing and was put back. {_NO_LOSS}',
        'cell "{cell}" was missing; the master\'s was put back.',
    ),
    "duplicate": (
        'The cell "{cell}" was there more than once; the one with your answer was graded.',
        'cell "{cell}" was there more than once; the answered one was taken as the answer.',
    ),
    "retyped": (
        f'The cell "{{cell}}" had become another type of cell; its type was set right. {_NO_LOSS}',
        'cell "{cell}" had another type; the master\'s type was set.',
    ),
    "identity": (
        f'The cell "{{cell}}" had lost its name; it was found by what it holds. {_NO_LOSS}',
        'cell "{cell}" had lost its nbgrader metadata; it was matched by its {how}.',
    ),
    "moved": (
        f"Some cells stood in another order; the course's order was restored. {_NO_LOSS}",
        "cells stood in another order; the master's order was restored.",
    ),
    "locked": (
        'The cell "{cell}" belongs to the course and had been changed; the original was graded.',
        'locked cell "{cell}" had been changed; the master\'s was restored.',
    ),
    "kept": (
        'What you wrote into the course\'s cell "{cell}" was kept in a cell of its own before it.',
        'code that a student wrote into locked cell "{cell}" was kept in a cell before it.',
    ),
    "points": (
        f'The points of the cell "{{cell}}" had changed; they were set right. {_NO_LOSS}',
        'points of cell "{cell}" had been changed; the master\'s were restored.',
    ),
    "flags": (
        f'The grading marks of the cell "{{cell}}" had changed; they were set right. {_NO_LOSS}',
        'nbgrader flags of cell "{cell}" had been changed; the master\'s were restored.',
    ),
    "schema": (
        f'The cell "{{cell}}" had marks of another version; they were brought up to date. '
        f"{_NO_LOSS}",
        'cell "{cell}" had an unexpected schema_version; it was set to 3.',
    ),
    "tags": (
        "Tags that change how a cell runs, such as skip-execution, were removed.",
        "tags that change how a cell runs were removed.",
    ),
    "unknown": (
        "A cell with grading marks that do not belong to this notebook was kept as a plain cell.",
        "a cell with an unknown grade_id was kept as a plain cell.",
    ),
}


@dataclass(frozen=True)
class Repair:
    """One thing that was put right before grading.

    Attributes
    ----------
    kind : str
        A key of `SENTENCES`.
    grade_id : str or None
        The cell of the master that it concerns.
    student, instructor : str
        What each of the two is told.
    """

    kind: str
    grade_id: str | None
    student: str
    instructor: str


def repair_note(kind: str, grade_id: str | None = None, how: str = "") -> Repair:
    """Word one repair."""
    student, instructor = SENTENCES[kind]
    return Repair(
        kind, grade_id, student.format(cell=grade_id), instructor.format(cell=grade_id, how=how)
    )
