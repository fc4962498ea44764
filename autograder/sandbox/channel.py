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
from autograder.sandbox.errors import Deadline, ProtocolError, Unsupported, WorkerGone
from autograder.sandbox.lending import Serve
from autograder.sandbox.process import Process

GRACE_SECONDS = 1.0
# What reading hostile fields may raise.
_UNREADABLE = (TypeError, ValueError, LookupError, ArithmeticError, RecursionError)


@dataclass(frozen=True)
class Reply:
    """An answer, and whether it came only after the worker had been interrupted."""

    fields: dict[str, Any]
    blobs: list[wire.Blob]
    late: str | None


@dataclass
class _Wait:
    """How long an answer is waited for, and what happens meanwhile."""

    seconds: float
    allowed: float
    deadline: float
    caps: wire.Caps | None
    serve: Serve | None
    late: str | None = None

    @property
    def last_moment(self) -> float:
        """When to give up on a frame that has begun: what was cut in two can never be read."""
        return self.deadline + (GRACE_SECONDS if self.late is None else 0.0)


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
        self._asking = False
        self.death: str | None = None

    def ask(
        self,
        message: dict[str, Any],
        blobs: Sequence[Any] = (),
        seconds: float = 10.0,
        caps: wire.Caps | None = None,
        serve: Serve | None = None,
    ) -> Reply:
        """Send one message and read its answer.

        Until that comes the worker may send callbacks, which `serve` answers; the deadline
        covers them too.

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
        if self._asking:
            raise Unsupported("a lent function cannot call the student's functions")
        if not wire.silent(self._sock):
            raise self._broken("bytes came that nobody had asked for")
        nonce = secrets.token_bytes(16)
        began = time.monotonic()
        allowed = max(min(seconds, self._left), 0.0)
        wait = _Wait(seconds, allowed, began + allowed, caps, serve)
        self._asking = True
        try:
            return self._exchange({**message, "nonce": nonce}, blobs, wait)
        finally:
            self._asking = False
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
        except _UNREADABLE as error:
            raise self._broken(f"an answer cannot be read ({type(error).__name__})") from None

    def _exchange(self, message: dict[str, Any], blobs: Sequence[Any], wait: _Wait) -> Reply:
        """Send a question and read what comes until it is the answer, serving callbacks."""
        try:
            wire.send(self._sock, message, blobs, wait.deadline)
            while True:
                fields, arrays = self._next(wait)
                if fields.get("nonce") != message["nonce"]:
                    raise ProtocolError("an answer does not belong to the question")
                if "callback" not in fields:
                    return Reply(fields, arrays, wait.late)
                self._serve(fields, arrays, wait)
        except wire.Late:
            late = wait.late or self._too_long(wait)
            self.end(f"{late} and did not stop")
            raise Deadline(f"{late} and did not stop") from None
        except wire.Closed:
            fate = wait.late or self._process.fate() or "it closed the connection"
            raise self._gone(fate) from None
        except ProtocolError as error:
            raise self._broken(str(error)) from None

    def _next(self, wait: _Wait) -> tuple[dict[str, Any], list[wire.Blob]]:
        """Read one frame; at the deadline interrupt the worker, once, and give it some grace."""
        if wait.late is None and not wire.arrives(self._sock, wait.deadline):
            self._interrupt(wait)
        frame = wire.receive(self._sock, wait.last_moment, wait.caps)
        if wait.late is None and time.monotonic() >= wait.deadline:
            self._interrupt(wait)
        return frame

    def _interrupt(self, wait: _Wait) -> None:
        wait.late = self._too_long(wait)
        wait.deadline = time.monotonic() + GRACE_SECONDS
        self._process.interrupt()

    def _serve(self, fields: dict[str, Any], arrays: list[wire.Blob], wait: _Wait) -> None:
        """Answer one callback, or tell the worker to stop where its time is over."""
        if wait.serve is None:
            raise ProtocolError("a callback came where nothing is lent")
        answer: dict[str, Any] = {"stop": True}
        blobs: Sequence[Any] = ()
        if wait.late is None:
            try:
                answer, blobs = wait.serve(fields, arrays)
            except ProtocolError:
                raise
            except _UNREADABLE as error:
                raise ProtocolError(f"a callback cannot be read ({type(error).__name__})") from None
            except BaseException:
                # The worker waits for an answer that will not come.
                self.end("a call was broken off")
                raise
            if time.monotonic() >= wait.deadline:
                self._interrupt(wait)
                answer, blobs = {"stop": True}, ()
        wire.send(self._sock, {**answer, "nonce": fields["nonce"]}, blobs, wait.last_moment)

    def _too_long(self, wait: _Wait) -> str:
        if wait.allowed < wait.seconds:
            return f"used up the {self._seconds:g} s of the submission"
        return f"ran longer than {wait.seconds:g} s"

    def _gone(self, fate: str) -> WorkerGone:
        self.end(fate)
        return WorkerGone(f"the student's process ended: {fate}")

    def _broken(self, what: str) -> ProtocolError:
        reason = f"the student's process broke the protocol: {what}"
        self.end(reason)
        return ProtocolError(reason)
