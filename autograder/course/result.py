"""What grading a class gave, for whoever reports it."""

from __future__ import annotations

from dataclasses import dataclass, field

from autograder.course.changes import Change
from autograder.course.isolated import Isolation
from autograder.grading.findings import Finding

Cell = tuple[str, str]


@dataclass
class Result:
    """What the class did.

    Attributes
    ----------
    layers : list of str
        The assignments: columns of the grade table.
    students : list of str
        Its rows.
    max_scores : dict of str to float
        Points of each layer.
    scores : dict of (student, layer) to float
        What was graded, now or in an earlier run.
    unusable : dict of (student, layer) to str
        Handed in but not graded: missing, broken or failed.
    findings : dict of (student, layer) to list of (Finding, str)
        What the hidden tests reported, at least where points were lost, with the reason in one
        line.
    problems, notes : list of str
        What somebody must look at; what was put right without help.
    graded : int
        Number of notebooks graded in this run; the rest had not changed.
    resumed : int
        Verdicts taken over from a run that was cut short.
    isolation : Isolation
        What kept the submissions apart; empty for the stock engine.
    repaired : dict of str to tuple of str
        By submitted file, what was put right in it before grading.
    forgeable : list of str
        Graded cells whose tests ran beside the student's code, as ``assignment/cell``.
    changed : list of Change
        Where this run gave another score than the one before.
    """

    layers: list[str]
    students: list[str]
    max_scores: dict[str, float] = field(default_factory=dict)
    scores: dict[Cell, float] = field(default_factory=dict)
    unusable: dict[Cell, str] = field(default_factory=dict)
    findings: dict[Cell, list[tuple[Finding, str]]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    graded: int = 0
    resumed: int = 0
    isolation: Isolation = field(default_factory=Isolation)
    repaired: dict[str, tuple[str, ...]] = field(default_factory=dict)
    forgeable: list[str] = field(default_factory=list)
    changed: list[Change] = field(default_factory=list)
