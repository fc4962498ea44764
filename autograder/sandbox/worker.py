"""The loop of a worker: run cells, look names up, call functions.

All of this is in the student's hands once the first cell ran. Nothing here protects anything;
it only has to serve honest submissions well.
"""

from __future__ import annotations

import os
import random
import signal
import socket
import sys
from pathlib import Path, PurePosixPath
from types import ModuleType
from typing import Any

import numpy as np

from autograder.sandbox import wire
from autograder.sandbox.borrowed import Borrowing
from autograder.sandbox.decode import Decoder
from autograder.sandbox.encode import Encoder, TooBig
from autograder.sandbox.errors import described
from autograder.sandbox.shell import CAPTURED, Shell
from autograder.sandbox.values import encode_generator

Answer = tuple[dict[str, Any], list[memoryview]]

# A request may carry a submission's data files, which arrive within the disk limit.
REQUEST_CAPS = wire.Caps(header=512 << 20, blob_bytes=1 << 30)


class WorkerLoop:
    """Answers the grader's messages, one after the other, until it closes the connection."""

    def __init__(self, sock: socket.socket, shell: Shell) -> None:
        self._sock = sock
        self._shell = shell
        self._kept: dict[int, Any] = {}
        self._next = 0
        self._nonce = b""
        self._interruptible = False
        self._deferring = False
        self._interrupted = False
        signal.signal(signal.SIGINT, self._interrupt)
        # A notebook imports the modules beside it, as in Jupyter's own kernels.
        sys.path.insert(0, "")
        # The same everywhere, so that a verdict can be recomputed.
        np.random.seed(0)  # noqa: NPY002 - students' code may draw from the global state
        random.seed(0)

    def run(self) -> None:
        """Serve until the connection closes."""
        while True:
            try:
                message, blobs = wire.receive(self._sock, caps=REQUEST_CAPS)
                self._nonce, self._interrupted = message["nonce"], False
                fields, arrays = self._guarded(message, blobs)
                self._send({**fields, "nonce": message["nonce"]}, arrays)
            except wire.Closed:
                return

    def _send(self, fields: dict[str, Any], arrays: list[memoryview]) -> None:
        try:
            wire.send(self._sock, fields, arrays)
        except (TypeError, ValueError, OverflowError) as error:  # before a byte was sent
            failure = {"raised": described(error), "nonce": fields["nonce"], "outputs": []}
            wire.send(self._sock, failure)

    def _interrupt(self, *_: object) -> None:
        if self._deferring:
            self._interrupted = True
        elif self._interruptible:
            self._interruptible = False
            raise KeyboardInterrupt

    def _guarded(self, message: dict[str, Any], blobs: list[wire.Blob]) -> Answer:
        try:
            for identity in message.get("free", ()):
                self._kept.pop(identity, None)
            answer = getattr(self, f"_do_{message['op']}")(message, blobs)
        except BaseException as error:
            answer = {"raised": described(error), "outputs": []}, []
        finally:
            self._interruptible = False
        return answer

    def _do_files(self, message: dict[str, Any], _: list[wire.Blob]) -> Answer:
        for name, content in message["files"]:
            parts = PurePosixPath(name).parts
            if not parts or parts[0] == "/" or ".." in parts:
                raise ValueError(f"the file name {name!r} leads out of the submission's folder")
            path = Path(*parts)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        return {}, []

    def _do_cell(self, message: dict[str, Any], _: list[wire.Blob]) -> Answer:
        CAPTURED.begin(message["limit"])
        number: int | None = self._shell.execution_count
        ok: Any = False
        self._interruptible = True
        try:
            ok = self._shell.run_cell(message["source"], store_history=True).success
        except BaseException as error:
            CAPTURED.error(type(error).__name__, str(error), [])
        finally:
            self._interruptible = False
        if not message["source"].strip():
            number = None
        return {"ok": bool(ok), "outputs": CAPTURED.finish(), "count": number}, []

    def _do_lookup(self, message: dict[str, Any], _: list[wire.Blob]) -> Answer:
        if message["name"] not in self._shell.user_ns:
            return {"missing": True}, []
        return self._encoded(self._shell.user_ns[message["name"]])

    def _do_call(self, message: dict[str, Any], blobs: list[wire.Blob]) -> Answer:
        borrowing = Borrowing(self._exchange, self._refer, self._resolve)
        given = _Arguments(message, Decoder(blobs, self._resolve, borrowing.take))
        target = message["target"]
        if isinstance(target, str):
            if target not in self._shell.user_ns:
                raise NameError(f"name '{target}' is not defined")
            function = self._shell.user_ns[target]
        else:
            function = self._resolve(*target[1:])
        try:
            self._interruptible = True
            value = function(*given.args, **given.kwargs)
            self._interruptible = False
            fields, arrays = self._encoded(value)
        except BaseException as error:
            self._interruptible = False
            fields, arrays = {"raised": described(error)}, []
        finally:
            borrowing.close()
        return {**fields, "changed": given.changed(), "generators": given.states()}, arrays

    def _exchange(
        self, message: dict[str, Any], arrays: list[memoryview]
    ) -> tuple[dict[str, Any], list[wire.Blob]]:
        """Ask the grader in the middle of a call; an interrupt waits until the frames are whole."""
        self._deferring = True
        try:
            wire.send(self._sock, {**message, "nonce": self._nonce}, arrays)
            fields, blobs = wire.receive(self._sock, caps=REQUEST_CAPS)
        finally:
            self._deferring = False
        if self._interrupted or fields.get("stop") is True:
            self._interruptible = False
            raise KeyboardInterrupt
        return fields, blobs

    def _encoded(self, value: Any) -> Answer:
        encoder = Encoder(self._refer, see_inside=True)
        try:
            return {"value": encoder.encode(value)}, encoder.blobs
        except TooBig:
            return {"value": self._refer(value)}, []

    def _refer(self, value: Any) -> list[Any]:
        self._next += 1
        self._kept[self._next] = value
        kind, info = "object", ""
        if isinstance(value, ModuleType):
            kind, info = "module", str(getattr(value, "__name__", ""))
        elif callable(value):
            kind, info = "function", str(getattr(value, "__name__", type(value).__name__))
        return ["r", self._next, kind, type(value).__name__[:200], info[:200]]

    def _resolve(self, identity: int, *_: str) -> Any:
        return self._kept[identity]


class _Arguments:
    """Arguments of one call, with what is needed to see which of them the call changed."""

    def __init__(self, message: dict[str, Any], decoder: Decoder) -> None:
        # The decoder makes arrays over the received bytes; copies are what may change.
        self._before: list[tuple[int | str, np.ndarray, bytes]] = []
        self.args = [self._take(decoder, place, tree) for place, tree in enumerate(message["args"])]
        self.kwargs = {key: self._take(decoder, key, tree) for key, tree in message["kwargs"]}

    def _take(self, decoder: Decoder, place: int | str, tree: Any) -> Any:
        known = len(decoder.arrays)
        value = decoder.decode(tree)
        for array in decoder.arrays[known:]:
            self._before.append((place, array, array.tobytes()))
        return value

    def changed(self) -> list[int | str]:
        """Name the arguments that hold an array other than it was."""
        places = [place for place, array, before in self._before if array.tobytes() != before]
        return list(dict.fromkeys(places))

    def states(self) -> list[list[Any]]:
        """Give the state of each generator among the arguments."""
        named = [*enumerate(self.args), *self.kwargs.items()]
        return [
            [place, encode_generator(value)]
            for place, value in named
            if type(value) is np.random.Generator
        ]


def serve(sock: socket.socket, shell: Shell, layers: dict[str, str]) -> None:
    """Report what isolates this process, then answer the grader; the process ends with it."""
    try:
        wire.send(sock, {"hello": True, "layers": layers, "pid": os.getpid()})
        WorkerLoop(sock, shell).run()
    except wire.Closed:
        pass
