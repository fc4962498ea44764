"""What must hold before a run starts, so that it refuses early instead of breaking midway."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from autograder.course.paths import CourseError

# A plot or two in each executed notebook, its feedback, and room for the gradebook's journal.
PER_NOTEBOOK = 300_000
SPARE = 100_000_000


@contextmanager
def only_run(folder: Path) -> Iterator[None]:
    """Hold the lock of a course's grading folder.

    Raises
    ------
    CourseError
        Another run holds it; the message names its process.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "lock"
    with path.open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.seek(0)
            raise CourseError(
                f"{path}: another run grades this course (process {file.read().strip() or '?'}); "
                "wait for it or end it."
            ) from None
        file.seek(0)
        file.truncate()
        file.write(str(os.getpid()))
        file.flush()
        yield


def require_space(target: Path, sizes: Iterable[int]) -> None:
    """Refuse to start a run for whose results the disk has no room.

    Parameters
    ----------
    target : pathlib.Path
        Where results go.
    sizes : iterable of int
        Bytes of each notebook to be graded.

    Raises
    ------
    CourseError
        With what is needed and what is free.
    """
    needed = SPARE + sum(2 * size + PER_NOTEBOOK for size in sizes)
    existing = next(path for path in (target, *target.parents) if path.exists())
    free = shutil.disk_usage(existing).free
    if free < needed:
        raise CourseError(
            f"{existing}: {free / 1e6:.0f} MB free, but this run may need {needed / 1e6:.0f} MB; "
            "free some space, or name fewer students with --student."
        )


def disk_full(error: OSError, kept: int) -> CourseError:
    """Word an error of the disk in the middle of a run."""
    return CourseError(
        f"{error.filename or 'disk'}: {error.strerror}; free some space and run this again. "
        f"{kept} notebook(s) were graded before and are not graded twice."
    )
