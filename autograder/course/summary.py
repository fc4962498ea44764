"""The printed report: for an instructor who is tired and has a hundred students."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from autograder.course.result import Result
from autograder.course.table import findings_list, grade_table, one_line, total

# A longer class is summed up; its table is in grades.csv.
LONGEST_TABLE = 40
MOST_LINES = 25
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def summary(result: Result, grades_csv: Path, *, verbose: bool = False) -> str:
    """Compose the report: isolation, grades, what was found, what needs a person.

    Parameters
    ----------
    result : Result
        Of `autograder.course.grade.grade`.
    grades_csv : pathlib.Path
        Where the whole table is.
    verbose : bool
        Say everything about everybody.
    """
    parts = [
        _isolation(result),
        _grades(result, grades_csv, verbose=verbose),
        _section("What was found", findings_list(result, everybody=verbose).splitlines(), verbose),
        _section("Changed since the last run", (one.line for one in result.changed), verbose),
        _section("Repaired before grading", _repaired(result), verbose),
        _section("Noted", result.notes, verbose),
        _forgeable(result),
        _section(f"{len(result.problems)} problem(s) to look at", result.problems, verbose=True),
    ]
    # Names of files and folders come from students.
    return _CONTROL.sub("", "\n\n".join(part for part in parts if part))


def _isolation(result: Result) -> str:
    isolation = result.isolation
    if not isolation.tier:
        return ""
    held = [name for name, state in isolation.layers.items() if not state.startswith("off")]
    lines = [f"Submissions ran isolated at tier {isolation.tier} ({', '.join(held)})."]
    return "\n".join([*lines, *([isolation.risk] if isolation.risk else [])])


def _grades(result: Result, grades_csv: Path, *, verbose: bool) -> str:
    if verbose or len(result.students) <= LONGEST_TABLE:
        return grade_table(result)
    full = sum(result.max_scores.values())
    lines = [f"{'layer':<16} {'handed in':>9} {'mean':>7} {'median':>7} {'full':>5} {'zero':>5}"]
    for layer in result.layers:
        scores = sorted(score for (_, name), score in result.scores.items() if name == layer)
        points = result.max_scores[layer]
        lines.append(_row(f"{layer} /{points:g}", scores, points))
    totals = sorted(total(result, student) for student in result.students)
    lines.append(_row(f"total /{full:g}", totals, full))
    return "\n".join([*lines, f"{len(result.students)} students; the table is in {grades_csv}."])


def _row(name: str, scores: list[float], points: float) -> str:
    if not scores:
        return f"{name:<16} {0:>9}"
    mean, median = sum(scores) / len(scores), scores[len(scores) // 2]
    full, zero = sum(score >= points for score in scores), sum(score <= 0 for score in scores)
    return f"{name:<16} {len(scores):>9} {mean:>7.1f} {median:>7g} {full:>5} {zero:>5}"


def _repaired(result: Result) -> list[str]:
    """Name each file once; equal repairs of many files in one line."""
    by_repair: dict[tuple[str, ...], list[str]] = {}
    for path, repairs in result.repaired.items():
        by_repair.setdefault(tuple(dict.fromkeys(repairs)), []).append(path)
    lines = []
    for repairs, paths in by_repair.items():
        where = paths[0] if len(paths) == 1 else f"{paths[0]} and {len(paths) - 1} more"
        lines.append(f"{where}: {' '.join(repairs[:4])}{' ...' if len(repairs) > 4 else ''}")
    return lines


def _forgeable(result: Result) -> str:
    if not result.forgeable:
        return ""
    return (
        f"{len(result.forgeable)} forgeable cell(s): {', '.join(sorted(result.forgeable))}.\n"
        "Their tests work on the student's own variables, so they ran beside the student's code, "
        "which can make them pass. Look at full marks there yourself, or let the tests call "
        "functions instead."
    )


def _section(title: str, lines: Iterable[str], verbose: bool) -> str:
    counted = Counter(map(one_line, lines))
    shown = [f"{line} (x{times})" if times > 1 else line for line, times in counted.items()]
    if not shown:
        return ""
    if not verbose and len(shown) > MOST_LINES:
        rest = len(shown) - MOST_LINES
        shown = [*shown[:MOST_LINES], f"... and {rest} more; --verbose shows all"]
    return "\n".join([title, *shown])
