"""Messages between the grader and a worker: frames with bounds on everything.

    frame := magic (4 bytes) | header length (u32) | number of blobs (u32)
             | length of each blob (u64 each) | header (msgpack map) | blobs

The grader treats every byte that comes from a worker as hostile: sizes are checked before
memory is taken, one deadline covers the whole frame however slowly it drips, and whatever is
not exactly as described above is a `ProtocolError`.
"""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgpack
import numpy as np

from autograder.sandbox.errors import ProtocolError

MAGIC = b"LFS1"
_START = struct.Struct("<4sII")
_CHUNK = 1 << 20

Blob = np.ndarray[Any, np.dtype[np.uint8]]  # one-dimensional, owning its memory


class Closed(Exception):  # noqa: N818 - a state of the connection
    """The other side closed the connection."""


class Late(Exception):  # noqa: N818 - a state of the connection
    """The deadline of a frame passed; what follows on the connection may be no frame."""


@dataclass(frozen=True)
class Caps:
    """Largest frame that is accepted: bytes of header and blobs, number of blobs."""

    header: int = 4 << 20
    blobs: int = 4096
    blob_bytes: int = 256 << 20


def send(
    sock: socket.socket,
    header: dict[str, Any],
    blobs: Sequence[Any] = (),
    deadline: float | None = None,
) -> None:
    """Send one frame before `deadline`, a moment of `time.monotonic`.

    Raises
    ------
    Closed
        If the other side is gone.
    Late
        If it does not read fast enough.
    """
    packed = msgpack.packb(header, use_bin_type=True)
    sizes = struct.pack(f"<{len(blobs)}Q", *(len(blob) for blob in blobs))
    start = _START.pack(MAGIC, len(packed), len(blobs)) + sizes + packed
    try:
        for part in (start, *blobs):
            if len(part):
                sock.settimeout(_left(deadline))
                sock.sendall(part)
    except TimeoutError:
        raise Late from None
    except OSError:
        raise Closed from None


def receive(
    sock: socket.socket, deadline: float | None = None, caps: Caps | None = None
) -> tuple[dict[str, Any], list[Blob]]:
    """Read one frame before `deadline`, a moment of `time.monotonic`.

    Raises
    ------
    ProtocolError
        If the bytes are no frame, or one larger than `caps` allows.
    Closed
        If the other side is gone.
    Late
        If the frame is not complete at the deadline.
    """
    caps = caps or Caps()
    start = _read(sock, _START.size, deadline)
    magic, header_size, count = _START.unpack(start.tobytes())
    if magic != MAGIC:
        raise ProtocolError("a frame does not start as it must")
    if header_size > caps.header or count > caps.blobs:
        raise ProtocolError(f"a frame announces {header_size} bytes and {count} blobs")
    sizes = struct.unpack(f"<{count}Q", _read(sock, 8 * count, deadline).tobytes())
    if sum(sizes) > caps.blob_bytes:
        raise ProtocolError(f"a frame announces {sum(sizes)} bytes of arrays")
    header = parse_header(_read(sock, header_size, deadline).tobytes())
    return header, [_read(sock, size, deadline) for size in sizes]


def parse_header(packed: bytes) -> dict[str, Any]:
    """Parse a msgpack map with text keys and no extension types."""
    size = len(packed)
    try:
        header = msgpack.unpackb(
            packed,
            raw=False,
            strict_map_key=True,
            max_ext_len=0,
            max_map_len=64,
            max_array_len=size,
            max_str_len=size,
            max_bin_len=size,
        )
    except Exception as error:  # every way in which hostile bytes upset the parser
        raise ProtocolError(f"a header is not readable ({type(error).__name__})") from None
    if type(header) is not dict or any(type(key) is not str for key in header):
        raise ProtocolError("a header is not a map with text keys")
    return header


def arrives(sock: socket.socket, deadline: float) -> bool:
    """Wait until something can be read, or the connection closes; tell whether it was in time."""
    try:
        sock.settimeout(_left(deadline))
        sock.recv(1, socket.MSG_PEEK)
    except (TimeoutError, Late):
        return False
    except OSError:
        raise Closed from None
    return True


def silent(sock: socket.socket) -> bool:
    """Tell whether nothing waits to be read; a closed connection counts as silent.

    Bytes that come before a question was asked can only be a forged reply.
    """
    sock.settimeout(0)
    try:
        return not sock.recv(1, socket.MSG_PEEK)
    except OSError:
        return True


def _read(sock: socket.socket, size: int, deadline: float | None) -> Blob:
    # Untouched pages of `empty` cost nothing, so that a lying length costs nothing either.
    blob = np.empty(size, np.uint8)
    view, got = blob.data, 0
    while got < size:
        try:
            sock.settimeout(_left(deadline))
            n = sock.recv_into(view[got:], min(size - got, _CHUNK))
        except TimeoutError:
            raise Late from None
        except OSError:
            raise Closed from None
        if n == 0:
            raise Closed
        got += n
    return blob


def _left(deadline: float | None) -> float | None:
    if deadline is None:
        return None
    left = deadline - time.monotonic()
    if left <= 0:
        raise Late
    return left
