"""Values on the wire: a few exact types by value, everything else as a reference.

Plain scalars stand for themselves. Anything else is a list whose first item says what it is::

    ["t", items] tuple            ["l", items] list             ["d", [[key, value], ...]] dict
    ["c", real, imag] complex     ["i", bytes] integer beyond 64 bits
    ["a", blob, dtype, shape]     array                         ["s", blob, dtype] NumPy scalar
    ["g", state, inc, has, half]  PCG64 generator by its state
    ["r", id, kind, type, info]   something that stays in the worker
    ["v", reference, items]       the same with its items: a subclass of tuple, list or dict
    ["h", id, kind, name]         something that stays in the grader and is lent for one call

There is no pickle and no object dtype: decoding runs no code that a student wrote.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.sandbox.errors import ProtocolError

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

PLAIN = (type(None), bool, float)
KEYS = (type(None), bool, int, float, str, bytes, tuple)


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
