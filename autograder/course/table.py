"""Grades as a table, findings as lines, both as plain data."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from autograder.course.result import Result

NOT_HANDED_IN = "-"
LONGEST_NAME = 40
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def one_line(text: str) -> str:
    """Show a text that may be a student's without what ends a line or moves the cursor."""
    return _CONTROL.sub("?", text)


def grade_table(result: Result) -> str:
    """Lay out students by layers, with points to be had in the head and a total per student."""
    head = ["student", *(f"{layer} /{result.max_scores[layer]:g}" for layer in result.layers)]
    rows = [[*head, f"total /{sum(result.max_scores.values()):g}"]]
    for student in result.students:
        cells = [_cell(result, student, layer) for layer in result.layers]
        rows.append([_name(student), *cells, f"{total(result, student):g}"])
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["  ".join(_align(row, widths)).rstrip() for row in rows]
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]])


def findings_list(result: Result, *, everybody: bool = True) -> str:
    """Say in one line per student what was found; of whom nothing was, only if asked."""
    width = max((len(_name(student)) for student in result.students), default=0)
    found = {student: _findings_of(result, student) for student in result.students}
    return "\n".join(
        f"{_name(student):<{width}}  {one_line(words) or _without(result, student)}"
        for student, words in found.items()
        if words or everybody
    )


def total(result: Result, student: str) -> float:
    """Add up what a student got."""
    return sum(result.scores.get((student, layer), 0.0) for layer in result.layers)


def as_json(result: Result) -> dict[str, Any]:
    """Give the report as plain data, for ``--json``."""
    return {
        "isolation": asdict(result.isolation),
        "graded": result.graded,
        "resumed": result.resumed,
        "max_scores": result.max_scores,
        "students": {
            student: {
                "scores": _by_layer(result, result.scores, student),
                "not_graded": _by_layer(result, result.unusable, student),
                "findings": [
                    {"layer": layer, "function": finding.function, "score": finding.score,
                     "points": finding.points, "mistake": finding.mistake, "reason": reason}
                    for layer, finding, reason in _lost(result, student)
                ],
            }
            for student in result.students
        },
        "changed": [
            {"student": change.after.student, "layer": change.after.assignment,
             "cells": change.cells, "reasons": change.reasons}
            for change in result.changed
        ],
        "repaired": result.repaired,
        "forgeable": result.forgeable,
        "notes": result.notes,
        "problems": result.problems,
    }  # fmt: skip


def _name(student: str) -> str:
    return one_line(student)[:LONGEST_NAME]


def _by_layer(
    result: Result, values: dict[tuple[str, str], Any], student: str
) -> dict[str, Any]:
    keys = ((student, layer) for layer in result.layers)
    return {key[1]: values[key] for key in keys if key in values}


def _cell(result: Result, student: str, layer: str) -> str:
    if (student, layer) in result.unusable:
        return result.unusable[student, layer]
    score = result.scores.get((student, layer))
    return NOT_HANDED_IN if score is None else f"{score:g}"


def _align(row: list[str], widths: list[int]) -> Iterator[str]:
    yield f"{row[0]:<{widths[0]}}"
    for text, width in zip(row[1:], widths[1:]):
        yield f"{text:>{width}}"


def _lost(result: Result, student: str) -> Iterator[tuple[str, Any, str]]:
    for layer in result.layers:
        for finding, reason in result.findings.get((student, layer), []):
            if finding.score < finding.points:
                yield layer, finding, reason


def _findings_of(result: Result, student: str) -> str:
    by_reason: dict[str, list[str]] = {}
    for _, finding, reason in _lost(result, student):
        score = f"{finding.function} {finding.score:g}/{finding.points:g}"
        by_reason.setdefault(reason, []).append(score)
    words = [f"{', '.join(scores)}: {reason}" for reason, scores in by_reason.items()]
    unusable = _by_layer(result, result.unusable, student)
    return "; ".join([*words, *(f"{layer}: {word}" for layer, word in unusable.items())])


def _without(result: Result, student: str) -> str:
    return "nothing lost" if _by_layer(result, result.scores, student) else "nothing handed in"
