"""The process that submissions are forked from: libraries loaded, nothing of the grader in it.

It is started as a new program with one descriptor, goes behind its wall, loads NumPy and
IPython once, and then makes a confined worker for each request of the grader.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import select
import signal
import socket
import sys
import time
from typing import Any

from autograder.sandbox import namespaces, wire
from autograder.sandbox import syscalls as sc
from autograder.sandbox.confine import Confinement, restore_signals
from autograder.sandbox.limits import Limits, address_space
from autograder.sandbox.tiers import MISSING
from autograder.sandbox.walls import NONE
from autograder.sandbox.watch import Watch

TICK_SECONDS = 0.025

# Where root becomes a user that cannot read the interpreter, nothing can be loaded later.
EARLY = (
    "asyncio", "copy", "csv", "dataclasses", "decimal", "encodings.idna", "fractions",
    "functools", "glob", "IPython.extensions.autoreload", "itertools", "json", "layerlab",
    "math", "mmap", "multiprocessing.pool", "numpy.lib.stride_tricks", "numpy.linalg",
    "numpy.ma", "numpy.testing", "pathlib", "pickle", "socket", "sqlite3", "statistics",
    "subprocess", "tempfile", "timeit", "typing", "unittest",
)  # fmt: skip


class Zygote:
    """Serves the grader's requests and watches the memory of the workers."""

    def __init__(self, control: socket.socket, confinement: Confinement, shell: Any) -> None:
        self._control = control
        self._confinement = confinement
        self._shell = shell
        self._watch = Watch(subreaper=not confinement.walled)
        self._namespace = -1
        if confinement.walled:
            self._namespace = os.open("/proc/self/ns/pid", os.O_RDONLY | os.O_CLOEXEC)

    def run(self) -> None:
        """Serve until the grader closes the connection, then end every worker."""
        while True:
            tick = TICK_SECONDS if self._watch.busy else None
            if select.select([self._control], [], [], tick)[0]:
                try:
                    self._answer()
                except wire.Closed:
                    self._watch.end_all()
                    return
            self._watch.look()

    def _answer(self) -> None:
        request, _ = wire.receive(self._control)
        if request["op"] == "fate":
            wire.send(self._control, self._watch.fate(request["pid"]))
            return
        _, descriptors, _, _ = socket.recv_fds(self._control, 1, 1)
        sock = socket.socket(fileno=descriptors[0])
        limits = Limits(**request["limits"])
        pid = self._fork(sock, limits, request["folder"])
        sock.close()
        pidfd = os.pidfd_open(pid) if hasattr(os, "pidfd_open") else None
        wire.send(self._control, {"pid": pid, "pidfd": pidfd is not None})
        if pidfd is not None:
            socket.send_fds(self._control, [b"P"], [pidfd])
            os.close(pidfd)
        self._watch.add(pid, limits.memory_mb)

    def _fork(self, sock: socket.socket, limits: Limits, folder: str | None) -> int:
        if self._confinement.walled:
            # A process can make a namespace for its children only while it points at its own.
            sc.setns(self._namespace, sc.CLONE_NEWPID)
            sc.unshare(sc.CLONE_NEWPID)
        pid = os.fork()
        if pid == 0:
            self._become_worker(sock, limits, folder)
        return pid

    def _become_worker(self, sock: socket.socket, limits: Limits, folder: str | None) -> None:
        try:
            self._control.close()
            if self._namespace >= 0:
                os.close(self._namespace)
            restore_signals()
            _no_descriptors()
            layers = self._confinement.apply(limits, folder)
            from autograder.sandbox.worker import serve

            serve(sock, self._shell, layers)
        except BaseException as error:
            with contextlib.suppress(BaseException):
                wire.send(sock, {"hello": False, "error": f"{type(error).__name__}: {error}"})
        finally:
            os._exit(0)


def _no_descriptors() -> None:
    """Point standard input, output and error nowhere: the zygote's log is not for students."""
    nowhere = os.open("/dev/null", os.O_RDWR)
    for descriptor in range(3):
        os.dup2(nowhere, descriptor)
    os.close(nowhere)


def _load(preload: tuple[str, ...]) -> Any:
    from autograder.sandbox import shell as shells
    from autograder.sandbox import worker  # noqa: F401 - workers inherit it loaded

    shell = shells.make_shell()
    shells.warm(shell, preload)
    return shell


def _load_early() -> None:
    for module in EARLY:
        with contextlib.suppress(ImportError):
            importlib.import_module(module)


def _go_behind(wall: str) -> tuple[bool, dict[str, str]]:
    if wall == NONE:
        return False, {"wall": f"{MISSING}the machine's own root"}
    return True, {"wall": wall, "user": namespaces.settle()}


def main() -> None:
    """Start with the socket and the wall that the command line names."""
    control = socket.socket(fileno=int(sys.argv[2]))
    walled, layers = _go_behind(sys.argv[3])
    settings, _ = wire.receive(control)
    confinement = Confinement(walled, frozenset(settings["disabled"]), layers=layers)
    began = time.perf_counter()
    if not walled and os.getuid() == 0:
        _load_early()
    shell = _load(tuple(settings["preload"]))
    layers["loading"] = f"{time.perf_counter() - began:.2f} s"
    confinement.covers_tmp = settings["covers_tmp"]
    confinement.prepare()
    if not walled:
        confinement.readable = settings["readable"]
        confinement.listable = settings["listable"]
        layers["user"] = namespaces.become_nobody()
    confinement.base = address_space()
    watched = f"watched every {TICK_SECONDS * 1000:g} ms"
    layers["memory"] = watched if confinement.base else f"{MISSING}no /proc to look at"
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the grader's Ctrl-C is the grader's business
    gc.collect()
    gc.freeze()  # spares workers from copying pages only because the collector touched them
    wire.send(control, {"ready": True, "layers": layers})
    Zygote(control, confinement, shell).run()
    os._exit(0)
