"""Wire form into values, on both sides; see `values` for the form."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from autograder.sandbox.errors import ProtocolError
from autograder.sandbox.proxy import VIEWS, Handle, RemoteFunction
from autograder.sandbox.values import (
    DTYPES,
    KEYS,
    MAX_ARRAY_BYTES,
    MAX_DEPTH,
    MAX_DIMENSIONS,
    MAX_INTEGER_BYTES,
    MAX_KEYS,
    MAX_NODES,
    PLAIN,
    read_generator_state,
)
from autograder.sandbox.wire import Blob

Resolve = Callable[[int, str, str, str], Any]
ResolveLent = Callable[[int, str, str], Any]


class Decoder:
    """Rebuilds the values of one message, believing nothing about them.

    Parameters
    ----------
    blobs : list of ndarray
        Array bytes of the message; each may be used once.
    resolve : callable
        ``resolve(id, kind, type_name, info)`` gives what stands for a reference.
    resolve_lent : callable, optional
        ``resolve_lent(id, kind, name)`` gives what stands for something that the grader lends;
        without it no such thing may come.
    """

    def __init__(
        self, blobs: list[Blob], resolve: Resolve, resolve_lent: ResolveLent | None = None
    ) -> None:
        self._blobs: list[Blob | None] = list(blobs)
        self._resolve = resolve
        self._resolve_lent = resolve_lent
        self._nodes = 0
        self.arrays: list[np.ndarray] = []

    def decode(self, tree: Any, depth: int = 0) -> Any:
        """Decode one value; raises `ProtocolError` on anything unexpected."""
        self._nodes += 1
        if depth > MAX_DEPTH or self._nodes > MAX_NODES:
            raise ProtocolError("a value is nested too deeply or has too many items")
        if type(tree) in (*PLAIN, int, str, bytes):
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
            if type(key) not in KEYS:
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

    def _lent(self, tree: list[Any], depth: int) -> Any:
        if self._resolve_lent is None:
            raise ProtocolError("a lent value comes where none can be")
        if type(tree[1]) is not int or any(type(text) is not str for text in tree[2:]):
            raise ProtocolError("a lent value is not made of an id and names")
        return self._resolve_lent(*tree[1:])

    def _view(self, tree: list[Any], depth: int) -> Any:
        handle, items = self.decode(tree[1], depth + 1), self.decode(tree[2], depth + 1)
        if not isinstance(handle, Handle | RemoteFunction) or type(items) not in VIEWS:
            raise ProtocolError("a container's items come without its reference")
        view = VIEWS[type(items)](items)
        view.handle = handle
        return view

    _READERS: ClassVar[dict[tuple[str, int], Any]] = {
        ("t", 2): _tuple, ("l", 2): _items, ("d", 2): _dict, ("c", 3): _complex,
        ("i", 2): _integer, ("a", 4): _array, ("s", 3): _scalar, ("g", 5): _generator,
        ("r", 5): _reference, ("v", 3): _view, ("h", 4): _lent,
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
