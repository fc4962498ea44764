"""Values on the wire: a few exact types by value, everything else as a reference.

Plain scalars stand for themselves. Anything else is a list whose first item says what it is::

    ["t", items] tuple            ["l", items] list             ["d", [[key, value], ...]] dict
    ["c", real, imag] complex     ["i", bytes] integer beyond 64 bits
    ["a", blob, dtype, shape]     array                         ["s", blob, dtype] NumPy scalar
    ["g", state, inc, has, half]  PCG64 generator by its state
    ["r", id, kind, type, info]   something that stays in the worker

There is no pickle and no object dtype: decoding runs no code that a student wrote.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from autograder.sandbox.errors import ProtocolError
from autograder.sandbox.wire import Blob

MAX_DEPTH = 16
MAX_NODES = 100_000
MAX_KEYS = 4096  # keys that collide on purpose cost their square
MAX_TEXT = 1 << 20
MAX_INTEGER_BYTES = 1024
MAX_DIMENSIONS = 16
MAX_ARRAY_BYTES = 256 << 20
DTYPES = frozenset({
    "|b1", "|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8",
    "<f2", "<f4", "<f8", "<c8", "<c16",
})  # fmt: skip

_PLAIN = (type(None), bool, float)
_KEYS = (type(None), bool, int, float, str, bytes, tuple)

Refer = Callable[[Any], list[Any]]
Resolve = Callable[[int, str, str, str], Any]


class TooBig(Exception):  # noqa: N818 - a property of the value
    """A value passes the caps on size, depth or count."""


class Encoder:
    """Turns one message's values into wire form, collecting array bytes in `blobs`.

    Parameters
    ----------
    refer : callable
        Gives the wire form of an object that does not travel by value.
    """

    def __init__(self, refer: Refer) -> None:
        self.blobs: list[memoryview] = []
        self._refer = refer
        self._nodes = 0
        self._bytes = 0

    def encode(self, value: Any, depth: int = 0) -> Any:
        """Encode `value`; raises `TooBig` where it passes the caps."""
        self._nodes += 1
        if depth > MAX_DEPTH or self._nodes > MAX_NODES:
            raise TooBig("too deeply nested or too many items")
        kind = type(value)
        if kind in _PLAIN:
            return value
        if kind is int:
            return self._integer(value)
        if kind in (str, bytes):
            return self._text(value)
        if kind is complex:
            return ["c", value.real, value.imag]
        if kind in (tuple, list):
            return [kind.__name__[0], [self.encode(item, depth + 1) for item in value]]
        if kind is dict:
            return self._dictionary(value, depth)
        if isinstance(value, np.ndarray | np.generic):
            return self._array(value)
        if kind is np.random.Generator and type(value.bit_generator) is np.random.PCG64:
            return encode_generator(value)
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
        if len(value) > MAX_KEYS or any(type(key) not in _KEYS for key in value):
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


class Decoder:
    """Rebuilds the values of one message, believing nothing about them.

    Parameters
    ----------
    blobs : list of ndarray
        Array bytes of the message; each may be used once.
    resolve : callable
        ``resolve(id, kind, type_name, info)`` gives what stands for a reference.
    """

    def __init__(self, blobs: list[Blob], resolve: Resolve) -> None:
        self._blobs: list[Blob | None] = list(blobs)
        self._resolve = resolve
        self._nodes = 0
        self.arrays: list[np.ndarray] = []

    def decode(self, tree: Any, depth: int = 0) -> Any:
        """Decode one value; raises `ProtocolError` on anything unexpected."""
        self._nodes += 1
        if depth > MAX_DEPTH or self._nodes > MAX_NODES:
            raise ProtocolError("a value is nested too deeply or has too many items")
        if type(tree) in (*_PLAIN, int, str, bytes):
            return tree
        if type(tree) is not list or not tree or type(tree[0]) is not str:
            raise ProtocolError("a value is of no known form")
        reader = self._READERS.get((tree[0], len(tree)))
        if reader is None:
            raise ProtocolError("a value has an unknown tag")
        return reader(self, tree, depth)

    def _items(self, tree: list[Any], depth: int) -> list[Any]:
        if type(tree[1]) is not list:
            raise ProtocolError("a sequence has no items")
        return [self.decode(item, depth + 1) for item in tree[1]]

    def _tuple(self, tree: list[Any], depth: int) -> tuple[Any, ...]:
        return tuple(self._items(tree, depth))

    def _dict(self, tree: list[Any], depth: int) -> dict[Any, Any]:
        if type(tree[1]) is not list or len(tree[1]) > MAX_KEYS:
            raise ProtocolError("a dictionary has no items or too many")
        result = {}
        for pair in tree[1]:
            if type(pair) is not list or len(pair) != 2:
                raise ProtocolError("a dictionary item is no pair")
            key = self.decode(pair[0], depth + 1)
            if type(key) not in _KEYS:
                raise ProtocolError("a dictionary key is of another type")
            try:
                result[key] = self.decode(pair[1], depth + 1)
            except TypeError:  # a tuple that holds a list
                raise ProtocolError("a dictionary key is not hashable") from None
        return result

    def _complex(self, tree: list[Any], depth: int) -> complex:
        if type(tree[1]) is not float or type(tree[2]) is not float:
            raise ProtocolError("a complex number has no float parts")
        return complex(tree[1], tree[2])

    def _integer(self, tree: list[Any], depth: int) -> int:
        if type(tree[1]) is not bytes or len(tree[1]) > MAX_INTEGER_BYTES:
            raise ProtocolError("an integer has no bytes or too many")
        return int.from_bytes(tree[1], "little", signed=True)

    def _array(self, tree: list[Any], depth: int) -> np.ndarray:
        array = self._typed(tree[1], tree[2], _shape(tree[3]))
        self.arrays.append(array)
        return array

    def _scalar(self, tree: list[Any], depth: int) -> Any:
        return self._typed(tree[1], tree[2], ())[()]

    def _typed(self, place: Any, dtype: Any, shape: tuple[int, ...]) -> np.ndarray:
        if type(place) is not int or not 0 <= place < len(self._blobs):
            raise ProtocolError("an array names bytes that did not come")
        blob, self._blobs[place] = self._blobs[place], None
        if blob is None:
            raise ProtocolError("two arrays name the same bytes")
        if type(dtype) is not str or dtype not in DTYPES:
            raise ProtocolError("an array has a dtype that is not allowed")
        kind = np.dtype(dtype)
        if math.prod(shape) * kind.itemsize != blob.size:
            raise ProtocolError("an array's shape does not fit its bytes")
        if kind == np.bool_:
            return (blob != 0).reshape(shape)
        return blob.view(kind).reshape(shape)

    def _generator(self, tree: list[Any], depth: int) -> np.random.Generator:
        generator = np.random.Generator(np.random.PCG64())
        generator.bit_generator.state = read_generator_state(tree)
        return generator

    def _reference(self, tree: list[Any], depth: int) -> Any:
        if type(tree[1]) is not int or any(type(text) is not str for text in tree[2:]):
            raise ProtocolError("a reference is not made of an id and names")
        return self._resolve(*tree[1:])

    _READERS: ClassVar[dict[tuple[str, int], Any]] = {
        ("t", 2): _tuple, ("l", 2): _items, ("d", 2): _dict, ("c", 3): _complex,
        ("i", 2): _integer, ("a", 4): _array, ("s", 3): _scalar, ("g", 5): _generator,
        ("r", 5): _reference,
    }  # fmt: skip


def _shape(shape: Any) -> tuple[int, ...]:
    if type(shape) is not list or len(shape) > MAX_DIMENSIONS:
        raise ProtocolError("an array's shape is no short list")
    if any(type(n) is not int or n < 0 for n in shape):
        raise ProtocolError("an array's shape has an item that is no size")
    # NumPy refuses an empty array whose other sizes overflow, so that the bound ignores zeros.
    if math.prod(max(n, 1) for n in shape) > MAX_ARRAY_BYTES:
        raise ProtocolError("an array's shape is too large")
    return tuple(shape)


def encode_generator(generator: np.random.Generator) -> list[Any]:
    """Give the state of a PCG64 generator in wire form."""
    state: Any = generator.bit_generator.state
    words = [state["state"][name].to_bytes(16, "little") for name in ("state", "inc")]
    return ["g", *words, state["has_uint32"], state["uinteger"]]


def read_generator_state(tree: Any) -> dict[str, Any]:
    """Read the state of a PCG64 generator: two words of 128 bits, a flag, 32 bits kept back."""
    if type(tree) is not list or len(tree) != 5 or tree[0] != "g":
        raise ProtocolError("a generator's state is not made of five items")
    _, state, inc, has, half = tree
    if any(type(word) is not bytes or len(word) != 16 for word in (state, inc)):
        raise ProtocolError("a generator's state is not made of 16 bytes")
    if type(has) is not int or has not in (0, 1) or type(half) is not int:
        raise ProtocolError("a generator's kept half is no number")
    if not 0 <= half < 2**32:
        raise ProtocolError("a generator's kept half is no 32-bit number")
    words = {"state": int.from_bytes(state, "little"), "inc": int.from_bytes(inc, "little")}
    return {"bit_generator": "PCG64", "state": words, "has_uint32": has, "uinteger": half}
