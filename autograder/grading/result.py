"""What grading one submission takes and gives."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from autograder.grading.score import Verdict
from autograder.grading.wording import Repair


@dataclass(frozen=True)
class Job:
    """One notebook that was handed in.

    Attributes
    ----------
    student, assignment, notebook : str
        Whose it is and what it answers.
    path : Path
        The file, which may have another name than the notebook.
    files : tuple of Path
        Other files of the submission, for the student's code; links are refused. The
        assignment's own files come with the master.
    salt : str
        Adds to the seeds of the checks; empty takes the submission's digest.
    """

    student: str
    assignment: str
    notebook: str
    path: Path
    files: tuple[Path, ...] = ()
    salt: str = ""


@dataclass
class Result:
    """What grading one submission gave.

    Attributes
    ----------
    student, assignment, notebook : str
        From the job.
    status : str
        ``graded`` or ``unreadable``.
    verdicts : dict of str to Verdict
        By cell.
    comments : dict of str to (str or None)
        nbgrader's automatic comments, by cell.
    repairs : tuple of Repair
        What was put right before grading.
    problems : tuple of str
        What somebody should look at.
    receipt : dict
        How it was graded; it is in the notebook's metadata too.
    autograded : str or None
        The graded notebook's text.
    seconds : dict of str to float
        Where the time went.
    """

    student: str
    assignment: str
    notebook: str
    status: str
    verdicts: dict[str, Verdict] = field(default_factory=dict)
    comments: dict[str, str | None] = field(default_factory=dict)
    repairs: tuple[Repair, ...] = ()
    problems: tuple[str, ...] = ()
    receipt: dict[str, Any] = field(default_factory=dict)
    autograded: str | None = None
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def score(self) -> float:
        """Points so far; cells that a person must grade count nothing yet."""
        return sum(verdict.score or 0.0 for verdict in self.verdicts.values())

    @property
    def max_score(self) -> float:
        """Points to be had."""
        return sum(verdict.max_score for verdict in self.verdicts.values())

    def to_json(self) -> str:
        """Write the result as one line of JSON."""
        return json.dumps(asdict(self), ensure_ascii=True)

    @classmethod
    def from_json(cls, text: str) -> Result:
        """Read what `to_json` wrote."""
        data = json.loads(text)
        data["verdicts"] = {
            name: Verdict(**{**entry, "lost": tuple(entry["lost"])})
            for name, entry in data["verdicts"].items()
        }
        data["repairs"] = tuple(Repair(**entry) for entry in data["repairs"])
        data["problems"] = tuple(data["problems"])
        return cls(**data)


def digest_of(raw: bytes) -> str:
    """Name a submission by its bytes."""
    return hashlib.sha256(raw).hexdigest()


class Stopwatch:
    """Adds up where the time of one submission goes."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._began = self._last = time.perf_counter()

    def lap(self, name: str) -> None:
        """End a part."""
        now = time.perf_counter()
        self.seconds[name] = self.seconds.get(name, 0.0) + now - self._last
        self._last = now

    def stop(self, parts: Mapping[str, float]) -> dict[str, float]:
        """Give all parts and the total, rounded."""
        total = time.perf_counter() - self._began
        return {k: round(v, 5) for k, v in {**self.seconds, **parts, "total": total}.items()}
