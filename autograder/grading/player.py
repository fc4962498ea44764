"""Play a student's cells in workers: one that dies is replaced, and costs only its own call."""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from autograder.sandbox import (
    CallFailed,
    Deadline,
    Limits,
    RemoteFunction,
    Sandbox,
    WorkerGone,
)
from autograder.sandbox.session import CellResult, Worker

# A function that ran out of time, or ended its process, so often is not called again: the time
# is the other questions'.
STRIKES = 2
# Workers of one submission; each new one runs the student's cells again.
MAX_WORKERS = 12


class Player:
    """One submission's worker, whichever it is at the moment.

    Parameters
    ----------
    sandbox : Sandbox
    files : mapping of str to bytes
        What the student's code finds in its folder.
    limits : Limits
        Its `submission_seconds` bound all workers together.

    Attributes
    ----------
    started : int
        Workers so far.
    deaths, problems : list of str
        Why workers ended; what could not be given to them.
    lost : str or None
        Why no worker can be had: the sandbox is at fault, not the submission.
    """

    def __init__(self, sandbox: Sandbox, files: Mapping[str, bytes], limits: Limits) -> None:
        self._sandbox = sandbox
        self._files = files
        self._limits = limits
        self._ends = time.monotonic() + limits.submission_seconds
        self._worker: Worker | None = None
        self._played: list[str] = []
        self._strikes: Counter[str] = Counter()
        self.started = 0
        self.deaths: list[str] = []
        self.problems: list[str] = []
        self.lost: str | None = None

    def __enter__(self) -> Player:
        """Give the player; leaving ends its worker."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the worker and all that it left."""
        self._leave()

    def run_cell(self, source: str) -> CellResult:
        """Run a cell of the student's; a worker that comes later will run it again."""
        result = self.run_once(source)
        if result.stopped is None and self._worker is not None and self._worker.alive:
            self._played.append(source)
        return result

    def run_once(self, source: str) -> CellResult:
        """Run a cell in the worker that only this worker runs."""
        try:
            return self._living().run_cell(source)
        except CallFailed as failure:
            output = {"output_type": "error", "ename": failure.remote_type,
                      "evalue": str(failure), "traceback": [str(failure)]}  # fmt: skip
            return CellResult(False, [output], None, str(failure))

    def lookup(self, name: str) -> Any:
        """Give a value of the student's; a function comes as one that outlives its worker.

        Raises
        ------
        KeyError
            No cell of the student's bound the name.
        CallFailed
            No worker can answer.
        """
        value = self._living().lookup(name)
        return StudentFunction(self, name, value) if isinstance(value, RemoteFunction) else value

    def call(
        self, function: StudentFunction, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> Any:
        """Call a student's function, in a new worker if the last one died."""
        name = function.__name__
        if self._strikes[name] >= STRIKES:
            raise Deadline(f"{name} ran too long or ended its process before; not called again")
        worker = self._living()
        if function.worker is not worker:
            function.rebind(worker)
        given = [_remote(value, worker) for value in args]
        named = {key: _remote(value, worker) for key, value in kwargs.items()}
        try:
            return function.remote(*given, **named)
        except (Deadline, WorkerGone):
            self._strikes[name] += 1
            raise
        finally:
            function.changed = function.remote.changed

    @property
    def worker(self) -> Worker | None:
        """The worker of the moment."""
        return self._worker

    def _living(self) -> Worker:
        """Give a living worker that has run the student's cells."""
        while self._worker is None or not self._worker.alive:
            self._leave()
            left = self._ends - time.monotonic()
            if left <= 0:
                raise Deadline(
                    f"the {self._limits.submission_seconds:g} s of the submission are over"
                )
            if self.lost or self.started >= MAX_WORKERS:
                raise WorkerGone(f"{MAX_WORKERS} processes of this submission have ended")
            self.started += 1
            self._worker = self._new(replace(self._limits, submission_seconds=left))
            self._replay(self._worker)
        return self._worker

    def _new(self, limits: Limits) -> Worker:
        try:
            worker = self._sandbox.worker({}, limits)
        except Exception as error:
            self.lost = f"{type(error).__name__}: {error}"
            raise WorkerGone("the sandbox is gone") from error
        try:
            if self._files:
                worker.put_files(self._files)
        except CallFailed as failure:
            self.problems.append(f"its files could not be given to it: {failure}")
        return worker

    def _replay(self, worker: Worker) -> None:
        """Run the cells that ran before; one that stops the new worker is not run again."""
        for source in list(self._played):
            result = worker.run_cell(source)
            if result.stopped is not None or not worker.alive:
                self._played.remove(source)
            if not worker.alive:
                return

    def _leave(self) -> None:
        if self._worker is not None:
            if self._worker.death is not None:
                self.deaths.append(self._worker.death)
            with contextlib.suppress(OSError):
                self._worker.close()
            self._worker = None


class StudentFunction:
    """A function of the student's, found by its name in whichever worker lives.

    Attributes
    ----------
    changed : tuple
        Arguments that the last call changed in place, as the worker reports it.
    """

    def __init__(self, player: Player, name: str, remote: RemoteFunction) -> None:
        self._player = player
        self.__name__ = self.__qualname__ = name
        self.changed: tuple[int | str, ...] = ()
        self.worker, self.remote = player.worker, remote

    def rebind(self, worker: Worker) -> None:
        """Take the function as a new worker has it.

        Raises
        ------
        CallFailed
            The new worker has no function of that name.
        """
        try:
            remote = worker.lookup(self.__name__)
        except KeyError:
            remote = None
        if not isinstance(remote, RemoteFunction):
            raise CallFailed("NameError", f"name {self.__name__!r} is not defined")
        self.worker, self.remote = worker, remote

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the student's function with values of ours."""
        return self._player.call(self, args, kwargs)

    def __repr__(self) -> str:
        """Show the name only, the same in every run."""
        return f"<function {self.__name__}>"


def _remote(value: Any, worker: Worker) -> Any:
    if not isinstance(value, StudentFunction):
        return value
    if value.worker is not worker:
        value.rebind(worker)
    return value.remote
