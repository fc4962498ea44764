"""Grade one submission, from its bytes to its verdicts, again and again in one sandbox."""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from autograder.grading import probe
from autograder.grading.document import MAX_BYTES, UnreadableError
from autograder.grading.files import read_bytes, read_files
from autograder.grading.master import Master
from autograder.grading.receipt import make_receipt
from autograder.grading.repair import Repaired, repair
from autograder.grading.result import Job, Result, Stopwatch, digest_of
from autograder.grading.score import Verdict, comments, verdicts
from autograder.grading.session import Played, SandboxLost, Setting, play, setting_of
from autograder.grading.writing import RECEIPT_KEY, notebook_text, repairs_cell
from autograder.sandbox import Limits, Sandbox, SandboxRefused, Tier

__all__ = ["Engine", "Job", "Result", "Verdict"]


class Engine:
    """Grades submissions; a context manager that owns one sandbox.

    Parameters
    ----------
    require_tier : Tier, optional
        Refuse to start below it.
    allow_weak : bool
        Start even where students' code cannot be kept from the course's files.
    limits : Limits
        Of each submission.
    secret : str, optional
        The course secret; None takes it from the environment.
    max_bytes : int
        Larger notebooks are refused unread.
    disable : frozenset of str
        Layers of the sandbox to leave out, for tests.
    """

    def __init__(
        self,
        require_tier: Tier | None = None,
        allow_weak: bool = False,
        limits: Limits | None = None,
        secret: str | None = None,
        max_bytes: int = MAX_BYTES,
        disable: frozenset[str] = frozenset(),
    ) -> None:
        self._require, self._allow_weak, self._disable = require_tier, allow_weak, disable
        self.limits = limits or Limits()
        self._secret = secret
        self._max_bytes = max_bytes
        self._sandbox: Sandbox | None = None
        self._settings: dict[str, Setting] = {}

    def __enter__(self) -> Engine:
        """Start the sandbox."""
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        """End the sandbox."""
        self.close()

    @property
    def sandbox(self) -> Sandbox:
        """The sandbox, started when it is first needed."""
        return self.start()

    def start(self) -> Sandbox:
        """Start the sandbox, unless it runs.

        Raises
        ------
        SandboxRefused
            This machine isolates worse than is asked.
        """
        if self._sandbox is None:
            self._sandbox = Sandbox.start(
                require=self._require, allow_weak=self._allow_weak, disable=self._disable
            )
        return self._sandbox

    def close(self) -> None:
        """End the sandbox and everything in it; safe to repeat."""
        sandbox, self._sandbox = self._sandbox, None
        self._settings.clear()
        if sandbox is not None:
            sandbox.close()

    def prepare(self, master: Master) -> Master:
        """Find the master's forgeable test cells, by its syntax and by its own solution.

        Prepare once and hand the result to every process that grades; an unprepared master is
        prepared by each engine when it first sees it.
        """
        return (
            master
            if master.probed
            else probe.probed(master, self.sandbox, self.limits, self._secret)
        )

    def grade(self, job: Job, master: Master) -> Result:
        """Grade one submission; never raises for anything that a submission is or does."""
        try:
            raw = read_bytes(job.path, self._max_bytes)
            files, problems = read_files(job.path.parent, job.files)
        except UnreadableError as error:
            return _unreadable(job, str(error))
        return self.grade_bytes(job, raw, master, files, problems)

    def grade_bytes(
        self,
        job: Job,
        raw: bytes,
        master: Master,
        files: Mapping[str, bytes] | None = None,
        problems: tuple[str, ...] = (),
    ) -> Result:
        """Grade the bytes of a submission, whatever file they came from."""
        reason = ""
        for _ in range(2):
            try:
                return self._grade(job, raw, master, files or {}, problems)
            except SandboxRefused:
                raise
            except SandboxLost as lost:
                # Not the submission's fault as far as anybody can tell: a new sandbox, once.
                self.close()
                reason = f"was not graded: the sandbox ended twice ({lost})."
            except UnreadableError as error:
                return _unreadable(job, str(error))
            except Exception as error:
                return _unreadable(
                    job, f"was not graded: the grader itself failed: {_where(error)}"
                )
        return _unreadable(job, reason)

    def _grade(
        self,
        job: Job,
        raw: bytes,
        master: Master,
        files: Mapping[str, bytes],
        problems: tuple[str, ...],
    ) -> Result:
        watch = Stopwatch()
        setting = self._setting(master)
        watch.lap("prepare")
        repaired = repair(raw, setting.master, self._max_bytes)
        watch.lap("repair")
        digest = digest_of(raw)
        salt = job.salt or digest
        played = play(setting, repaired, files, salt)
        watch.lap("run")
        result = self._result(job, setting, repaired, played, digest, salt)
        watch.lap("write")
        result.problems = (*problems, *setting.master.problems, *result.problems)
        result.seconds = watch.stop(played.seconds)
        return result

    def _setting(self, master: Master) -> Setting:
        key = master.digest
        if key not in self._settings:
            master = self.prepare(master)
            self._settings[key] = setting_of(self.sandbox, master, self.limits, self._secret)
        return self._settings[key]

    def _result(
        self, job: Job, setting: Setting, repaired: Repaired, played: Played,
        digest: str, salt: str,
    ) -> Result:  # fmt: skip
        master, notes = setting.master, repaired.repairs
        found = verdicts(master, repaired, played.runs, played.answer_errors, setting.forgeable)
        receipt = make_receipt(master, digest, salt, self.sandbox, found, played.runs, notes)
        remarks = comments(master, repaired)
        notebook = repaired.notebook
        if notes:
            notebook["cells"].insert(0, repairs_cell(notes))
            repaired.origins.insert(0, None)
        notebook["metadata"][RECEIPT_KEY] = receipt
        return Result(
            job.student, job.assignment, job.notebook, "graded", found,
            remarks, notes, tuple(played.problems), receipt, notebook_text(notebook),
        )  # fmt: skip


def _where(error: Exception) -> str:
    """Say what failed and in which line, for whoever mends the grader."""
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} ({Path(place.filename).name}, line {place.lineno})."


def _unreadable(job: Job, why: str) -> Result:
    problem = f"{job.path.name} {why}"
    status: dict[str, Any] = {"status": "unreadable", "problems": (problem,)}
    return Result(job.student, job.assignment, job.notebook, **status)
