"""The private view of the machine: a root of our making, and one's own processes only.

`build_root` and `settle` run once, before and in the zygote; `seclude` runs in each worker.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from autograder.sandbox import syscalls as sc

NOBODY = 65534
SUBMISSION = "/submission"
QUIET = sc.MS_NOSUID | sc.MS_NODEV
SHARED_MEMORY_MB = 16


def enter_own_root(plan: dict[str, Any]) -> None:
    """Move into new namespaces with the root that `plan` describes, see `layout.Layout.plan`.

    The first process returns from its namespace's point of view as a child; the caller's
    process waits for it and ends with its status.
    """
    uid, gid = os.getuid(), os.getgid()
    flags = sc.CLONE_NEWNS | sc.CLONE_NEWPID | sc.CLONE_NEWNET | sc.CLONE_NEWIPC | sc.CLONE_NEWUTS
    # Root mounts with its own rights, so that a Python in /root can be shown to the user that
    # it becomes afterwards; see settle.
    sc.unshare(flags if uid == 0 else flags | sc.CLONE_NEWUSER)
    if uid != 0:
        map_ids(uid, gid)
    become_child()
    build_root(plan)


def become_child() -> None:
    """Fork; the parent only waits, the child goes on and ends when the parent does."""
    pid = os.fork()
    if pid:
        os.closerange(0, 1024)
        os._exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) & 255)
    sc.prctl(sc.PR_SET_PDEATHSIG, 9)


def build_root(plan: dict[str, Any]) -> None:
    """Mount a read-only root that shows only what `plan` names, and make it this process's."""
    sc.mount(None, "/", None, sc.MS_REC | sc.MS_PRIVATE)
    sc.mount("none", "/tmp", "tmpfs", QUIET, "size=1m,mode=755")
    os.chdir("/tmp")
    for name in ("new", "old"):
        Path(name).mkdir()
    sc.pivot_root(".", "old")  # from here /old is the machine, and nothing of it is covered
    sc.mount("none", "/new", "tmpfs", QUIET, "size=1m,mode=755")
    Path("/new/tmp").mkdir()
    sc.mount("none", "/new/tmp", "tmpfs", QUIET, "size=16m,mode=1777")
    for source, target in plan["shown"]:
        _show("/old" + source, "/new" + target, device=False)
    for source in plan["devices"]:
        _show("/old" + source, "/new" + source, device=True)
    for link, text in plan["links"]:
        Path("/new" + link).parent.mkdir(parents=True, exist_ok=True)
        Path("/new" + link).symlink_to(text)
    for target in plan["folders"]:
        Path("/new" + target).mkdir(parents=True, exist_ok=True)
    for target in plan["masked"]:
        sc.mount("none", "/new" + target, "tmpfs", QUIET | sc.MS_RDONLY, "size=4k,mode=755")
    sc.mount("proc", "/new/proc", "proc", QUIET | sc.MS_NOEXEC)
    os.chdir("/new")
    sc.pivot_root(".", ".")  # stacks the old root on the new one, see pivot_root(2)
    sc.unmount(".")
    os.chdir("/")
    sc.mount(None, "/", None, sc.MS_REMOUNT | sc.MS_BIND | sc.MS_RDONLY | QUIET)


def _show(source: str, target: str, device: bool) -> None:
    path = Path(target)
    if Path(source).is_dir():
        path.mkdir(parents=True, exist_ok=True)
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    sc.mount(source, target, None, sc.MS_BIND | sc.MS_REC)
    attributes = sc.MOUNT_ATTR_NOSUID
    attributes |= sc.MOUNT_ATTR_NOEXEC if device else sc.MOUNT_ATTR_NODEV | sc.MOUNT_ATTR_RDONLY
    sc.mount_setattr(target, attributes)


def become_nobody() -> str:
    """Give up root for good, where this process has it."""
    if os.getuid() != 0:
        return f"user {os.getuid()}"
    os.setgroups([])
    os.setgid(NOBODY)  # as root, these two change the real, effective and saved ids alike
    os.setuid(NOBODY)
    if sc.LINUX:
        sc.prctl(sc.PR_SET_DUMPABLE, 1)  # else /proc/self belongs to root and cannot be written
    return f"root became user {NOBODY}"


def map_ids(uid: int, gid: int) -> None:
    """Keep one's ids in a user namespace that this process just made."""
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{uid} {uid} 1")
    Path("/proc/self/gid_map").write_text(f"{gid} {gid} 1")


def settle() -> str:
    """Make the zygote, in a root of its own already, the first process of its own namespaces.

    It then may give each worker a process namespace, whichever program built its root.
    """
    if os.getuid() == 0:
        # A tool may have covered parts of /proc, and the kernel lets nobody but root mount
        # a whole one while only parts can be seen.
        sc.unmount("/proc")
        sc.mount("proc", "/proc", "proc", QUIET | sc.MS_NOEXEC)
    who = become_nobody()
    uid, gid = os.getuid(), os.getgid()
    sc.unshare(sc.CLONE_NEWUSER | sc.CLONE_NEWNS | sc.CLONE_NEWPID)
    map_ids(uid, gid)
    become_child()
    sc.mount(None, "/", None, sc.MS_REC | sc.MS_PRIVATE)
    mount_proc()
    return who


def mount_proc() -> None:
    """Mount a /proc that shows the processes of this namespace and nothing of the machine."""
    try:
        sc.mount("proc", "/proc", "proc", QUIET | sc.MS_NOEXEC, "subset=pid")
    except OSError:  # before Linux 5.8
        sc.mount("proc", "/proc", "proc", QUIET | sc.MS_NOEXEC)


def seclude(disk_mb: int, covers_tmp: bool) -> str:
    """Give this worker, the first process of its namespace, folders and a world of its own.

    Where the interpreter itself lies in /tmp, that becomes read-only instead of the worker's.
    """
    uid, gid = os.getuid(), os.getgid()
    sc.unshare(sc.CLONE_NEWNS)
    sc.mount(None, "/", None, sc.MS_REC | sc.MS_PRIVATE)
    options = f"size={disk_mb}m,mode=700,nr_inodes=16384"
    sc.mount("none", SUBMISSION, "tmpfs", QUIET, options)
    scratch = Path(SUBMISSION) / ".tmp"
    scratch.mkdir()
    if covers_tmp:
        sc.mount(str(scratch), "/tmp", None, sc.MS_BIND)
    else:
        sc.mount(None, "/tmp", None, sc.MS_REMOUNT | sc.MS_BIND | sc.MS_RDONLY | QUIET)
    options = f"size={SHARED_MEMORY_MB}m,mode=700,nr_inodes=1024"
    sc.mount("none", "/dev/shm", "tmpfs", QUIET | sc.MS_NOEXEC, options)
    mount_proc()
    # Mounts above belong to the zygote's user namespace; with the next line this process
    # leaves it and cannot change them any more.
    sc.unshare(sc.CLONE_NEWUSER | sc.CLONE_NEWNET | sc.CLONE_NEWIPC | sc.CLONE_NEWUTS)
    map_ids(uid, gid)
    os.chdir(SUBMISSION)
    return "own root, processes, network, users and folders"
