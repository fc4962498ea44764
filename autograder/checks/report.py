"""What a check found: in words for the student, in fields for the course."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass

_LISTENER: ContextVar[list[Report] | None] = ContextVar("listener", default=None)
_HEAD = re.compile(r"^(?P<function>\w+): (?P<score>[\d.]+) of (?P<points>[\d.]+) points$")
_MISTAKE = re.compile(r"^  Misconception (?P<id>[A-Z]+\d+): (?P<name>.*)$")
_FAILED = re.compile(r"^  lost    (?P<property>.*?)  +[\d.]+ of [\d.]+$")


@dataclass(frozen=True)
class Outcome:
    """One graded property: what it is worth, what was earned, and why points were lost."""

    name: str
    points: float
    earned: float
    reason: str | None


@dataclass(frozen=True)
class Report:
    """The verdict of one check."""

    function: str
    points: float
    score: float
    outcomes: tuple[Outcome, ...]
    mistake: str | None
    mistake_name: str | None
    sentence: str | None
    seed: int

    def text(self) -> str:
        """Write the report as a student reads it; `parse` reads it back."""
        lines = [f"{self.function}: {self.score:g} of {self.points:g} points"]
        width = max(len(outcome.name) for outcome in self.outcomes)
        for outcome in self.outcomes:
            mark = "right " if outcome.reason is None else "lost  "
            earned = f"{outcome.earned:g} of {outcome.points:g}"
            lines.append(f"  {mark}  {outcome.name:<{width}}  {earned}")
            if outcome.reason is not None:
                lines.append(f"          {_one_line(outcome.reason)}")
        if self.mistake is not None:
            lines.append(f"  Misconception {self.mistake}: {self.mistake_name}")
        if self.sentence is not None:
            lines.append(f"  {_one_line(self.sentence)}")
        if self.score < self.points:
            lines.append(f"  (inputs drawn from seed {self.seed})")
        return "\n".join(lines)


def _one_line(text: str) -> str:
    # A student chooses the words of an error, and must not write lines that `parse` reads.
    return " ".join(text.split())


@dataclass(frozen=True)
class Finding:
    """What `parse` reads from the printed report of one check."""

    function: str
    score: float
    points: float
    mistake: str | None
    mistake_name: str | None
    lost: tuple[str, ...]


def parse(text: str) -> list[Finding]:
    """Read every printed report found in `text`, in order."""
    findings: list[Finding] = []
    for line in text.splitlines():
        if head := _HEAD.match(line):
            score, points = float(head["score"]), float(head["points"])
            findings.append(Finding(head["function"], score, points, None, None, ()))
        elif findings and (found := _MISTAKE.match(line)):
            last = findings[-1]
            findings[-1] = Finding(
                last.function, last.score, last.points, found["id"], found["name"], last.lost
            )
        elif findings and (lost := _FAILED.match(line)):
            last = findings[-1]
            findings[-1] = Finding(
                last.function, last.score, last.points,
                last.mistake, last.mistake_name, (*last.lost, lost["property"]),
            )  # fmt: skip
    return findings


def publish(report: Report) -> None:
    """Hand the report to whoever listens; without a listener, print it."""
    listener = _LISTENER.get()
    if listener is None:
        print(report.text())
    else:
        listener.append(report)


@contextlib.contextmanager
def listening() -> Iterator[list[Report]]:
    """Collect the reports of the checks that run inside, instead of printing them."""
    reports: list[Report] = []
    token = _LISTENER.set(reports)
    try:
        yield reports
    finally:
        _LISTENER.reset(token)
