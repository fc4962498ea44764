"""A worker's process, seen from the grader: interrupt it, end it, learn how it ended."""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

WAIT_SECONDS = 5.0

Fate = Callable[[int], dict[str, Any]]


class Process:
    """One worker's process and the folder that it was lent, if any.

    Parameters
    ----------
    pid : int
        Its id as the zygote knows it.
    pidfd : int or None
        Descriptor of the process; None where the system has none, as on macOS, where the
        zygote shares the grader's process ids.
    folder : Path or None
        Folder to delete when the process has ended.
    fate : callable
        Asks the zygote how the process ended, after cleaning up what it left.
    """

    def __init__(self, pid: int, pidfd: int | None, folder: Path | None, fate: Fate) -> None:
        self._pid = pid
        self._pidfd = pidfd
        self._folder = folder
        self._ask = fate
        self._ended = False
        self._fate: str | None = None

    def interrupt(self) -> None:
        """Ask the running code to stop, as Ctrl-C does."""
        self._signal(signal.SIGINT)

    def kill(self) -> None:
        """End the process and its descendants, wait for that, and delete its folder."""
        if self._ended:
            return
        self._signal(signal.SIGKILL)
        self._wait()
        self.fate()
        self._ended = True
        if self._pidfd is not None:
            os.close(self._pidfd)
        if self._folder is not None:
            _delete(self._folder)

    def fate(self) -> str | None:
        """Say how the process ended; None if that cannot be learnt."""
        if self._fate is None and not self._ended:
            self._wait()
            with contextlib.suppress(OSError):
                self._fate = _in_words(self._ask(self._pid))
        return self._fate

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if self._pidfd is not None:
                signal.pidfd_send_signal(self._pidfd, number)
            elif not self._ended:
                os.kill(self._pid, number)

    def _wait(self) -> None:
        if self._pidfd is not None:
            # A descriptor of a process is readable once it ended; as the first process of its
            # namespace it ends after all others there. poll, as select stops at 1024.
            poll = select.poll()
            poll.register(self._pidfd, select.POLLIN)
            poll.poll(WAIT_SECONDS * 1000)


def _in_words(fate: dict[str, Any]) -> str | None:
    why, status = fate.get("why"), fate.get("status")
    if isinstance(why, str) and why:
        return why
    if not isinstance(status, int):
        return None
    if status >= 0:
        return f"its code ended it with exit status {status}"
    with contextlib.suppress(ValueError):
        return f"it was ended by {signal.Signals(-status).name}"
    return f"it was ended by signal {-status}"


def _delete(folder: Path) -> None:
    """Delete a folder in which a student may have left closed folders; never follow links."""
    shutil.rmtree(folder, ignore_errors=True)
    if not folder.exists():
        return
    folder.chmod(0o700)
    for parent, names, _ in os.walk(folder):  # scans a folder only after this body opened it
        for path in (Path(parent) / name for name in names):
            if not path.is_symlink():
                path.chmod(0o700)
    shutil.rmtree(folder, ignore_errors=True)
