"""Recompute the verdict on one notebook, for a student who appeals."""

from __future__ import annotations

from pathlib import Path

from autograder.course import stock
from autograder.course.folders import Folders
from autograder.course.isolated import load_masters
from autograder.course.ledger import Ledger
from autograder.course.paths import Course, CourseError
from autograder.course.record import Record
from autograder.course.secret import course_secret
from autograder.course.survey import files_beside
from autograder.grading.files import read_files
from autograder.grading.replay import Replay, receipt_in, replay
from autograder.grading.result import digest_of
from autograder.grading.submission import Engine
from autograder.grading.tiers import SandboxRefused


def replay_verdict(
    course: Course, receipt: Path, submission: Path | None = None, *, allow_weak: bool = False
) -> tuple[bool, str]:
    """Grade a submission again as its receipt says, and compare.

    Parameters
    ----------
    course : Course
        Its secret and its instructor's notebook are used.
    receipt : pathlib.Path
        An executed notebook with a receipt in it, or a receipt alone.
    submission : pathlib.Path, optional
        The notebook as it was handed in; None looks it up in the ledger.
    allow_weak : bool
        Run below tier B.

    Returns
    -------
    same : bool
        Whether the same verdict came out.
    text : str
        The verdict in lines, and the differences.

    Raises
    ------
    CourseError
        There is no receipt, or the submission is not at hand.
    """
    try:
        written = receipt_in(receipt.read_bytes())
    except (OSError, ValueError) as error:
        raise CourseError(f"{receipt}: {error}") from None
    handed_in = submission or _find(course, str(written.get("submission")))
    raw, (files, _) = handed_in.read_bytes(), read_files(handed_in.parent, files_beside(handed_in))
    names = str(written.get("assignment")), str(written.get("notebook"))
    config = stock.load_config(course.root)
    master = load_masters(Folders.of(course), config, {names[0]: [names[1]]})[names]
    try:
        with Engine(allow_weak=allow_weak, secret=course_secret(course)) as engine:
            outcome = replay(written, raw, master, engine, files)
    except SandboxRefused as error:
        raise CourseError(str(error)) from error
    return outcome.same, _text(outcome, handed_in)


def _find(course: Course, digest: str) -> Path:
    """Find a submission by its digest among those that were graded."""
    if course.ledger.exists():
        with Ledger(course.ledger) as ledger:
            for identity in ledger:
                record = ledger.latest(identity)
                if record is not None and _is(record, digest):
                    return Path(record.path)
    raise CourseError(
        "the submission that this receipt is about is not where it was graded, or has changed; "
        "name it with --submission."
    )


def _is(record: Record, digest: str) -> bool:
    path = Path(record.path)
    return path.is_file() and digest_of(path.read_bytes()) == digest


def _text(outcome: Replay, submission: Path) -> str:
    lines = [f"{submission}"]
    for name, verdict in outcome.result.verdicts.items():
        score = "by hand" if verdict.score is None else f"{verdict.score:g}"
        lines.append(f"  {name}: {score} of {verdict.max_score:g} {verdict.reason}".rstrip())
    if outcome.same:
        return "\n".join([*lines, "same: the verdict came out as before."])
    return "\n".join([*lines, "different:", *(f"  {line}" for line in outcome.differences)])
