"""Print what grading found, for a reader at the end of a long day."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from autograder.course.grade import Result

NOT_HANDED_IN = "-"


def grade_table(result: Result) -> str:
    """Lay out students by layers, with points to be had in the head and a total per student."""
    head = ["student", *(f"{layer} /{result.max_scores[layer]:g}" for layer in result.layers)]
    rows = [[*head, f"total /{sum(result.max_scores.values()):g}"]]
    for student in result.students:
        cells = [_cell(result, student, layer) for layer in result.layers]
        rows.append([student, *cells, f"{_total(result, student):g}"])
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["  ".join(_align(row, widths)).rstrip() for row in rows]
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]])


def findings_list(result: Result) -> str:
    """Say in one line per student what was found."""
    width = max((len(student) for student in result.students), default=0)
    return "\n".join(
        f"{student:<{width}}  {_findings_of(result, student)}" for student in result.students
    )


def report(result: Result) -> str:
    """Compose the whole printed report: table, findings, notes, problems."""
    parts = [grade_table(result), "What was found\n" + findings_list(result)]
    if result.notes:
        parts.append("Put right\n" + "\n".join(result.notes))
    if result.problems:
        parts.append(
            f"{len(result.problems)} problem(s) to look at\n" + "\n".join(result.problems)
        )
    return "\n\n".join(parts)


def as_json(result: Result) -> dict[str, Any]:
    """Give the report as plain data, for ``--json``."""
    return {
        "graded": result.graded,
        "max_scores": result.max_scores,
        "students": {
            student: {
                "scores": _by_layer(result.scores, student),
                "not_graded": _by_layer(result.unusable, student),
                "findings": [
                    {"layer": layer, "function": finding.function, "score": finding.score,
                     "points": finding.points, "mistake": finding.mistake, "reason": reason}
                    for layer, finding, reason in _lost(result, student)
                ],
            }
            for student in result.students
        },
        "notes": result.notes,
        "problems": result.problems,
    }


def _by_layer(values: dict[tuple[str, str], Any], student: str) -> dict[str, Any]:
    return {layer: value for (name, layer), value in values.items() if name == student}


def _cell(result: Result, student: str, layer: str) -> str:
    if (student, layer) in result.unusable:
        return result.unusable[student, layer]
    score = result.scores.get((student, layer))
    return NOT_HANDED_IN if score is None else f"{score:g}"


def _total(result: Result, student: str) -> float:
    return sum(_by_layer(result.scores, student).values())


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
    words += [f"{layer}: {word}" for layer, word in _by_layer(result.unusable, student).items()]
    if words:
        return "; ".join(words)
    return "nothing lost" if _by_layer(result.scores, student) else "nothing handed in"
