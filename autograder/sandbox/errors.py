"""What can go wrong between the grader and a worker, as exceptions.

CallFailed (the student's code gave no value) is the base of Deadline (it ran too long) and
WorkerGone (its process ended), and that of ProtocolError (its process sent bytes that mean
nothing). Unsupported is a TypeError: the grader asked for something that a boundary cannot
give. SandboxRefused: this machine cannot isolate well enough.
"""

from __future__ import annotations

import builtins
import functools

MAX_MESSAGE = 500
MAX_NAME = 80

# Raised in the grader these would end a loop or the whole run instead of one call.
_NEVER_IMITATED = (StopIteration, StopAsyncIteration, ExceptionGroup)


def plain_text(text: str, limit: int = MAX_MESSAGE) -> str:
    """Keep the printable part of a text that a student controls, cut to `limit` characters."""
    short = text[: 4 * limit]
    return "".join(c if c.isprintable() or c in "\n\t" else " " for c in short)[:limit]


class CallFailed(Exception):  # noqa: N818 - states what happened to the call
    """A call into a student's code gave no value.

    Attributes
    ----------
    remote_type : str
        Name of the exception class as the student's process reported it.
    message : str
        Its text, without control characters and cut to 500 characters.
    """

    def __init__(self, remote_type: str, message: str = "") -> None:
        self.remote_type = " ".join(plain_text(remote_type, MAX_NAME).split())
        self.message = plain_text(message)
        Exception.__init__(self, self.remote_type, self.message)

    def __str__(self) -> str:
        """Give the message."""
        return self.message

    def __reduce__(self) -> tuple[object, ...]:
        """Travel between the grader's own processes."""
        return call_failed, (self.remote_type, self.message, getattr(self, "imitates", None))


class Deadline(CallFailed):
    """The student's code ran longer than it may."""

    def __init__(self, message: str, remote_type: str = "TimeoutError") -> None:
        super().__init__(remote_type, message)

    def __reduce__(self) -> tuple[object, ...]:
        """Travel between the grader's own processes."""
        return type(self), (self.message, self.remote_type)


class WorkerGone(CallFailed):
    """The student's process ended, or was ended, before it answered."""

    def __init__(self, message: str, remote_type: str = "WorkerGone") -> None:
        super().__init__(remote_type, message)

    def __reduce__(self) -> tuple[object, ...]:
        """Travel between the grader's own processes."""
        return type(self), (self.message, self.remote_type)


class ProtocolError(WorkerGone):
    """The student's process sent malformed or unasked bytes; it is ended."""

    def __init__(self, message: str, remote_type: str = "ProtocolError") -> None:
        super().__init__(message, remote_type)


class Unsupported(TypeError):  # noqa: N818 - reads as a statement about the operation
    """An opaque value of a student's process was used as if it were here."""


class SandboxRefused(RuntimeError):  # noqa: N818 - states the decision
    """The machine cannot isolate students' code as well as was asked."""


def described(error: BaseException) -> list[str]:
    """Name an exception's class, the nearest built-in class, and its text."""
    bases = (base.__name__ for base in type(error).__mro__ if base.__module__ == "builtins")
    builtin = next((name for name in bases if hasattr(builtins, name)), "Exception")
    try:
        text = str(error)
    except BaseException:
        text = ""
    described = [type(error).__name__[:200], builtin, text[:4000]]
    return [part.encode("utf-8", "backslashreplace").decode() for part in described]


def call_failed(remote_type: str, message: str, builtin: str | None = None) -> CallFailed:
    """Make the exception that stands for one raised in a student's process.

    If `builtin` names a builtin subclass of Exception, the result is an instance of that
    class too, so that ``except ValueError`` and ``assert_raises(ValueError, f, x)`` work
    across the boundary.
    """
    return _class_for(builtin or "")(remote_type, message)


@functools.cache
def _class_for(name: str) -> type[CallFailed]:
    known = getattr(builtins, name, None)
    if not isinstance(known, type) or not issubclass(known, Exception):
        return CallFailed
    if issubclass(known, _NEVER_IMITATED) or known is Exception:
        return CallFailed
    return type(f"Remote{name}", (CallFailed, known), {"imitates": name})
