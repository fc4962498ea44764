"""The zygote's eye on its workers: memory of all their processes, how they ended, strays."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path
from typing import Any

from autograder.sandbox import syscalls as sc
from autograder.sandbox.limits import MB

PAGE = os.sysconf("SC_PAGE_SIZE")


class Watch:
    """Knows every worker that has not been asked about since it ended.

    Parameters
    ----------
    subreaper : bool
        Whether processes that workers abandon must come here, to be ended: where workers have
        no process namespace that ends with them.
    """

    def __init__(self, subreaper: bool) -> None:
        self._limits: dict[int, int] = {}
        self._fates: dict[int, dict[str, Any]] = {}
        self._adopts = subreaper and sc.LINUX
        if self._adopts:
            sc.prctl(sc.PR_SET_CHILD_SUBREAPER, 1)
        self._fresh = resident(os.getpid())

    @property
    def busy(self) -> bool:
        """Whether any worker lives."""
        return bool(self._limits)

    def add(self, pid: int, memory_mb: int) -> None:
        """Watch a new worker, which may use so much memory beyond what it was born with."""
        self._limits[pid] = memory_mb * MB

    def look(self) -> None:
        """Note which workers ended, and end those that use too much memory."""
        self._reap()
        for pid, limit in list(self._limits.items()):
            family = descendants(pid)
            # Pages shared with the zygote count in each process; the exact figure is dear.
            if sum(map(resident, family)) - self._fresh <= limit:
                continue
            if sum(map(proportional, family)) <= limit:
                continue
            why = f"it used more than {limit // MB} MB of memory"
            self._fates[pid] = {"why": why}
            _kill(pid)

    def fate(self, pid: int) -> dict[str, Any]:
        """Say how a worker ended, once; strays that it left are ended first."""
        self._reap()
        self._end_strays()
        if pid in self._limits:
            return {}
        return self._fates.pop(pid, {})

    def end_all(self) -> None:
        """End every worker."""
        for pid in self._limits:
            _kill(pid)
        self._end_strays()

    def _reap(self) -> None:
        with contextlib.suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    return
                if self._limits.pop(pid, None) is None:
                    continue
                _kill_group(pid)
                if pid not in self._fates:
                    self._fates[pid] = {"status": os.waitstatus_to_exitcode(status)}

    def _end_strays(self) -> None:
        # Killing a stray hands its children over to us, so that a few rounds find all.
        for _ in range(64):
            strays = [p for p in children(os.getpid()) if p not in self._limits]
            if not self._adopts or not strays:
                return
            for pid in strays:
                _kill(pid)
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(pid, 0)


def children(pid: int) -> list[int]:
    """List the children of a process; empty where the system does not tell."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            with contextlib.suppress(OSError):
                found += map(int, (task / "children").read_text().split())
    return found


def descendants(pid: int) -> list[int]:
    """List a process and all that come from it."""
    family = [pid]
    for member in family:
        family += children(member)
    return family


def resident(pid: int) -> int:
    """Give the bytes of memory that a process has in use, shared ones included."""
    with contextlib.suppress(OSError, IndexError, ValueError):
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE
    return 0


def proportional(pid: int) -> int:
    """Give the bytes of memory in use, shared ones divided by those who share them."""
    with contextlib.suppress(OSError, IndexError, ValueError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    return resident(pid)


def _kill(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)


def _kill_group(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
