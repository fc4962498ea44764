"""What is kept about one graded notebook: enough for the gradebook, the report and an appeal."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

Identity = tuple[str, str, str]

GRADED, UNREADABLE, FAILED, MISSING = "graded", "unreadable", "failed", "missing"


@dataclass(frozen=True)
class Digests:
    """What a verdict depends on; if none of it changed, neither did the verdict.

    Attributes
    ----------
    submission : str
        SHA-256 of the notebook and of the files handed in with it.
    master : str
        Digest of the instructor's notebook.
    engine : str
        Version of the grader.
    secret : str
        Identifies the course secret, from which the hidden inputs are drawn, without telling it.
    """

    submission: str
    master: str
    engine: str
    secret: str

    @property
    def key(self) -> str:
        """One name for all four."""
        text = "\n".join((self.submission, self.master, self.engine, self.secret))
        return hashlib.sha256(text.encode()).hexdigest()[:32]


@dataclass(frozen=True)
class Score:
    """The verdict on one graded cell.

    Attributes
    ----------
    kind : str
        ``grade`` or ``task`` (nbgrader's words).
    score : float or None
        None if a person must grade the cell.
    points : float
        What the cell is worth.
    reason : str
        Why points were lost, in one line.
    mistake : str or None
        Id of the known mistake.
    lost : tuple of str
        Properties that did not hold.
    forgeable : bool
        The cell's tests ran beside the student's code, which could have interfered.
    """

    kind: str
    score: float | None
    points: float
    reason: str = ""
    mistake: str | None = None
    lost: tuple[str, ...] = ()
    forgeable: bool = False


@dataclass(frozen=True)
class Record:
    """One line of the ledger: a submission and what became of it."""

    student: str
    assignment: str
    notebook: str
    path: str
    status: str
    digests: Digests
    scores: dict[str, Score] = field(default_factory=dict)
    comments: dict[str, str | None] = field(default_factory=dict)
    repairs: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    tier: str = ""
    seconds: dict[str, float] = field(default_factory=dict)
    size: int = 0
    forced: bool = False

    @property
    def identity(self) -> Identity:
        """Student, assignment and notebook."""
        return self.student, self.assignment, self.notebook

    @property
    def score(self) -> float:
        """Sum of the scores that are known."""
        return sum(score.score or 0.0 for score in self.scores.values())

    def to_json(self) -> str:
        """Write the record on one line."""
        return json.dumps(asdict(self), separators=(",", ":"), ensure_ascii=False)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Record:
        """Read what `to_json` wrote."""
        scores = {
            name: Score(**{**score, "lost": tuple(score["lost"])})
            for name, score in data.pop("scores").items()
        }
        repairs, problems = tuple(data.pop("repairs")), tuple(data.pop("problems"))
        digests = Digests(**data.pop("digests"))
        return cls(**data, scores=scores, repairs=repairs, problems=problems, digests=digests)


def digest_files(notebook: Path, others: Iterable[Path] = ()) -> str:
    """Return the SHA-256 of a notebook and of the files beside it, read in pieces."""
    total = hashlib.sha256()
    for path in (notebook, *others):
        with path.open("rb") as file:
            one = hashlib.file_digest(file, "sha256").hexdigest()
        # The notebook's own name does not count: a browser renames downloads.
        total.update(f"{'' if path == notebook else path.name}\0{one}\n".encode())
    return total.hexdigest()
