"""The outer wall: how the zygote is started inside a root that shows only what it may see."""

from __future__ import annotations

import json
import os
import shutil
import site
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from autograder.sandbox.layout import CODE, Layout

BWRAP = "bubblewrap"
OWN = "own namespaces"
NONE = "none"

_START = "import sys; sys.path.insert(0, sys.argv[1]); "
_ZYGOTE = _START + "from autograder.sandbox.zygote import main; main()"
_ENTER = _START + "from autograder.sandbox.enter import main; main()"


def candidates(disabled: frozenset[str]) -> list[str]:
    """List the walls to try, best first; one that others maintain comes before ours."""
    if "namespaces" in disabled or not sys.platform.startswith("linux"):
        return [NONE]
    walls = [BWRAP] if shutil.which("bwrap") and "bubblewrap" not in disabled else []
    return [*walls, OWN, NONE]


def start(wall: str, layout: Layout, fd: int) -> subprocess.Popen[bytes]:
    """Start the zygote behind `wall`; its messages come through the socket `fd`.

    It is a new program with an environment of our making and this one descriptor, so that
    nothing of the grader's memory, variables or open files is in it.
    """
    code = CODE if wall != NONE else str(layout.code)
    zygote = [*_python(), _ZYGOTE, code, str(fd), wall]
    with layout.log.open("wb") as log:
        return subprocess.Popen(
            _COMMANDS[wall](layout, zygote),
            pass_fds=[fd],
            env=environment("/tmp" if wall != NONE else str(layout.home)),
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=log,
            start_new_session=True,
        )


def environment(home: str) -> dict[str, str]:
    """Make the environment of the zygote and its workers, with nothing of the grader's."""
    made = {
        "PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "HOME": home,
        "USER": "student",
        "LOGNAME": "student",
        "SHELL": "/bin/sh",
        "PYTHONHASHSEED": "0",  # a verdict must come out the same again
        "PYTHONDONTWRITEBYTECODE": "1",
        "OPENBLAS_NUM_THREADS": "1",  # threads do not survive a fork
        "OMP_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
    }
    if site.ENABLE_USER_SITE:
        made["PYTHONUSERBASE"] = site.getuserbase()
    if "LD_LIBRARY_PATH" in os.environ:
        made["LD_LIBRARY_PATH"] = os.environ["LD_LIBRARY_PATH"]
    return made


def _python() -> list[str]:
    options = ["-P"] if site.ENABLE_USER_SITE else ["-P", "-s"]
    return [sys.executable, *options, "-c"]


def _plain(layout: Layout, zygote: Sequence[str]) -> list[str]:
    return list(zygote)


def _own(layout: Layout, zygote: Sequence[str]) -> list[str]:
    plan = json.dumps(layout.plan())
    return [sys.executable, "-P", "-s", "-S", "-c", _ENTER, str(layout.code), plan, *zygote]


def _bubblewrap(layout: Layout, zygote: Sequence[str]) -> list[str]:
    plan = layout.plan()
    # As root without a user namespace: the zygote becomes another user itself, see settle.
    users = [] if os.getuid() == 0 else ["--unshare-user"]
    options = [*users, "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"]
    options += ["--cap-add", "ALL"] if os.getuid() == 0 else []
    options += ["--perms", "1777", "--size", str(16 << 20), "--tmpfs", "/tmp"]
    for folder in _parents(plan):
        options += ["--perms", "0755", "--dir", folder]
    for source, target in plan["shown"]:
        options += ["--ro-bind", source, target]
    for device in plan["devices"]:
        options += ["--dev-bind", device, device]
    for link, text in plan["links"]:
        options += ["--symlink", text, link]
    for folder in plan["folders"]:
        options += ["--perms", "0755", "--dir", folder]
    for folder in plan["masked"]:
        options += ["--tmpfs", folder, "--remount-ro", folder]
    options += ["--proc", "/proc", "--remount-ro", "/", "--chdir", "/"]
    return [shutil.which("bwrap") or "bwrap", *options, "--", *zygote]


def _parents(plan: dict[str, Any]) -> list[str]:
    """List folders above what is shown; left to itself bubblewrap closes them to other users."""
    made = [target for _, target in plan["shown"]] + [link for link, _ in plan["links"]]
    made += [*plan["devices"], *plan["folders"]]
    return sorted({str(up) for path in made for up in Path(path).parents} - {"/", "/tmp"})


_COMMANDS: dict[str, Callable[[Layout, Sequence[str]], list[str]]] = {
    BWRAP: _bubblewrap, OWN: _own, NONE: _plain,
}  # fmt: skip
