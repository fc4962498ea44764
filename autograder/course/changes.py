"""What the last run changed, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from autograder.course.ledger import Ledger
from autograder.course.record import Record, Score

# Field of `Digests` -> why another value of it gives another score.
REASONS = {
    "submission": "handed in again",
    "master": "the exercise changed",
    "engine": "another version of the grader",
    "secret": "other hidden inputs (the course secret changed)",
}


@dataclass(frozen=True)
class Change:
    """One notebook whose score the last run changed."""

    before: Record
    after: Record

    @property
    def reasons(self) -> tuple[str, ...]:
        """Say why the score may be another one."""
        old, new = self.before.digests, self.after.digests
        found = [text for name, text in REASONS.items() if getattr(old, name) != getattr(new, name)]
        if self.before.status != self.after.status:
            found.append(f"{self.before.status} before, now {self.after.status}")
        return tuple(found) or ("graded again with --force, nothing else changed",)

    @property
    def line(self) -> str:
        """Say all of it in one line."""
        what = ", ".join(self.cells) or f"now {self.after.status}"
        return f"{self.after.student}, {self.after.notebook}: {what} ({'; '.join(self.reasons)})"

    @property
    def cells(self) -> tuple[str, ...]:
        """Name the cells whose score changed, with both scores."""
        old, new = self.before.scores, self.after.scores
        return tuple(
            f"{name} {_points(old, name)} -> {_points(new, name)}"
            for name in dict.fromkeys((*old, *new))
            if _points(old, name) != _points(new, name)
        )


def changes(ledger: Ledger) -> Iterator[Change]:
    """List the notebooks to which the last run gave another score than the run before."""
    for identity in ledger.changed():
        before, after = ledger.before(identity), ledger.latest(identity)
        if before is not None and after is not None:
            change = Change(before, after)
            if change.cells or before.status != after.status:
                yield change


def _points(scores: Mapping[str, Score], name: str) -> str:
    score = scores[name].score if name in scores else None
    return "-" if score is None else f"{score:g}"
