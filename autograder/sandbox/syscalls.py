"""Every system call that Python does not offer, and its constants with their sources.

Names are those of the C headers. Sources are Linux UAPI headers (include/uapi/linux/...) and
manual pages. Importing this on another system works; calling does not.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
import sys

LINUX = sys.platform.startswith("linux")
MACHINE = platform.machine()
_LIBC = ctypes.CDLL(None, use_errno=True) if LINUX else None

# linux/sched.h, unshare(2)
CLONE_NEWNS = 0x00020000
CLONE_NEWUTS = 0x04000000
CLONE_NEWIPC = 0x08000000
CLONE_NEWUSER = 0x10000000
CLONE_NEWPID = 0x20000000
CLONE_NEWNET = 0x40000000

# linux/mount.h, mount(2)
MS_RDONLY = 1
MS_NOSUID = 2
MS_NODEV = 4
MS_NOEXEC = 8
MS_REMOUNT = 32
MS_BIND = 4096
MS_REC = 16384
MS_PRIVATE = 1 << 18
MNT_DETACH = 2  # umount2(2)
# linux/mount.h, mount_setattr(2)
MOUNT_ATTR_RDONLY = 1
MOUNT_ATTR_NOSUID = 2
MOUNT_ATTR_NODEV = 4
MOUNT_ATTR_NOEXEC = 8
AT_RECURSIVE = 0x8000  # linux/fcntl.h
AT_FDCWD = -100  # linux/fcntl.h

# linux/prctl.h, prctl(2)
PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_CAPBSET_DROP = 24
PR_SET_CHILD_SUBREAPER = 36
PR_SET_NO_NEW_PRIVS = 38
PR_CAP_AMBIENT = 47
PR_CAP_AMBIENT_CLEAR_ALL = 4
_CAPABILITY_VERSION_3 = 0x20080522  # linux/capability.h, capset(2)

SECCOMP_SET_MODE_FILTER = 1  # linux/seccomp.h, seccomp(2)

# linux/landlock.h, landlock(7)
LANDLOCK_CREATE_RULESET_VERSION = 1
LANDLOCK_RULE_PATH_BENEATH = 1
ACCESS_FS_EXECUTE = 1 << 0
ACCESS_FS_WRITE_FILE = 1 << 1
ACCESS_FS_READ_FILE = 1 << 2
ACCESS_FS_READ_DIR = 1 << 3
ACCESS_FS_MAKE_CHAR = 1 << 6
ACCESS_FS_MAKE_SOCK = 1 << 9
ACCESS_FS_MAKE_BLOCK = 1 << 11
ACCESS_FS_TRUNCATE = 1 << 14
ACCESS_FS_COUNT_BY_ABI = {1: 13, 2: 14, 3: 15, 4: 15}  # 16 from ABI 5 on
ACCESS_NET_BIND_CONNECT = 3  # from ABI 4 on
SCOPE_ABSTRACT_SOCKET_AND_SIGNAL = 3  # from ABI 6 on

# asm/unistd_64.h (x86-64), asm-generic/unistd.h (arm64); the last four are the same there.
_NUMBERS = {
    "x86_64": {"pivot_root": 155, "capset": 126, "seccomp": 317},
    "aarch64": {"pivot_root": 41, "capset": 91, "seccomp": 277},
}
_MOUNT_SETATTR = 442
_LANDLOCK_CREATE, _LANDLOCK_ADD_RULE, _LANDLOCK_RESTRICT = 444, 445, 446


def need_linux(what: str) -> None:
    """Raise OSError where there is no Linux to do `what`."""
    if not LINUX:
        raise OSError(f"{what}: only Linux has it")


def _check(result: int, what: str) -> int:
    if result == -1:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def _call(name: str, *arguments: object) -> int:
    need_linux(name)
    return _check(getattr(_LIBC, name)(*arguments), name)


def _raw(name: str, number: int | None, *arguments: object) -> int:
    need_linux(name)
    if _LIBC is None or number is None:
        raise OSError(f"{name}: no number of this system call is known for {MACHINE}")
    return _check(_LIBC.syscall(ctypes.c_long(number), *arguments), name)


def _number(name: str) -> int | None:
    return _NUMBERS.get(MACHINE, {}).get(name)


def unshare(flags: int) -> None:
    """Move this process (CLONE_NEWPID: its next children) into new namespaces."""
    _call("unshare", ctypes.c_int(flags))


def setns(fd: int, flags: int) -> None:
    """Move this process (CLONE_NEWPID: its next children) into the namespace of `fd`."""
    _call("setns", ctypes.c_int(fd), ctypes.c_int(flags))


def mount(
    source: str | None, target: str, kind: str | None, flags: int, data: str | None = None
) -> None:
    """Mount `source` on `target`."""
    encoded = [os.fsencode(text) if text is not None else None for text in (source, target, kind)]
    options = data.encode() if data is not None else None
    _call("mount", *encoded, ctypes.c_ulong(flags), options)


def mount_setattr(target: str, attributes: int) -> None:
    """Set attributes such as MOUNT_ATTR_RDONLY on `target` and every mount below it."""
    wanted = struct.pack("QQQQ", attributes, 0, 0, 0)
    _raw(
        "mount_setattr", _MOUNT_SETATTR, ctypes.c_int(AT_FDCWD), os.fsencode(target),
        ctypes.c_uint(AT_RECURSIVE), wanted, ctypes.c_size_t(len(wanted)),
    )  # fmt: skip


def unmount(target: str) -> None:
    """Detach the mount on `target`."""
    _call("umount2", os.fsencode(target), ctypes.c_int(MNT_DETACH))


def pivot_root(new: str, old: str) -> None:
    """Make `new` the root and put the old root on `old`."""
    _raw("pivot_root", _number("pivot_root"), os.fsencode(new), os.fsencode(old))


def prctl(option: int, *arguments: int) -> None:
    """Operate on this process, see prctl(2)."""
    padded = [*arguments, 0, 0, 0, 0][:4]
    _call("prctl", ctypes.c_int(option), *(ctypes.c_ulong(value) for value in padded))


def drop_capabilities() -> None:
    """Give up every capability, also for programs that this process will start."""
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL)
    for capability in range(64):
        try:
            prctl(PR_CAPBSET_DROP, capability)
        except OSError:
            break  # past the last one that this kernel knows
    header = struct.pack("Ii", _CAPABILITY_VERSION_3, 0)
    _raw("capset", _number("capset"), header, bytes(24))


def load_seccomp(program: bytes) -> None:
    """Install a BPF program of 8-byte instructions as this process's filter for good."""
    code = ctypes.create_string_buffer(program, len(program))
    # struct sock_fprog of linux/filter.h
    pointer = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(code))
    _raw("seccomp", _number("seccomp"), ctypes.c_uint(SECCOMP_SET_MODE_FILTER),
         ctypes.c_uint(0), pointer)  # fmt: skip


def landlock_abi() -> int:
    """Give the version of Landlock that the kernel offers."""
    flags = ctypes.c_uint(LANDLOCK_CREATE_RULESET_VERSION)
    return _raw("landlock", _LANDLOCK_CREATE, None, ctypes.c_size_t(0), flags)


def landlock_create(attributes: bytes) -> int:
    """Make a ruleset and give its descriptor."""
    size = ctypes.c_size_t(len(attributes))
    return _raw("landlock", _LANDLOCK_CREATE, attributes, size, ctypes.c_uint(0))


def landlock_add(ruleset: int, access: int, fd: int) -> None:
    """Allow `access` beneath the directory or file `fd`."""
    rule = struct.pack("=Qi", access, fd)  # struct landlock_path_beneath_attr is packed
    kind = ctypes.c_int(LANDLOCK_RULE_PATH_BENEATH)
    _raw("landlock", _LANDLOCK_ADD_RULE, ctypes.c_int(ruleset), kind, rule, ctypes.c_uint(0))


def landlock_restrict(ruleset: int) -> None:
    """Enforce the ruleset on this process and its children for good."""
    _raw("landlock", _LANDLOCK_RESTRICT, ctypes.c_int(ruleset), ctypes.c_uint(0))
