"""Recognize a typed number without writing the number into the page.

A number line is cut into buckets a quarter of the tolerance wide. The page holds a mark (a salted
hash) of every bucket that an accepted number can fall into; the reader's number falls into one
bucket, whose mark is looked up. So a value is accepted up to the tolerance, and rejected from one
and a quarter of it.

This keeps answers out of sight, out of the search index and out of the page's text. It is no
secret: whoever wants can try all buckets, or compute the answer. The hash is small because it has
to run in the page at once, also where the browser's own is not offered (plain http, files).
"""

import base64
import math

BUCKETS_PER_TOLERANCE = 4
_MASK = 0xFFFFFFFF
# A mark is made from whole numbers that JavaScript holds exactly.
_LARGEST = 2**53


def marks(values: list[float], within: float, salt: str) -> list[list[str]]:
    """Sorted marks of the accepted buckets of each number."""
    if not (math.isfinite(within) and within > 0):
        raise ValueError(f"within must be a positive number; got {within}")
    width = within / BUCKETS_PER_TOLERANCE
    if max(map(abs, values)) / width > _LARGEST / 4:
        raise ValueError(f"within={within:g} is too small for numbers like {values}")
    return [
        sorted(digest(f"{salt}|{index}|{bucket}") for bucket in _accepted(value, within, width))
        for index, value in enumerate(values)
    ]


def _accepted(value: float, within: float, width: float) -> range:
    """Buckets whose centre lies within the tolerance and half a bucket."""
    # A value on the border of two buckets must not depend on rounding: a little more.
    centre, reach = value / width, (within + width / 2) / width + 1e-6
    return range(math.ceil(centre - reach), math.floor(centre + reach) + 1)


def digest(text: str) -> str:
    """Hash of a text, 16 hexadecimal digits; ``numbercheck.js`` computes the same."""
    a, b = 0x811C9DC5, 0x9E3779B9
    for code in text.encode("utf-16-le")[::2]:
        a = (a ^ code) * 0x01000193 & _MASK
        b = (b ^ code) * 0x85EBCA6B & _MASK
    return f"{_mix(a):08x}{_mix(b):08x}"


def _mix(h: int) -> int:
    h = (h ^ h >> 16) * 0x7FEB352D & _MASK
    h = (h ^ h >> 15) * 0x846CA68B & _MASK
    return h ^ h >> 16


def conceal(text: str) -> str:
    """Write an explanation so that it is neither read by accident nor found by a search."""
    return base64.b64encode(text.encode()).decode()
