"""Functions of the grader that a student's function may call while it is being called itself.

A test of a gradient checker must hand over functions. They stay here: what travels is a number,
and the student's process gets a function that asks for it over the wire. Only what says of
itself that it may be lent is lent, since whatever a worker sends reaches it; only during the one
call that it was given to; and nothing of this process ever leaves but plain values and numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograder.sandbox import wire
from autograder.sandbox.decode import Decoder, Resolve
from autograder.sandbox.encode import Encoder, Refer, TooBig
from autograder.sandbox.errors import ProtocolError, Unsupported, described, plain_text
from autograder.sandbox.proxy import Handle

MAX_CALLBACKS = 20_000
# Smaller than an answer may be: the functions compute with what they are given.
MAX_BYTES = 4 << 20
MAX_KEYWORDS = 64
MAX_TEXT = 200

Served = tuple[dict[str, Any], list[memoryview]]


def lendable(value: Any) -> bool:
    """Tell whether `value` is a function that says it may be lent: ``may_be_lent = True``.

    Such a function expects any plain values whatever as its arguments.
    """
    if isinstance(value, Handle) or not callable(value):
        return False
    return getattr(value, "may_be_lent", False) is True


class Lending:
    """What one call lends, and the answers to what the student's function asks of it.

    Parameters
    ----------
    refer : callable
        Gives the wire form of the student's own objects.
    resolve : callable
        Gives what stands for a reference of the student's, see `Decoder`.
    first : int
        Number of the first thing that is lent; numbers of other calls must mean nothing here.
    """

    def __init__(self, refer: Refer, resolve: Resolve, first: int) -> None:
        self._refer = refer
        self._resolve = resolve
        self._first = first
        self._lent: list[Any] = []
        self._served = 0

    @property
    def next(self) -> int:
        """The first number that this call has not used."""
        return self._first + len(self._lent)

    def refer(self, value: Any) -> list[Any]:
        """Give the wire form of an argument that does not travel by value."""
        return self._lend(value) if lendable(value) else self._refer(value)

    def serve(self, fields: dict[str, Any], blobs: list[wire.Blob]) -> Served:
        """Answer one callback: call what was lent, or say why it gave nothing.

        Raises
        ------
        ProtocolError
            If the callback is not as it must be, names what this call did not lend, or is one
            too many.
        """
        self._served += 1
        if self._served > MAX_CALLBACKS:
            raise ProtocolError(f"more than {MAX_CALLBACKS} calls of the test's functions")
        function = self._resolve_lent(fields["callback"])
        if not lendable(function):
            raise ProtocolError("a callback names what is no function")
        args, kwargs = self._arguments(fields, blobs)
        try:
            if (size := sum(blob.size for blob in blobs)) > MAX_BYTES:
                raise ValueError(f"arrays of {size} bytes; functions of a test take {MAX_BYTES}")
            return self._result(function(*args, **kwargs))
        except Exception as error:
            _, builtin, text = described(error)
            return {"raised": [builtin, plain_text(text, MAX_TEXT)]}, []

    def _arguments(
        self, fields: dict[str, Any], blobs: list[wire.Blob]
    ) -> tuple[list[Any], dict[str, Any]]:
        decoder = Decoder(blobs, self._resolve, self._resolve_lent)
        args, pairs = fields.get("args"), fields.get("kwargs")
        if type(args) is not list or type(pairs) is not list or len(pairs) > MAX_KEYWORDS:
            raise ProtocolError("a callback has no arguments")
        kwargs = {}
        for pair in pairs:
            if type(pair) is not list or len(pair) != 2 or type(pair[0]) is not str:
                raise ProtocolError("a keyword of a callback is no pair with a name")
            kwargs[pair[0]] = decoder.decode(pair[1])
        return [decoder.decode(tree) for tree in args], kwargs

    def _result(self, value: Any) -> Served:
        encoder = Encoder(self._refer_result)
        try:
            return {"value": encoder.encode(value)}, encoder.blobs
        except TooBig as reason:
            raise ValueError(f"the result cannot travel: {reason}") from None

    def _refer_result(self, value: Any) -> list[Any]:
        """Lend a result that does not travel by value, unless it is the student's own."""
        try:
            return self._refer(value)
        except Unsupported:
            return self._lend(value)

    def _lend(self, value: Any) -> list[Any]:
        self._lent.append(value)
        kind = "function" if lendable(value) else "object"
        return ["h", self.next - 1, kind, str(getattr(value, "__name__", ""))[:200]]

    def _resolve_lent(self, identity: Any, *_: str) -> Any:
        place = identity - self._first if type(identity) is int else -1
        if not 0 <= place < len(self._lent):
            raise ProtocolError("a callback names what this call did not lend")
        return self._lent[place]


Serve = Callable[[dict[str, Any], list[wire.Blob]], Served]
