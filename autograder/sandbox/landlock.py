"""Landlock: which files a process may reach, whatever its user could."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable
from pathlib import Path

from autograder.sandbox import syscalls as sc

READ = sc.ACCESS_FS_READ_FILE | sc.ACCESS_FS_READ_DIR | sc.ACCESS_FS_EXECUTE
_ON_FILES = (
    sc.ACCESS_FS_EXECUTE | sc.ACCESS_FS_WRITE_FILE | sc.ACCESS_FS_READ_FILE | sc.ACCESS_FS_TRUNCATE
)
_NEVER = sc.ACCESS_FS_MAKE_CHAR | sc.ACCESS_FS_MAKE_BLOCK | sc.ACCESS_FS_MAKE_SOCK
LIST = sc.ACCESS_FS_READ_DIR


def _handled(abi: int) -> int:
    return (1 << sc.ACCESS_FS_COUNT_BY_ABI.get(abi, 16)) - 1


def ruleset(readable: Iterable[str], listable: Iterable[str] = ()) -> int:
    """Make a ruleset that allows reading beneath `readable`, and names beneath `listable`.

    Returns
    -------
    int
        Its descriptor.

    Raises
    ------
    OSError
        If the kernel has no Landlock.
    """
    abi = sc.landlock_abi()
    network = sc.ACCESS_NET_BIND_CONNECT if abi >= 4 else 0
    scoped = sc.SCOPE_ABSTRACT_SOCKET_AND_SIGNAL if abi >= 6 else 0
    words = [_handled(abi), network, scoped][: 1 + (abi >= 4) + (abi >= 6)]
    made = sc.landlock_create(struct.pack(f"={len(words)}Q", *words))
    for path in readable:
        allow(made, path, READ)
    for path in listable:
        allow(made, path, LIST)
    return made


def allow(made: int, path: str, access: int) -> None:
    """Add a rule for what lies beneath `path`; a path that does not exist needs none."""
    try:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        access &= _handled(sc.landlock_abi())
        sc.landlock_add(made, access if Path(path).is_dir() else access & _ON_FILES, fd)
    finally:
        os.close(fd)


def allow_writing(made: int, paths: Iterable[str]) -> None:
    """Allow everything beneath `paths` except device files and sockets."""
    for path in paths:
        allow(made, path, _handled(sc.landlock_abi()) & ~_NEVER)


def apply(made: int) -> str:
    """Enforce a ruleset on this process and its children for good."""
    sc.landlock_restrict(made)
    return f"version {sc.landlock_abi()}"
