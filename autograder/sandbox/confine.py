"""Everything that a forked worker gives up before it sees a student's code."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass, field

from autograder.sandbox import landlock, namespaces, seccomp
from autograder.sandbox import syscalls as sc
from autograder.sandbox.limits import Limits, apply_rlimits
from autograder.sandbox.tiers import MISSING


@dataclass
class Confinement:
    """What the zygote prepared once for all its workers.

    Attributes
    ----------
    walled : bool
        Whether the zygote lives in a root and namespaces of its own.
    disabled : frozenset of str
        Layers that a test switched off.
    covers_tmp : bool
        Whether each worker gets a /tmp of its own.
    readable, listable : list of str
        Without a root of our making, the paths that may be read, and those that may be listed.
    filter : bytes or None
        The seccomp program for workers in their own process namespace.
    base : int
        Address space of a fresh worker in bytes.
    layers : dict
        What each layer achieved, or "off: " and why not.
    """

    walled: bool
    disabled: frozenset[str]
    covers_tmp: bool = True
    readable: list[str] = field(default_factory=lambda: ["/"])
    listable: list[str] = field(default_factory=list)
    filter: bytes | None = None
    base: int = 0
    layers: dict[str, str] = field(default_factory=dict)

    def prepare(self) -> None:
        """Find out which layers the kernel offers, and build the filter."""
        if "landlock" not in self.disabled:
            try:
                landlock.abi()
            except OSError as error:
                self.layers["landlock"] = f"{MISSING}{error}"
        if "seccomp" not in self.disabled:
            try:
                sc.need_linux("seccomp")
                self.filter = seccomp.program(sc.MACHINE, self.walled)
            except OSError as error:
                self.layers["seccomp"] = f"{MISSING}{error}"

    def apply(self, limits: Limits, folder: str | None) -> dict[str, str]:
        """Confine this process; the order matters, as each step takes away rights.

        Returns
        -------
        dict
            What each layer achieved.
        """
        layers = dict(self.layers)
        if self.walled:
            layers["namespaces"] = namespaces.seclude(limits.disk_mb, self.covers_tmp)
            folder = namespaces.SUBMISSION
        else:
            os.setsid()
            os.chdir(folder or "/")
        os.environ["HOME"] = folder or "/"
        os.environ["TMPDIR"] = f"{folder}/.tmp" if self.walled else folder or "/"
        layers["rlimits"] = apply_rlimits(limits, self.walled, self.base)
        if sc.LINUX:
            layers["privileges"] = _no_privileges()
        if "landlock" not in self.disabled and "landlock" not in layers:
            layers["landlock"] = self._landlock(folder or "/")
        if "seccomp" not in self.disabled and self.filter is not None:
            code = self.filter
            if not self.walled:
                code = seccomp.program(sc.MACHINE, False, os.getpid())
            layers["seccomp"] = seccomp.apply(code)
        for name in self.disabled - {"bubblewrap"}:
            layers[name] = f"{MISSING}switched off"
        return layers

    def _landlock(self, folder: str) -> str:
        # Each worker needs rules of its own, as another's folder must not even be readable.
        rules = landlock.ruleset(self.readable, self.listable)
        scratch = ["/tmp", "/dev/shm"] if self.walled else []
        landlock.allow_writing(rules, [folder, "/dev/null", *scratch])
        return landlock.apply(rules)


def _no_privileges() -> str:
    sc.prctl(sc.PR_SET_NO_NEW_PRIVS, 1)
    try:
        sc.drop_capabilities()
    except OSError as error:
        return f"no new privileges; capabilities: {error}"
    return "no new privileges, no capabilities"


def restore_signals() -> None:
    """Undo what the zygote changed for itself."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.set_wakeup_fd(-1)
