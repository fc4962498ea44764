"""The grader's side of the sandbox: start it, learn what it achieves, get workers from it."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from autograder.sandbox import walls, wire
from autograder.sandbox.channel import Channel
from autograder.sandbox.errors import (
    CallFailed,
    ProtocolError,
    SandboxRefused,
    WorkerGone,
    plain_text,
)
from autograder.sandbox.layout import Layout, make_layout
from autograder.sandbox.limits import Limits
from autograder.sandbox.namespaces import NOBODY
from autograder.sandbox.process import Process
from autograder.sandbox.session import Worker
from autograder.sandbox.tiers import MISSING, RISKS, Tier, report, tier_of

START_SECONDS = 60.0
WORKER_SECONDS = 20.0
PRELOAD = ("matplotlib.pyplot", "layerlab.gradient_check")


class Sandbox:
    """A warm zygote behind the strongest walls that this machine offers.

    Use `Sandbox.start`, as a context manager or with `close`. One sandbox serves any number of
    workers, one after the other or at once; several sandboxes can live side by side.

    Attributes
    ----------
    tier : Tier
        How well submissions are isolated.
    layers : dict
        What each layer achieved, or "off: " and the reason.
    """

    def __init__(
        self, program: subprocess.Popen[bytes], control: socket.socket, layout: Layout
    ) -> None:
        self._program = program
        self._control = control
        self._layout = layout
        self._lock = threading.Lock()
        self.layers: dict[str, str] = {}
        self.tier = Tier.C

    @classmethod
    def start(
        cls,
        require: Tier | None = None,
        allow_weak: bool = False,
        disable: frozenset[str] = frozenset(),
        preload: tuple[str, ...] = PRELOAD,
    ) -> Sandbox:
        """Start a zygote behind the best wall that works here.

        Parameters
        ----------
        require : Tier, optional
            Refuse to run below this tier.
        allow_weak : bool
            Run even below tier B.
        disable : frozenset of str
            Layers to leave out, for tests: "bubblewrap", "namespaces", "landlock", "seccomp".
        preload : tuple of str
            Modules to load once for all submissions.

        Raises
        ------
        SandboxRefused
            If the tier is too low, with what is then at risk.
        """
        sandbox = cls._best(disable, preload)
        needed = require or Tier.C if allow_weak else max(require or Tier.B, Tier.B)
        if sandbox.tier < needed:
            sandbox.close()
            raise SandboxRefused(_refusal(sandbox, needed))
        return sandbox

    @classmethod
    def _best(cls, disable: frozenset[str], preload: tuple[str, ...]) -> Sandbox:
        failures: dict[str, str] = {}
        for wall in walls.candidates(disable):
            sandbox = cls._launch(wall)
            try:
                sandbox._warm_up(disable, preload)
            except (wire.Closed, wire.Late, CallFailed, OSError) as error:
                failures[wall] = str(error) or sandbox._last_words() or "it does not start"
                sandbox.close()
                continue
            for failed, why in failures.items():
                sandbox.layers["wall"] += f" ({failed}: {why})"
            return sandbox
        raise SandboxRefused(f"no worker can be started on this machine: {failures}")

    @classmethod
    def _launch(cls, wall: str) -> Sandbox:
        layout = make_layout()
        ours, theirs = socket.socketpair()
        with theirs:
            return cls(walls.start(wall, layout, theirs.fileno()), ours, layout)

    def _warm_up(self, disable: frozenset[str], preload: tuple[str, ...]) -> None:
        deadline = time.monotonic() + START_SECONDS
        readable, listable = self._layout.readable()
        self._work.mkdir(mode=0o711)
        settings = {
            "disabled": sorted(disable), "preload": list(preload), "readable": readable,
            "listable": listable, "covers_tmp": self._layout.covers_tmp,
        }  # fmt: skip
        wire.send(self._control, settings, deadline=deadline)
        self.layers = dict(wire.receive(self._control, deadline)[0]["layers"])
        with self.worker() as trial:
            self.layers = dict(trial.layers)
        self.tier = tier_of(self.layers)

    def _last_words(self) -> str:
        self._program.kill()
        self._program.wait()
        lines = self._layout.log.read_text(errors="replace").split("\n")
        return plain_text(next((line for line in reversed(lines) if line.strip()), ""))

    @property
    def _work(self) -> Path:
        return self._layout.stage / "work"

    def __enter__(self) -> Sandbox:
        """Give the sandbox itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the sandbox."""
        self.close()

    def worker(
        self, files: Mapping[str, bytes] | None = None, limits: Limits | None = None
    ) -> Worker:
        """Make the process of one submission, in a private folder that holds `files`.

        Raises
        ------
        WorkerGone
            If it cannot be started.
        """
        limits = limits or Limits()
        folder = None if self._walled else self._lend_folder()
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                process = self._spawn(theirs, limits, folder)
        except (wire.Closed, wire.Late, OSError) as error:
            ours.close()
            raise WorkerGone("the sandbox itself has ended; start a new one") from error
        channel = Channel(ours, process, limits.submission_seconds)
        layers = channel.hello(WORKER_SECONDS)
        worker = Worker(channel, limits, self.tier, layers)
        try:
            worker.put_files(files or {})
        except BaseException:
            worker.close()
            raise
        return worker

    def close(self) -> None:
        """End the zygote and every worker, and delete what they used; safe to repeat."""
        self._control.close()
        try:
            self._program.wait(5)
        except subprocess.TimeoutExpired:
            self._program.kill()
            self._program.wait()
        self._layout.delete()

    def describe(self) -> str:
        """Say in a few lines how well submissions are isolated."""
        return report(self.tier, self.layers)

    @property
    def _walled(self) -> bool:
        return not self.layers.get("wall", MISSING).startswith(MISSING)

    def _lend_folder(self) -> Path:
        folder = Path(tempfile.mkdtemp(dir=self._work))
        if os.getuid() == 0:
            os.chown(folder, NOBODY, NOBODY)
        return folder

    def _spawn(self, theirs: socket.socket, limits: Limits, folder: Path | None) -> Process:
        request = {
            "op": "spawn",
            "limits": limits.as_message(),
            "folder": None if folder is None else str(folder),
        }
        deadline = time.monotonic() + WORKER_SECONDS
        with self._lock:
            wire.send(self._control, request, deadline=deadline)
            socket.send_fds(self._control, [b"S"], [theirs.fileno()])
            reply, _ = wire.receive(self._control, deadline)
            pidfd = None
            if reply["pidfd"] is True:
                _, descriptors, _, _ = socket.recv_fds(self._control, 1, 1)
                pidfd = descriptors[0]
        return Process(reply["pid"], pidfd, folder, self._fate)

    def _fate(self, pid: int) -> dict[str, Any]:
        deadline = time.monotonic() + WORKER_SECONDS
        with self._lock, contextlib.suppress(wire.Closed, wire.Late, ProtocolError):
            wire.send(self._control, {"op": "fate", "pid": pid}, deadline=deadline)
            return wire.receive(self._control, deadline)[0]
        return {}


def _refusal(sandbox: Sandbox, needed: Tier) -> str:
    reasons = [f"{name} {why}" for name, why in sandbox.layers.items() if why.startswith(MISSING)]
    return (
        f"This machine isolates submissions at tier {sandbox.tier}; tier {needed} is needed "
        f"({'; '.join(reasons)}). {RISKS[sandbox.tier]}"
    )
