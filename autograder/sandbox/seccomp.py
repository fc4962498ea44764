"""The filter on system calls: an allow-list, built by hand as a small BPF program.

libseccomp would need a binding that costs more to load (7 ms) than all other layers together.
"""

from __future__ import annotations

import errno
import struct

from autograder.sandbox import syscall_table, syscalls

# linux/audit.h: AUDIT_ARCH_X86_64 and AUDIT_ARCH_AARCH64
_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
# linux/bpf_common.h, linux/filter.h: load word, jump if equal, jump if any bit, return
_LOAD, _EQUAL, _ANY_BIT, _RETURN = 0x20, 0x15, 0x45, 0x06
# linux/seccomp.h: SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_ERRNO, SECCOMP_RET_ALLOW
_KILL, _ERRNO, _ALLOW = 0x80000000, 0x00050000, 0x7FFF0000
# struct seccomp_data: number, architecture, then instruction pointer and six 64-bit arguments.
# Low halves of the first two arguments on little-endian machines:
_NUMBER, _ARCHITECTURE, _FIRST, _SECOND = 0, 4, 16, 24

# linux/sched.h: CLONE_NEWTIME, NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET
_NAMESPACE_FLAGS = 0x7E020080
_CLONE_THREAD = 0x00010000
_AF_UNIX = 1  # linux/socket.h
# asm-generic/ioctls.h: typing into a terminal; FIOSETOWN and SIOCSPGRP: signals to others
_IOCTLS_REFUSED = (0x5412, 0x541C, 0x8901, 0x8902)
# asm-generic/fcntl.h: F_SETOWN, F_SETSIG, F_SETOWN_EX send any signal to any own process
_FCNTLS_REFUSED = (8, 10, 15)

# With no process namespace, these must not reach another process of the same user.
_ON_PROCESSES = (
    "kill", "tgkill", "prlimit64", "sched_setaffinity", "sched_getaffinity", "setpgid",
    "getpgid", "getsid",
)  # fmt: skip
_NEEDS_NAMESPACE = (
    "fork", "vfork", "execve", "setpriority", "getpriority", "get_robust_list", "pidfd_open",
    "pidfd_send_signal", "sched_getparam", "sched_getscheduler", "setsid",
)  # fmt: skip


def program(machine: str, alone: bool, pid: int = 0) -> bytes:
    """Build the filter.

    Parameters
    ----------
    machine : str
        ``platform.machine()``: "x86_64" or "aarch64".
    alone : bool
        Whether the process lives in a process namespace of its own. If not, it may start no
        process or program and signal none but itself.
    pid : int
        Its own id, needed if it is not `alone`.

    Returns
    -------
    bytes
        Instructions of 8 bytes.

    Raises
    ------
    OSError
        If the architecture is another.
    """
    if machine not in _ARCHITECTURES:
        raise OSError(f"no system call table for {machine}")
    allowed = syscall_table.parse(syscall_table.ALLOWED, machine)
    refused = set(syscall_table.parse(syscall_table.REFUSED, machine).values())
    special = _clone(allowed.pop("clone"), alone)
    special += _local_pair(allowed.pop("socketpair"))
    special += _second_argument(allowed.pop("ioctl"), _IOCTLS_REFUSED)
    special += _second_argument(allowed.pop("fcntl"), _FCNTLS_REFUSED)
    if not alone:
        for name in _ON_PROCESSES:
            special += _own_process(allowed.pop(name), pid)
        refused |= {allowed.pop(name) for name in _NEEDS_NAMESPACE if name in allowed}
    head = [
        _step(_LOAD, _ARCHITECTURE),
        _step(_EQUAL, _ARCHITECTURES[machine], 1, 0),
        _step(_RETURN, _KILL),
        _step(_LOAD, _NUMBER),
    ]
    passes = [step for number in sorted(allowed.values()) for step in _answer(number, _ALLOW)]
    denies = [step for number in sorted(refused) for step in _answer(number, _error(errno.EPERM))]
    # x32 numbers and calls newer than this list end here too.
    return b"".join([*head, *special, *passes, *denies, _step(_RETURN, _error(errno.ENOSYS))])


def apply(code: bytes) -> str:
    """Install the filter on this process for good."""
    syscalls.load_seccomp(code)
    return f"allow-list, {len(code) // 8} instructions"


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("HBBI", code, if_true, if_false, value)


def _error(number: int) -> int:
    return _ERRNO | number


def _answer(number: int, action: int) -> list[bytes]:
    return [_step(_EQUAL, number, 0, 1), _step(_RETURN, action)]


def _clone(number: int, alone: bool) -> list[bytes]:
    """Let clone pass without new namespaces, and as a thread only if not `alone`."""
    checks = [_step(_ANY_BIT, _NAMESPACE_FLAGS, 0, 1), _step(_RETURN, _error(errno.EPERM))]
    if not alone:
        checks += [_step(_ANY_BIT, _CLONE_THREAD, 1, 0), _step(_RETURN, _error(errno.EPERM))]
    return _with_argument(number, _FIRST, checks)


def _local_pair(number: int) -> list[bytes]:
    """Let socketpair pass for AF_UNIX alone: rarer families are where kernels have holes."""
    checks = [_step(_EQUAL, _AF_UNIX, 1, 0), _step(_RETURN, _error(errno.EPERM))]
    return _with_argument(number, _FIRST, checks)


def _second_argument(number: int, values: tuple[int, ...]) -> list[bytes]:
    """Let a call pass unless its second argument is one of `values`."""
    checks = [step for value in values for step in _answer(value, _error(errno.EPERM))]
    return _with_argument(number, _SECOND, checks)


def _own_process(number: int, pid: int) -> list[bytes]:
    """Let a call pass whose first argument is 0 or this process."""
    checks = [
        _step(_EQUAL, 0, 2, 0),
        _step(_EQUAL, pid, 1, 0),
        _step(_RETURN, _error(errno.EPERM)),
    ]
    return _with_argument(number, _FIRST, checks)


def _with_argument(number: int, offset: int, checks: list[bytes]) -> list[bytes]:
    body = [_step(_LOAD, offset), *checks, _step(_RETURN, _ALLOW)]
    return [_step(_EQUAL, number, 0, len(body)), *body]
