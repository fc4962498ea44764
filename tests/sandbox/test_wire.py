"""Frames and values: what is sent arrives, and no bytes whatever upset the reading side."""

import contextlib
import math
import socket
import threading
import time

import msgpack
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from autograder.sandbox import ProtocolError, wire
from autograder.sandbox.decode import Decoder
from autograder.sandbox.encode import Encoder, TooBig
from autograder.sandbox.values import DTYPES, MAX_DEPTH

scalars = (
    st.none() | st.booleans() | st.integers(-(2**200), 2**200) | st.floats()
    | st.complex_numbers() | st.text(st.characters(codec="utf-8")) | st.binary()
)  # fmt: skip
arrays = st.sampled_from(sorted(DTYPES)).flatmap(
    lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=0, max_dims=4, min_side=0))
)
plain = st.recursive(
    scalars | arrays,
    lambda inner: st.lists(inner, max_size=4)
    | st.lists(inner, max_size=4).map(tuple)
    | st.dictionaries(st.text(st.characters(codec="utf-8")) | st.integers(), inner, max_size=4),
    max_leaves=12,
)


def refuse(*_):
    raise AssertionError("nothing here is a reference")


def over_the_wire(value):
    """Send a value through a real pair of sockets and read it back."""
    encoder = Encoder(refuse)
    header = {"value": encoder.encode(value)}
    ours, theirs = socket.socketpair()
    with ours, theirs:
        thread = threading.Thread(target=wire.send, args=(theirs, header, encoder.blobs))
        thread.start()
        fields, blobs = wire.receive(ours, time.monotonic() + 10)
        thread.join()
    return Decoder(blobs, refuse).decode(fields["value"])


def frame_of(value):
    encoder = Encoder(refuse)
    ours, theirs = socket.socketpair()
    with ours, theirs:
        wire.send(theirs, {"value": encoder.encode(value)}, encoder.blobs)
        return ours.recv(1 << 20)


def read(frame, seconds=0.5):
    """Read a frame from raw bytes after which the other side hangs up."""
    ours, theirs = socket.socketpair()
    with ours:
        with theirs:
            theirs.sendall(frame)
        fields, blobs = wire.receive(ours, time.monotonic() + seconds)
    return Decoder(blobs, refuse).decode(fields.get("value"))


def same(a, b):
    """Equal in type and value, NaN and signed zeros included."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray | np.generic):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(map(same, a.values(), b.values()))
    if isinstance(a, complex):
        return same(a.real, b.real) and same(a.imag, b.imag)
    if isinstance(a, float):
        return math.isnan(a) == math.isnan(b) and (
            math.isnan(a) or (a == b and math.copysign(1, a) == math.copysign(1, b))
        )
    return a == b


@given(plain)
@settings(max_examples=150, deadline=None)
def test_values_arrive_as_they_were(value):
    assert same(over_the_wire(value), value)


@given(arrays)
@settings(max_examples=50, deadline=None)
def test_arrays_arrive_fresh_contiguous_and_writable(array):
    got = over_the_wire(array.T)
    assert type(got) is np.ndarray
    assert got.flags.c_contiguous
    assert got.flags.writeable


def test_foreign_byte_order_and_subclasses_arrive_as_plain_arrays():
    big = np.arange(3, dtype=">f8")
    assert over_the_wire(big).dtype == np.dtype("<f8")
    assert type(over_the_wire(np.ma.masked_array([1.0, 2.0], [True, False]))) is np.ndarray


@given(st.data())
@settings(max_examples=200, deadline=None)
def test_damaged_frames_are_refused_or_read_but_never_upset_the_reader(data):
    frame = bytearray(frame_of([np.arange(5.0), {"a": (1, "x")}, None]))
    for _ in range(data.draw(st.integers(1, 4))):
        frame[data.draw(st.integers(0, len(frame) - 1))] = data.draw(st.integers(0, 255))
    frame = frame[: data.draw(st.integers(0, len(frame)))]
    with contextlib.suppress(ProtocolError, wire.Closed):
        read(frame)


@given(st.binary(max_size=200))
@settings(max_examples=200, deadline=None)
def test_any_header_is_read_or_refused(packed):
    with contextlib.suppress(ProtocolError):
        assert type(wire.parse_header(packed)) is dict


def raw(header, sizes=(), magic=wire.MAGIC, packed=None):
    body = packed if packed is not None else msgpack.packb(header)
    lengths = b"".join(size.to_bytes(8, "little") for size in sizes)
    count = len(sizes).to_bytes(4, "little")
    return magic + len(body).to_bytes(4, "little") + count + lengths + body


DEEP = b"\x91" * 5000 + b"\xc0"
HOSTILE = {
    "wrong magic": raw({}, magic=b"HTTP"),
    "header of four gigabytes": wire.MAGIC + b"\xff\xff\xff\xff" + bytes(4),
    "four billion arrays": wire.MAGIC + bytes(4) + b"\xff\xff\xff\xff",
    "array of an exabyte": raw({}, sizes=(1 << 60,)),
    "many arrays that add up": raw({}, sizes=(1 << 27,) * 3),
    "sizes that overflow together": raw({}, sizes=((1 << 64) - 1,) * 2),
    "deep nesting": raw(None, packed=b"\x81\xa5value" + DEEP),
    "list that lies about its length": raw(None, packed=b"\xdd\xff\xff\xff\xff"),
    "map that lies about its length": raw(None, packed=b"\xdf\xff\xff\xff\xff"),
    "no map": raw([1, 2]),
    "keys that are no text": raw({1: 2}),
    "a time stamp": raw(None, packed=b"\x81\xa5value\xd6\xff\x00\x00\x00\x00"),
    "an extension type": raw(None, packed=b"\x81\xa5value\xc7\x00\x05"),
    "text that is no Unicode": raw(None, packed=b"\x81\xa5value\xa2\xff\xff"),
    "bytes after the map": raw(None, packed=b"\x80\x80"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_frames_are_refused_at_once(name):
    with pytest.raises(ProtocolError):
        read(HOSTILE[name])


NUMBERS = np.arange(6, dtype=np.uint8)
TREES = {
    "unknown tag": ["z", 1],
    "empty list": [],
    "no tag": [1, 2],
    "map instead of a value": {"a": 1},
    "tuple without items": ["t", 5],
    "pair of three": ["d", [[1, 2, 3]]],
    "key that cannot be hashed": ["d", [[["t", [["l", []]]], 1]]],
    "key that is a list": ["d", [[["l", []], 1]]],
    "too many keys": ["d", [[i, 0] for i in range(5000)]],
    "object dtype": ["a", 0, "|O", [6]],
    "structured dtype": ["a", 0, "u1,u1", [3]],
    "dtype as a list": ["a", 0, [["x", "<i4"]], [1]],
    "shape too large": ["a", 0, "|u1", [7]],
    "negative shape": ["a", 0, "|u1", [-2, -3]],
    "shape of floats": ["a", 0, "|u1", [6.0]],
    "shape of booleans": ["a", 0, "|u1", [True, 6]],
    "seventeen dimensions": ["a", 0, "|u1", [1] * 16 + [6]],
    "empty array of huge sides": ["a", 0, "|u1", [0, 2**62, 2**62]],
    "bytes that did not come": ["a", 3, "|u1", [6]],
    "negative place": ["a", -1, "|u1", [6]],
    "place is a boolean": ["a", False, "|u1", [6]],
    "bytes used twice": ["t", [["a", 0, "|u1", [6]], ["a", 0, "|u1", [6]]]],
    "complex of texts": ["c", "1", "2"],
    "integer of a megabyte": ["i", bytes(1 << 20)],
    "generator of short words": ["g", b"1", b"2", 0, 0],
    "generator with a large half": ["g", bytes(16), bytes(16), 0, 2**32],
    "generator with a strange flag": ["g", bytes(16), bytes(16), 7, 0],
    "reference of a text": ["r", "1", "object", "x", ""],
    "reference of numbers": ["r", 1, 2, 3, 4],
}


@pytest.mark.parametrize("name", TREES)
def test_values_of_another_form_are_refused(name):
    with pytest.raises(ProtocolError):
        Decoder([NUMBERS.copy()], refuse).decode(TREES[name])


def test_too_deep_a_value_is_refused_on_both_sides():
    value = tree = None
    for _ in range(MAX_DEPTH + 1):
        value, tree = [value], ["l", [tree]]
    with pytest.raises(TooBig):
        Encoder(refuse).encode(value)
    with pytest.raises(ProtocolError):
        Decoder([], refuse).decode(tree)


def test_a_value_that_holds_itself_is_too_big():
    value = []
    value += [value, value]
    with pytest.raises(TooBig):
        Encoder(refuse).encode(value)


def test_a_dripping_frame_meets_one_deadline():
    frame = frame_of(np.arange(1000.0))
    ours, theirs = socket.socketpair()

    def drip():
        for byte in frame:
            try:
                theirs.send(bytes([byte]))
            except OSError:
                return
            time.sleep(0.02)

    thread = threading.Thread(target=drip)
    with ours:
        thread.start()
        began = time.monotonic()
        with pytest.raises(wire.Late):
            wire.receive(ours, began + 0.3)
        assert time.monotonic() - began < 1.0
    thread.join()
    theirs.close()


def test_a_reader_that_does_not_read_meets_the_deadline_too():
    ours, theirs = socket.socketpair()
    with ours, theirs, pytest.raises(wire.Late):
        wire.send(ours, {}, [np.zeros(64 << 20, np.uint8).data], time.monotonic() + 0.2)


def test_waiting_for_a_frame_ends_at_the_deadline_or_with_its_first_byte():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        assert not wire.arrives(ours, time.monotonic() + 0.01)
        theirs.sendall(wire.MAGIC[:2])
        assert wire.arrives(ours, time.monotonic() + 10)
        with pytest.raises(wire.Late):
            wire.receive(ours, time.monotonic() + 0.01)
