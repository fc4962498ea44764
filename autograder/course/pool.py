"""Where jobs run: in this process, in worker processes of this machine, or on a cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from typing import Any

from autograder.course.driver import Driver, SerialExecutor
from autograder.course.options import Options
from autograder.course.paths import CourseError
from autograder.course.worker import Setup, Task, close_engines, grade_one, process_pool

# One core per worker: many submissions in parallel beat threads within one.
ONE_THREAD = dict.fromkeys(("NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
# Enough that no worker waits for this process, few enough to keep no crowd in memory.
WAITING_PER_WORKER = 3


@contextmanager
def open_driver(
    options: Options, work: Callable[[Any], Any], number: int
) -> Iterator[Driver[Any, Any]]:
    """Give a driver for ``number`` jobs on what the options name; close it at the end.

    Parameters
    ----------
    options : Options
        ``jobs`` and ``executor`` count.
    work : callable
        Runs one job; picklable unless ``jobs`` is 1.
    number : int
        A single job is not worth a process of its own.
    """
    if options.executor is not None:
        open_pool, jobs = _borrow(options.executor), 32
    elif options.jobs <= 1 or number <= 1:
        open_pool, jobs = SerialExecutor, 1
    else:
        jobs = min(options.jobs, number)
        open_pool = _processes(jobs)
    window = 1 if jobs == 1 else jobs * WAITING_PER_WORKER
    try:
        with Driver(open_pool, work, window) as driver:
            yield driver
    finally:
        close_engines()


def run_job(setup: Setup, job: Any) -> Any:
    """Grade a notebook, or write a page."""
    if isinstance(job, Task):
        return grade_one(setup, job)
    # Brings nbgrader, which takes seconds to import; a worker that only grades does without.
    from autograder.course.feedback import write_page

    return write_page(job)


def _processes(jobs: int) -> Callable[[], Executor]:
    return lambda: process_pool(jobs, ONE_THREAD)


class _Borrowed(Executor):
    """An executor of somebody else, which is not ours to shut down."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Hand the call on."""
        return self._executor.submit(fn, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Leave it open."""


def _borrow(executor: Executor) -> Callable[[], Executor]:
    opened: list[Executor] = []

    def open_pool() -> Executor:
        if opened:
            raise CourseError("the executor broke; open a new one and run this again.")
        opened.append(_Borrowed(executor))
        return opened[0]

    return open_pool
