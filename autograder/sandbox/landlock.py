"""Landlock: which files a process may reach, whatever its user could."""

from __future__ import annotations

import functools
import os
import stat
import struct
from collections.abc import Iterable

from autograder.sandbox import syscalls as sc

READ = sc.ACCESS_FS_READ_FILE | sc.ACCESS_FS_READ_DIR | sc.ACCESS_FS_EXECUTE
_ON_FILES = (
    sc.ACCESS_FS_EXECUTE | sc.ACCESS_FS_WRITE_FILE | sc.ACCESS_FS_READ_FILE | sc.ACCESS_FS_TRUNCATE
)
_NEVER = sc.ACCESS_FS_MAKE_CHAR | sc.ACCESS_FS_MAKE_BLOCK | sc.ACCESS_FS_MAKE_SOCK
LIST = sc.ACCESS_FS_READ_DIR


@functools.cache
def abi() -> int:
    """Give the version of Landlock that the kernel offers; raises OSError if it has none."""
    return sc.landlock_abi()


def _handled() -> int:
    return (1 << sc.ACCESS_FS_COUNT_BY_ABI.get(abi(), 16)) - 1


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
    version = abi()
    network = sc.ACCESS_NET_BIND_CONNECT if version >= 4 else 0
    scoped = sc.SCOPE_ABSTRACT_SOCKET_AND_SIGNAL if version >= 6 else 0
    words = [_handled(), network, scoped][: 1 + (version >= 4) + (version >= 6)]
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
        directory = stat.S_ISDIR(os.fstat(fd).st_mode)
        access &= _handled() if directory else _handled() & _ON_FILES
        sc.landlock_add(made, access, fd)
    finally:
        os.close(fd)


def allow_writing(made: int, paths: Iterable[str]) -> None:
    """Allow everything beneath `paths` except device files and sockets."""
    for path in paths:
        allow(made, path, _handled() & ~_NEVER)


def apply(made: int) -> str:
    """Enforce a ruleset on this process and its children for good."""
    sc.landlock_restrict(made)
    os.close(made)
    return f"version {abi()}"
