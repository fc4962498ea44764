"""What a student's process holds in place of the grader's functions and objects.

Like all of a worker this serves honest submissions and protects nothing; see `lending`.
"""

from __future__ import annotations

import builtins
import threading
from collections.abc import Callable
from typing import Any

from autograder.sandbox import wire
from autograder.sandbox.decode import Decoder
from autograder.sandbox.encode import Encoder, TooBig

# Sends one callback and gives the answer's fields and arrays.
Exchange = Callable[[dict[str, Any], list[memoryview]], tuple[dict[str, Any], list[wire.Blob]]]


class BorrowedObject:
    """An object of the test: it can be passed back to the test's functions, nothing else."""

    def __init__(self, borrowing: Borrowing, identity: int, name: str) -> None:
        self._borrowing = borrowing
        self._id = identity
        self.__name__ = name

    def __repr__(self) -> str:
        """Say what it stands for."""
        return "<an object of the test; pass it back to the test's functions>"


class BorrowedFunction(BorrowedObject):
    """A function of the test; calling it runs it in the grader's process."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Ask the grader for the function's result."""
        return self._borrowing.call(self._id, args, kwargs)

    def __repr__(self) -> str:
        """Say what it stands for."""
        return f"<function {self.__name__} of the test>"


class Borrowing:
    """All that one call has borrowed; it is worth nothing once that call is over.

    Parameters
    ----------
    exchange : callable
        Sends a callback and reads its answer.
    refer, resolve : callable
        The worker's own objects into wire form and back.
    """

    def __init__(self, exchange: Exchange, refer: Any, resolve: Any) -> None:
        self._exchange = exchange
        self._worker_refer = refer
        self._resolve = resolve
        # A student's threads take turns.
        self._lock = threading.RLock()
        self._open = True

    def close(self) -> None:
        """End with the call, once no thread is in the middle of a question."""
        with self._lock:
            self._open = False

    def take(self, identity: int, kind: str, name: str) -> BorrowedObject:
        """Make what stands for a thing of the grader's."""
        return (BorrowedFunction if kind == "function" else BorrowedObject)(self, identity, name)

    def call(self, identity: int, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call a function of the grader's with values that travel."""
        with self._lock:
            if not self._open:
                raise RuntimeError(
                    "this function of the test was given for one call, which is over; "
                    "call it inside your function only"
                )
            encoder = Encoder(self._refer, see_inside=True)
            try:
                message = {
                    "callback": identity,
                    "args": [encoder.encode(value) for value in args],
                    "kwargs": [[key, encoder.encode(value)] for key, value in kwargs.items()],
                }
            except TooBig as reason:
                raise ValueError(f"a function of the test cannot be given this: {reason}") from None
            fields, blobs = self._exchange(message, encoder.blobs)
        if "raised" in fields:
            raise _exception(*fields["raised"])
        return Decoder(blobs, self._resolve, self.take).decode(fields["value"])

    def _refer(self, value: Any) -> list[Any]:
        if isinstance(value, BorrowedObject) and value._borrowing is self:
            return ["h", value._id, "", ""]
        tree: list[Any] = self._worker_refer(value)
        return tree


def _exception(builtin: str, text: str) -> BaseException:
    try:
        made: BaseException = getattr(builtins, builtin)(text)
    except (AttributeError, TypeError):  # some exceptions take more than a text
        made = RuntimeError(f"{builtin}: {text}")
    return made
