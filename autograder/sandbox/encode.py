"""Values into wire form, on both sides; see `values` for the form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograder.sandbox.values import (
    DTYPES,
    KEYS,
    MAX_ARRAY_BYTES,
    MAX_DEPTH,
    MAX_DIMENSIONS,
    MAX_INTEGER_BYTES,
    MAX_KEYS,
    MAX_NODES,
    MAX_TEXT,
    PLAIN,
    encode_generator,
)

# A function gives no more results than this; a longer list is one result.
MOST_RESULTS = 16

Refer = Callable[[Any], list[Any]]


class TooBig(Exception):  # noqa: N818 - a property of the value
    """A value passes the caps on size, depth or count."""


class Encoder:
    """Turns one message's values into wire form, collecting array bytes in `blobs`.

    Parameters
    ----------
    refer : callable
        Gives the wire form of an object that does not travel by value.
    see_inside : bool
        Whether a subclass of tuple, list or dict, such as a named tuple, shows its items
        beside its reference.
    """

    def __init__(self, refer: Refer, see_inside: bool = False) -> None:
        self.blobs: list[memoryview] = []
        self._refer = refer
        self._see_inside = see_inside
        self._nodes = 0
        self._bytes = 0

    def encode(self, value: Any, depth: int = 0) -> Any:
        """Encode `value`; raises `TooBig` where it passes the caps."""
        self._nodes += 1
        if depth > MAX_DEPTH or self._nodes > MAX_NODES:
            raise TooBig("too deeply nested or too many items")
        kind = type(value)
        if kind in PLAIN:
            return value
        if kind is int:
            return self._integer(value)
        if kind in (str, bytes):
            return self._text(value)
        if kind is complex:
            return ["c", value.real, value.imag]
        if kind in (tuple, list):
            results = depth == 0 and self._see_inside and len(value) <= MOST_RESULTS
            encode = self._part if results else self.encode
            return [kind.__name__[0], [encode(item, depth + 1) for item in value]]
        if kind is dict:
            return self._dictionary(value, depth)
        # What a student's class says of itself, by __class__ or __iter__, does not count.
        if issubclass(kind, np.ndarray | np.generic):
            return self._array(value)
        if self._see_inside and issubclass(kind, tuple | list | dict):
            return ["v", self._refer(value), self.encode(_items(value), depth + 1)]
        if kind is np.random.Generator and type(value.bit_generator) is np.random.PCG64:
            return encode_generator(value)
        return self._refer(value)

    def _part(self, value: Any, depth: int) -> Any:
        """Encode one of several results; one that passes the caps does not cost the others."""
        kept = len(self.blobs), self._nodes, self._bytes
        try:
            return self.encode(value, depth)
        except TooBig:
            del self.blobs[kept[0] :]
            self._nodes, self._bytes = kept[1:]
            return self._refer(value)

    def _integer(self, value: int) -> Any:
        if -(2**63) <= value < 2**64:
            return value
        size = value.bit_length() // 8 + 1
        if size > MAX_INTEGER_BYTES:
            raise TooBig("an integer of too many digits")
        return ["i", value.to_bytes(size, "little", signed=True)]

    def _text(self, value: str | bytes) -> Any:
        self._bytes += len(value)
        if self._bytes > MAX_TEXT:
            raise TooBig("too much text")
        if isinstance(value, str):
            try:
                value.encode()
            except UnicodeEncodeError:
                raise TooBig("text that is no valid Unicode") from None
        return value

    def _dictionary(self, value: dict[Any, Any], depth: int) -> list[Any]:
        if len(value) > MAX_KEYS or any(type(key) not in KEYS for key in value):
            raise TooBig("a dictionary with too many keys, or keys of other types")
        pairs = [
            [self.encode(key, depth + 1), self.encode(item, depth + 1)]
            for key, item in value.items()
        ]
        return ["d", pairs]

    def _array(self, value: np.ndarray | np.generic) -> list[Any]:
        array = np.asarray(value, order="C")
        if array.dtype.kind in "biufc":
            array = np.asarray(array, dtype=array.dtype.newbyteorder("<"))
        if array.dtype.str not in DTYPES:
            return self._refer(value)
        self._bytes += array.nbytes
        if self._bytes > MAX_ARRAY_BYTES or array.ndim > MAX_DIMENSIONS:
            raise TooBig("arrays of too many bytes or dimensions")
        self.blobs.append(array.reshape(-1).view(np.uint8).data)
        place = len(self.blobs) - 1
        if isinstance(value, np.generic):
            return ["s", place, array.dtype.str]
        return ["a", place, array.dtype.str, list(array.shape)]


def _items(value: Any) -> tuple[Any, ...] | list[Any] | dict[Any, Any]:
    """Copy the items of a container whatever methods its own class has."""
    if issubclass(type(value), dict):
        return dict(dict.items(value))
    base: Any = tuple if issubclass(type(value), tuple) else list
    copied: tuple[Any, ...] | list[Any] = base(base.__iter__(value))
    return copied
