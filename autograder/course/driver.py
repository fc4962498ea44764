"""Run many jobs on an executor: bounded, in any order, surviving workers that die.

Written against `concurrent.futures.Executor`, so that a cluster serves as well as processes of
this machine: `distributed.Client.get_executor()` is one.
"""

from __future__ import annotations

import errno
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

T = TypeVar("T")
R = TypeVar("R")

# Errors of this machine, not of a submission: the next job would meet them too.
FATAL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS})
# So many workers dying one after the other is no student's doing.
MOST_DEATHS = 8


class NoWorkersError(RuntimeError):
    """The workers die whatever they are given to do."""


@dataclass(frozen=True)
class Outcome(Generic[T, R]):
    """What became of one job: a result, or in words why there is none."""

    job: T
    result: R | None
    error: str | None = None


class SerialExecutor(Executor):
    """Run each job at once in this process."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Call ``fn`` and return its finished future."""
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


class Driver(Generic[T, R]):
    """Hand jobs to an executor and give back what comes out, a bounded number at a time.

    Use it as a context manager: the executor is made for the first job and shut down at the end.

    Parameters
    ----------
    open_pool : callable
        Makes the executor, and another one when workers died and broke it.
    work : callable
        Runs one job in a worker; it and the job must be picklable.
    window : int
        Largest number of jobs handed in but not yet finished: memory does not grow with the class.
    attempts : int
        How often a job may fail or kill its worker before it is given up.
    """

    def __init__(
        self,
        open_pool: Callable[[], Executor],
        work: Callable[[T], R],
        window: int,
        attempts: int = 2,
    ) -> None:
        self._open_pool, self._work = open_pool, work
        self._window, self._attempts = window, attempts
        self._failures: Counter[T] = Counter()
        self._suspects: deque[T] = deque()
        self._running: dict[Future[R], T] = {}
        self._pool: Executor | None = None
        self._deaths = 0

    def __enter__(self) -> Driver[T, R]:
        """Give the driver itself."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Shut the executor down."""
        self._close()

    def run(self, jobs: Iterable[T]) -> Iterator[Outcome[T, R]]:
        """Run every job; yield outcomes as they come.

        Raises
        ------
        OSError
            The disk is full or read-only; jobs already yielded stay valid.
        NoWorkersError
            One worker after the other died.
        """
        waiting = iter(jobs)
        while self._fill(waiting):
            done, _ = wait(self._running, return_when=FIRST_COMPLETED)
            yield from self._finish(done)

    def _fill(self, waiting: Iterator[T]) -> bool:
        """Submit while there is room; tell whether anything runs."""
        # When a pool breaks, any job in it may be the cause. One at a time tells which.
        alone = bool(self._suspects)
        while len(self._running) < (1 if alone else self._window):
            job = self._suspects.popleft() if alone else next(waiting, None)
            if job is None or not self._submit(job):
                break
            alone = alone or bool(self._suspects)
        return bool(self._running)

    def _submit(self, job: T) -> bool:
        if self._pool is None:
            self._pool = self._open_pool()
        try:
            self._running[self._pool.submit(self._work, job)] = job
        except BrokenExecutor:
            self._suspects.append(job)
            if self._running:
                return False
            self._count_death()
            return self._submit(self._suspects.pop())
        return True

    def _finish(self, done: Iterable[Future[R]]) -> Iterator[Outcome[T, R]]:
        for future in done:
            if future not in self._running:
                continue
            try:
                result = future.result()
            except BrokenExecutor:
                yield from self._broke()
            except OSError as error:
                if error.errno in FATAL:
                    raise
                yield from self._again(self._running.pop(future), error)
            except Exception as error:
                yield from self._again(self._running.pop(future), error)
            else:
                self._deaths = 0
                yield Outcome(self._running.pop(future), result)

    def _broke(self) -> Iterator[Outcome[T, R]]:
        """Sort the jobs of a broken pool: finished, guilty, or to be tried again one by one."""
        wait(self._running)
        alone = len(self._running) == 1
        running, self._running = self._running, {}
        self._count_death()
        for future, job in running.items():
            if future.exception() is None:
                yield Outcome(job, future.result())
            elif alone:
                yield from self._again(job, "its grading process was killed or ran out of memory")
            else:
                self._suspects.append(job)

    def _again(self, job: T, error: Exception | str) -> Iterator[Outcome[T, R]]:
        self._failures[job] += 1
        if self._failures[job] < self._attempts:
            self._suspects.append(job)
            return
        text = error if isinstance(error, str) else f"{type(error).__name__}: {error}"
        yield Outcome(job, None, f"{text} ({self._attempts} attempts)")

    def _count_death(self) -> None:
        self._close()
        self._deaths += 1
        if self._deaths > MOST_DEATHS:
            raise NoWorkersError(f"{self._deaths} grading processes died one after the other")

    def _close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
        self._pool = None
