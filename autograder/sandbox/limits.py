"""How much one submission may use, and the part of it that the kernel enforces by rlimits."""

from __future__ import annotations

import contextlib
import resource
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

MB = 1 << 20


@dataclass(frozen=True)
class Limits:
    """Bounds on one submission.

    Attributes
    ----------
    call_seconds, cell_seconds, submission_seconds : float
        Longest time of one call, of one cell, and of all of them together.
    memory_mb : int
        Memory of all processes of the submission, beyond what a fresh worker has.
    disk_mb, file_mb : int
        Size of the submission's folder, and of one file in it.
    processes, open_files : int
        Processes and threads at once; open files of one process.
    output_kb : int
        Output of one cell that is kept.
    """

    call_seconds: float = 10
    cell_seconds: float = 30
    submission_seconds: float = 120
    memory_mb: int = 2048
    disk_mb: int = 64
    file_mb: int = 64
    processes: int = 64
    output_kb: int = 1024
    open_files: int = 256

    def __post_init__(self) -> None:
        """Refuse limits that are no positive numbers."""
        for name, value in asdict(self).items():
            if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
                raise ValueError(f"Limits: {name} must be a positive number; got {value!r}")

    def as_message(self) -> dict[str, Any]:
        """Give the limits as a plain dictionary, as they travel to the zygote."""
        return asdict(self)


def own_uid_only(limits: Limits, alone: bool) -> int | None:
    """Give the RLIMIT_NPROC for a worker, or None where it would hit the wrong processes.

    The kernel counts processes per user and user namespace (getrlimit(2)). A worker that is
    `alone` in its namespace gets its own count; elsewhere the user's other processes count
    too, so that the limit is put on top of what runs now.
    """
    if alone:
        return limits.processes
    if not sys.platform.startswith("linux"):
        return None
    import os

    running = 0
    for folder in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if folder.name.isdigit() and folder.stat().st_uid == os.getuid():
                running += len(list((folder / "task").iterdir()))
    return running + limits.processes


def address_space() -> int:
    """Give the size of this process's address space in bytes, 0 where it cannot be known."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    except OSError:
        return 0


def apply_rlimits(limits: Limits, alone: bool, base: int) -> str:
    """Set the rlimits of this process for good, soft and hard alike.

    Parameters
    ----------
    limits : Limits
        What the submission may use.
    alone : bool
        Whether the process has a user namespace of its own.
    base : int
        Address space in bytes that a fresh worker has already.

    Returns
    -------
    str
        Which limits hold.
    """
    cpu = int(2 * limits.submission_seconds) + 1
    wanted: dict[str, int | None] = {
        "CPU": cpu,
        "FSIZE": limits.file_mb * MB,
        "NOFILE": limits.open_files,
        "CORE": 0,
        "NPROC": own_uid_only(limits, alone),
        "AS": base + limits.memory_mb * MB if base else None,
        "MEMLOCK": 65536,
        "MSGQUEUE": 0,
        "SIGPENDING": 1024,
        "NICE": 0,
        "RTPRIO": 0,
    }
    held = [name for name, value in wanted.items() if value is not None and _set(name, value)]
    return "limits on " + ", ".join(held)


def _set(name: str, value: int) -> bool:
    which = getattr(resource, f"RLIMIT_{name}", None)
    if which is None:
        return False
    hard = resource.getrlimit(which)[1]
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    try:
        resource.setrlimit(which, (value, value))
    except (OSError, ValueError):
        return False
    return True
