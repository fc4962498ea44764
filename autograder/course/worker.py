"""The part of a run that happens inside a worker process: grade one notebook, write it, report.

Nothing here keeps state between jobs but the engine, which is warm, and the masters.
"""

from __future__ import annotations

import faulthandler
import multiprocessing
import os
import pickle
import signal
import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from multiprocessing import connection, util
from pathlib import Path
from typing import Any, Protocol

from autograder.course.record import FAILED, GRADED, UNREADABLE, Digests, Record, Score

# A job that takes longer than this is stuck in a way that the sandbox's deadlines do not reach.
JOB_SECONDS = 900


class Engine(Protocol):
    """What a worker needs of a grading engine."""

    def grade(self, job: Any, master: Any) -> Any:
        """Grade one submission; never raise for anything that it does."""


@dataclass(frozen=True)
class Task:
    """One notebook to grade.

    Attributes
    ----------
    student, assignment, notebook : str
        Whose and which.
    path : pathlib.Path
        What was handed in.
    files : tuple of pathlib.Path
        Files that the student's code may read.
    digests : Digests
        Under which the verdict is kept.
    target : pathlib.Path
        Where the executed notebook goes.
    forced : bool
        Graded again although nothing changed.
    """

    student: str
    assignment: str
    notebook: str
    path: Path
    files: tuple[Path, ...]
    digests: Digests
    target: Path
    forced: bool = False


@dataclass(frozen=True)
class Setup:
    """How a worker gets its engine and its masters; small, since it travels with every job.

    Attributes
    ----------
    name : str
        Tells one run's setup from another's within a process.
    open_engine : callable
        Returns a context manager that gives an `Engine`.
    masters : pathlib.Path
        Pickled by the parent: masters by assignment and notebook.
    make_job : callable
        Turns a `Task` into what `Engine.grade` takes.
    """

    name: str
    open_engine: Callable[[], AbstractContextManager[Engine]]
    masters: Path
    make_job: Callable[[Task], Any]


_ENGINES: dict[str, Engine] = {}
_OPEN: dict[str, AbstractContextManager[Engine]] = {}
_MASTERS: dict[str, dict[tuple[str, str], Any]] = {}
_STUCK_AFTER: list[float] = []


def process_pool(jobs: int, environment: Mapping[str, str]) -> Executor:
    """Make ``jobs`` worker processes that start clean and end with this one."""
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(jobs, context, initializer=_begin, initargs=(dict(environment),))


def close_engines() -> None:
    """End the engines of this process."""
    for manager in _OPEN.values():
        manager.__exit__(None, None, None)
    _OPEN.clear()
    _ENGINES.clear()
    _MASTERS.clear()


def grade_one(setup: Setup, task: Task) -> Record:
    """Grade a submission, write its executed notebook, and return what the ledger keeps."""
    if _STUCK_AFTER:
        faulthandler.dump_traceback_later(_STUCK_AFTER[0], exit=True)
    master = _master(setup, task)
    try:
        result = _engine(setup).grade(setup.make_job(task), master)
    finally:
        faulthandler.cancel_dump_traceback_later()
    if result.autograded is not None:
        write_whole(task.target, result.autograded)
        _copy_files(task, master.files)
    return _record(task, result)


def failure(task: Task, reason: str) -> Record:
    """Return the record of a submission for which the engine gave no result."""
    problem = f"{task.path}: not graded: {reason}; grade it again, or look at it by hand."
    return Record(
        task.student, task.assignment, task.notebook, str(task.path), FAILED, task.digests,
        problems=(problem,), forced=task.forced,
    )  # fmt: skip


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file so that under its name there is ever all of it or nothing new."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_bytes(content.encode() if isinstance(content, str) else content)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _record(task: Task, result: Any) -> Record:
    graded = result.status == GRADED and result.autograded is not None
    receipt = result.receipt or {}
    return Record(
        task.student, task.assignment, task.notebook, str(task.path),
        GRADED if graded else UNREADABLE,
        task.digests,
        scores={name: _score(verdict) for name, verdict in result.verdicts.items()},
        comments=dict(result.comments),
        repairs=tuple(repair.instructor for repair in result.repairs),
        problems=tuple(_placed(task, problem) for problem in result.problems),
        tier=str(receipt.get("tier", "")),
        seconds=dict(result.seconds),
        size=task.target.stat().st_size if graded else 0,
        forced=task.forced,
    )  # fmt: skip


def _placed(task: Task, problem: str) -> str:
    """Say which file a problem is about, unless it is about the exercise itself."""
    if problem.startswith(f"{task.assignment}/{task.notebook}:"):
        return problem
    if problem.startswith(task.path.name):
        return f"{task.path.parent}/{problem}"
    return f"{task.path}: {problem}"


def _score(verdict: Any) -> Score:
    return Score(
        verdict.kind, verdict.score, verdict.max_score, verdict.reason or "",
        verdict.mistake, tuple(verdict.lost), verdict.forgeable,
    )  # fmt: skip


def _copy_files(task: Task, of_the_course: Mapping[str, bytes]) -> None:
    """Put the files of course and submission beside the executed notebook, as nbgrader does."""
    for path in task.files:
        if path.name not in of_the_course:
            write_whole(task.target.with_name(path.name), path.read_bytes())
    for name, content in of_the_course.items():
        target = task.target.parent / name
        if not target.exists() or target.read_bytes() != content:
            write_whole(target, content)


def _engine(setup: Setup) -> Engine:
    if setup.name not in _ENGINES:
        manager = setup.open_engine()
        _ENGINES[setup.name] = manager.__enter__()
        _OPEN[setup.name] = manager
        # A worker process ends without running `atexit`; this runs.
        util.Finalize(None, close_engines, exitpriority=10)
    return _ENGINES[setup.name]


def _master(setup: Setup, task: Task) -> Any:
    if setup.name not in _MASTERS:
        _MASTERS[setup.name] = pickle.loads(setup.masters.read_bytes())
    return _MASTERS[setup.name][task.assignment, task.notebook]


def _begin(environment: Mapping[str, str]) -> None:
    """Prepare a fresh worker process."""
    os.environ.update(environment)
    # Ctrl-C reaches the whole process group; the parent alone decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _STUCK_AFTER[:] = [JOB_SECONDS]
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=([parent.sentinel],), daemon=True).start()


def _end_with(sentinels: Iterable[Any]) -> None:
    connection.wait(list(sentinels))
    os._exit(1)
