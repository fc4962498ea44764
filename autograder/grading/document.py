"""Read the bytes of a submission as notebook cells, whatever they are; refuse what is none."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

MAX_BYTES = 25 * 2**20
# A file of empty lists takes thirty times its size in memory; a notebook has few of them.
MAX_BRACKETS, MAX_ITEMS = 400_000, 4_000_000
CELL_TYPES = ("code", "markdown", "raw")
IMAGES = ("image/png", "image/jpeg", "image/gif")
_ID = re.compile(r"^[a-zA-Z0-9_-]{1,64}$")


class UnreadableError(Exception):
    """The file is no notebook; the message says why and what to do."""


@dataclass
class Cell:
    """One cell as it was handed in, made safe to look at."""

    kind: str
    source: str
    metadata: dict[str, Any]
    id: str | None = None
    attachments: dict[str, Any] | None = None

    @property
    def mark(self) -> dict[str, Any]:
        """The metadata of nbgrader, whatever is left of them."""
        mark = self.metadata.get("nbgrader")
        return mark if isinstance(mark, dict) else {}

    @property
    def grade_id(self) -> str | None:
        """The name that nbgrader gave the cell, or None."""
        value = self.mark.get("grade_id")
        return value if isinstance(value, str) else None


@dataclass
class Document:
    """A notebook as it was handed in.

    Attributes
    ----------
    cells : list of Cell
    metadata : dict
        Metadata of the notebook.
    oddities : list of str
        Kinds of repair that reading it took.
    """

    cells: list[Cell]
    metadata: dict[str, Any]
    oddities: list[str] = field(default_factory=list)


def read_document(raw: bytes, max_bytes: int = MAX_BYTES) -> Document:
    """Read a submitted file.

    Parameters
    ----------
    raw : bytes
        The file.
    max_bytes : int
        Larger files are refused before anything reads them.

    Raises
    ------
    UnreadableError
        The file is too large, empty, not JSON or not a notebook.
    """
    if len(raw) > max_bytes:
        raise UnreadableError(too_large(len(raw), max_bytes))
    data, oddities = _parse(raw)
    if not isinstance(data, dict):
        raise UnreadableError("is JSON but not a notebook; ask for a notebook saved by Jupyter.")
    found = _cells_of(data, oddities)
    cells = []
    for item in found:
        if isinstance(item, dict):
            cells.append(_cell(item, oddities))
        else:
            oddities.append("broken_cell")
    metadata = data.get("metadata")
    return Document(cells, metadata if isinstance(metadata, dict) else {}, _unique(oddities))


def too_large(size: int, limit: int) -> str:
    """Say that a file is larger than what is graded."""
    return (
        f"has {size / 2**20:.0f} MB, more than the {limit / 2**20:.0f} MB that are read; ask for "
        'the notebook without its outputs ("Clear All Outputs").'
    )


def clean(text: str) -> str:
    """Replace halves of surrogate pairs, which no file can hold, in a text from a submission."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def _parse(raw: bytes) -> tuple[Any, list[str]]:
    if not raw.strip():
        raise UnreadableError("is empty (0 bytes); ask for it again.")
    if raw.count(b"[") + raw.count(b"{") > MAX_BRACKETS or raw.count(b",") > MAX_ITEMS:
        raise UnreadableError("has more parts than any notebook; ask for one saved by Jupyter.")
    text, oddities = _decode(raw)
    try:
        return json.loads(text, parse_constant=str), oddities
    except json.JSONDecodeError as error:
        raise UnreadableError(
            f"is broken at line {error.lineno}, column {error.colno} (not JSON); "
            "ask for it again or mend it in a text editor."
        ) from None
    except (RecursionError, ValueError, MemoryError) as error:
        raise UnreadableError(
            f"cannot be read ({type(error).__name__}); ask for a notebook saved by Jupyter."
        ) from None


def _decode(raw: bytes) -> tuple[str, list[str]]:
    for start, encoding in ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"),
                            (b"\xfe\xff", "utf-16")):  # fmt: skip
        if raw.startswith(start):
            return raw.decode(encoding, "replace"), ["encoding"]
    try:
        return raw.decode("utf-8"), []
    except UnicodeDecodeError:
        return raw.decode("latin-1"), ["encoding"]


def _cells_of(data: dict[str, Any], oddities: list[str]) -> list[Any]:
    cells = data.get("cells")
    if isinstance(cells, list):
        version = data.get("nbformat")
        if version != 4:
            oddities.append("newer_format" if _is_newer(version) else "format")
        return cells
    sheets = data.get("worksheets")
    if isinstance(sheets, list):
        oddities.append("format")
        parts = [sheet.get("cells") for sheet in sheets if isinstance(sheet, dict)]
        return [cell for part in parts if isinstance(part, list) for cell in part]
    raise UnreadableError("is JSON but has no cells; ask for a notebook saved by Jupyter.")


def _is_newer(version: Any) -> bool:
    return isinstance(version, int) and version > 4


def _cell(item: dict[str, Any], oddities: list[str]) -> Cell:
    kind, source = item.get("cell_type"), item.get("source", item.get("input", ""))
    lines = source if isinstance(source, list) else [source]
    text = "".join(line for line in lines if isinstance(line, str))
    if not all(isinstance(line, str) for line in lines):
        oddities.append("broken_cell")
    if kind == "heading":
        level = item.get("level")
        text = "#" * (level if isinstance(level, int) and 1 <= level <= 6 else 1) + " " + text
    metadata = item.get("metadata")
    name, attachments = item.get("id"), item.get("attachments")
    return Cell(
        _kind(kind),
        clean(text),
        dict(metadata) if isinstance(metadata, dict) else {},
        name if isinstance(name, str) and _ID.match(name) else None,
        _images(attachments),
    )


def _images(attachments: Any) -> dict[str, Any] | None:
    """Keep the attached pictures that are well-formed."""
    kept: dict[str, Any] = {}
    for name, bundle in attachments.items() if isinstance(attachments, dict) else ():
        parts = bundle.items() if isinstance(bundle, dict) else ()
        found = {mime: data for mime, data in parts if mime in IMAGES and isinstance(data, str)}
        if found:
            kept[clean(name)] = {mime: clean(data) for mime, data in found.items()}
    return kept or None


def _kind(kind: Any) -> str:
    if kind in CELL_TYPES:
        return str(kind)
    return "markdown" if kind in ("heading", "html") else "raw"


def _unique(kinds: list[str]) -> list[str]:
    return list(dict.fromkeys(kinds))
