"""Read the files of submissions, which may be anything, and of assignments."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from pathlib import Path

from autograder.grading.document import UnreadableError, too_large

MAX_FILE_BYTES = 64 * 2**20


def read_bytes(path: Path, most: int, *, alone: bool = False) -> bytes:
    """Read a file of a submission; never through a link, never more than `most` bytes.

    With `alone` a file that has another name somewhere on the disk, a hard link, is refused too:
    it may be the gradebook.

    Raises
    ------
    UnreadableError
        It is missing, a link, no plain file, or too large.
    """
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | os.O_NONBLOCK)
    except OSError as error:
        reason = error.strerror
        raise UnreadableError(f"cannot be opened ({reason}); links are refused.") from None
    with os.fdopen(handle, "rb") as file:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise UnreadableError("is no plain file; ask for the notebook itself.")
        if alone and status.st_nlink > 1:
            raise UnreadableError("has another name on this disk (a hard link); copy it instead.")
        if status.st_size > most:
            raise UnreadableError(too_large(status.st_size, most))
        return file.read(most)


def read_files(folder: Path, paths: Iterable[Path]) -> tuple[dict[str, bytes], tuple[str, ...]]:
    """Read the other files of a submission; what is refused gives a line each."""
    found: dict[str, bytes] = {}
    problems = []
    left = MAX_FILE_BYTES
    for path in paths:
        name = str(path.relative_to(folder)) if path.is_relative_to(folder) else path.name
        try:
            if not path.parent.resolve().is_relative_to(folder.resolve()):
                raise UnreadableError("lies outside the submission's folder; links are refused.")
            found[name] = read_bytes(path, left, alone=True)
            left -= len(found[name])
        except UnreadableError as error:
            problems.append(f"{name}: not given to the notebook: it {error}")
    return found, tuple(problems)


def assignment_files(folder: Path) -> dict[str, bytes]:
    """Read the files of an assignment's source folder that are no notebooks."""
    found: Iterable[Path] = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in found
        if path.suffix != ".ipynb" and not any(map(_unseen, path.parts[-2:]))
    }


def _unseen(name: str) -> bool:
    """Tell what nbgrader leaves out too: hidden names, and what Python compiled of a module."""
    return name.startswith(".") or name == "__pycache__"
