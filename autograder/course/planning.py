"""Decide which submissions must be graded: those whose verdict could be another one now."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.course.folders import Folders
from autograder.course.ledger import Ledger
from autograder.course.record import (
    GRADED,
    MISSING,
    UNREADABLE,
    Digests,
    Identity,
    Record,
    digest_files,
)
from autograder.course.survey import Submission, Survey, files_beside
from autograder.course.worker import Engine, Task

# What a notebook reads is kilobytes; the rest of a folder may be somebody's film collection.
LARGEST_FILE = 64_000_000
TIMESTAMP = "timestamp.txt"

# By assignment and notebook.
Masters = Mapping[tuple[str, str], Any]


@dataclass(frozen=True)
class Grader:
    """What a run grades with.

    Attributes
    ----------
    version : str
        Of the engine; another one grades everything anew.
    secret : str
        Identifies the course secret.
    masters : mapping of (assignment, notebook) to master
        Each has ``digest`` and ``files``.
    open_engine : callable
        Returns a context manager that gives an engine; picklable.
    make_job : callable
        Turns a `Task` into what the engine grades; picklable.
    prepare : callable
        Opens an engine once in this process, to refuse early where the isolation is too weak and
        to make the masters ready, which it returns.
    """

    version: str
    secret: str
    masters: Masters
    open_engine: Callable[[], AbstractContextManager[Engine]]
    make_job: Callable[[Task], Any]
    prepare: Callable[[Masters], Masters]


@dataclass(frozen=True)
class _Todo:
    item: Submission
    digest: str


class Plan:
    """What one run has to do.

    Attributes
    ----------
    todo : list
        What must be graded.
    problems : list of str
        Files that cannot be read or are left out.
    """

    def __init__(
        self, found: Survey, ledger: Ledger, folders: Folders, grader: Grader, force: bool
    ) -> None:
        self._found, self._ledger, self._folders = found, ledger, folders
        self._grader, self._force = grader, force
        self.problems: list[str] = []
        self.todo: list[_Todo] = []
        self._left_out: set[Identity] = set()
        for item in found.submissions:
            self._consider(item)

    @property
    def total(self) -> int:
        """Number of submissions in question."""
        return len(self._found.submissions)

    def identities(self) -> Iterator[Identity]:
        """List everything in question, graded now or before."""
        for item in (*self._found.submissions, *self._found.missing):
            if (identity := _identity(item)) not in self._left_out:
                yield identity

    def due(self) -> set[Identity]:
        """List what is graded in this run."""
        return {_identity(one.item) for one in self.todo}

    def known(self) -> Iterator[Identity]:
        """List what was graded before and has not changed."""
        due = self.due()
        return (identity for identity in self.identities() if identity not in due)

    def sizes(self) -> Iterator[int]:
        """Give the size of each notebook to be graded, in bytes."""
        return (one.item.notebook.stat().st_size for one in self.todo)

    def tasks(self) -> Iterator[Task]:
        """Make the jobs one by one: a large class must not lie in memory."""
        for one in self.todo:
            item = one.item
            yield Task(
                *_identity(item), item.notebook, tuple(self._files(item)),
                self._digests(item, one.digest), self._folders.graded(*_identity(item)),
                self._force,
            )  # fmt: skip

    def _consider(self, item: Submission) -> None:
        try:
            digest = digest_files(item.notebook, self._files(item, tell=True))
        except OSError as error:
            self.problems.append(
                f"{error.filename}: cannot be read ({error.strerror}), not graded; "
                "mend its permissions."
            )
            self._left_out.add(_identity(item))
            return
        key, status = self._ledger.verdict(_identity(item))
        if self._force or key != self._digests(item, digest).key or not self._holds(item, status):
            self.todo.append(_Todo(item, digest))

    def _holds(self, item: Submission, status: str) -> bool:
        """Tell whether an earlier verdict needs no second look."""
        if status == UNREADABLE:
            return True
        graded = self._folders.graded(*_identity(item))
        return status == GRADED and graded.exists() and graded.stat().st_size > 0

    def _digests(self, item: Submission, digest: str) -> Digests:
        master = self._grader.masters[item.layer, item.name]
        return Digests(digest, master.digest, self._grader.version, self._grader.secret)

    def _files(self, item: Submission, *, tell: bool = False) -> list[Any]:
        files = [path for path in files_beside(item.notebook) if path.name != TIMESTAMP]
        reasons = {path: _not_given(path) for path in files}
        if tell:
            self.problems += [
                f"{path}: {why}, not given to the notebook." for path, why in reasons.items() if why
            ]
        return [path for path, why in reasons.items() if not why]


def _not_given(path: Path) -> str:
    """Say why a file beside a notebook is not for the student's code; empty if it is."""
    status = path.stat()
    if status.st_nlink > 1:
        return "has another name on this disk (a hard link) and may be anybody's"
    if status.st_size > LARGEST_FILE:
        return f"larger than {LARGEST_FILE / 1e6:.0f} MB"
    return ""


def missing_records(found: Survey, ledger: Ledger, grader: Grader) -> Iterator[Record]:
    """Give a record for every notebook that was not handed in with others; it counts 0."""
    for item in found.missing:
        master = grader.masters[item.layer, item.name]
        digests = Digests(MISSING, master.digest, grader.version, grader.secret)
        if ledger.verdict(_identity(item)) != (digests.key, MISSING):
            yield Record(*_identity(item), str(item.notebook), MISSING, digests)


def _identity(item: Submission) -> Identity:
    return item.student, item.layer, item.name

