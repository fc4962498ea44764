"""One question, one answer: the exchange with a worker, and the end of a worker that breaks it."""

from __future__ import annotations

import contextlib
import secrets
import socket
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from autograder.sandbox import wire
from autograder.sandbox.errors import Deadline, ProtocolError, WorkerGone
from autograder.sandbox.process import Process

GRACE_SECONDS = 1.0


@dataclass(frozen=True)
class Reply:
    """An answer, and whether it came only after the worker had been interrupted."""

    fields: dict[str, Any]
    blobs: list[wire.Blob]
    late: str | None


class Channel:
    """The connection to one worker, with a budget of seconds for all its answers.

    Attributes
    ----------
    death : str or None
        Why the worker ended, None while it lives.
    """

    def __init__(self, sock: socket.socket, process: Process, seconds: float) -> None:
        self._sock = sock
        self._process = process
        self._left = float(seconds)
        self._seconds = seconds
        self.death: str | None = None

    def ask(
        self,
        message: dict[str, Any],
        blobs: Sequence[Any] = (),
        seconds: float = 10.0,
        caps: wire.Caps | None = None,
    ) -> Reply:
        """Send one message and read its answer.

        Raises
        ------
        Deadline
            If there is no answer in time, and interrupting the worker brings none: it is ended.
        WorkerGone
            If the worker is gone.
        ProtocolError
            If it sent anything that is not the answer to this message: it is ended.
        """
        if self.death is not None:
            raise WorkerGone(f"the student's process had ended: {self.death}")
        if not wire.silent(self._sock):
            raise self._broken("bytes came that nobody had asked for")
        nonce = secrets.token_bytes(16)
        began = time.monotonic()
        try:
            return self._exchange({**message, "nonce": nonce}, blobs, began, seconds, caps)
        finally:
            self._left -= time.monotonic() - began

    def hello(self, seconds: float) -> dict[str, str]:
        """Read which layers hold from a fresh worker, which has run no code of a student yet."""
        try:
            fields, _ = wire.receive(self._sock, time.monotonic() + seconds)
            failure = str(fields.get("error")) if fields.get("hello") is not True else None
        except (wire.Closed, wire.Late):
            fields, failure = {}, self._process.fate() or "it did not answer"
        if failure is None:
            return dict(fields["layers"])
        self.end(failure)
        raise WorkerGone(f"the worker did not start: {failure}")

    def end(self, reason: str) -> None:
        """End the worker's processes and forget the connection; safe to repeat."""
        if self.death is None:
            self.death = reason
        self._process.kill()
        self._sock.close()

    @contextlib.contextmanager
    def strictly(self) -> Iterator[None]:
        """End the worker if what is read from its answer inside is not as it must be."""
        try:
            yield
        except ProtocolError as error:
            raise self._broken(str(error)) from None
        except (TypeError, ValueError, LookupError, ArithmeticError, RecursionError) as error:
            raise self._broken(f"an answer cannot be read ({type(error).__name__})") from None

    def _exchange(
        self,
        message: dict[str, Any],
        blobs: Sequence[Any],
        began: float,
        seconds: float,
        caps: wire.Caps | None,
    ) -> Reply:
        allowed = max(min(seconds, self._left), 0.0)
        late = None
        try:
            try:
                wire.send(self._sock, message, blobs, began + allowed)
                fields, arrays = wire.receive(self._sock, began + allowed, caps)
            except wire.Late as passed:
                late = self._too_long(allowed, seconds)
                if passed.torn:
                    raise
                self._process.interrupt()
                deadline = time.monotonic() + GRACE_SECONDS
                fields, arrays = wire.receive(self._sock, deadline, caps)
        except wire.Late:
            self.end(f"{late} and did not stop")
            raise Deadline(f"{late} and did not stop") from None
        except wire.Closed:
            fate = late or self._process.fate() or "it closed the connection"
            raise self._gone(fate) from None
        except ProtocolError as error:
            raise self._broken(str(error)) from None
        if fields.get("nonce") != message["nonce"]:
            raise self._broken("an answer does not belong to the question")
        return Reply(fields, arrays, late)

    def _too_long(self, allowed: float, seconds: float) -> str:
        if allowed < seconds:
            return f"used up the {self._seconds:g} s of the submission"
        return f"ran longer than {seconds:g} s"

    def _gone(self, fate: str) -> WorkerGone:
        self.end(fate)
        return WorkerGone(f"the student's process ended: {fate}")

    def _broken(self, what: str) -> ProtocolError:
        reason = f"the student's process broke the protocol: {what}"
        self.end(reason)
        return ProtocolError(reason)
