"""Outputs of the running cell, collected in the worker as a kernel would publish them."""

from __future__ import annotations

import base64
import io
import math
from typing import Any

from autograder.sandbox.outputs import NOTE


class Captured:
    """Collects the outputs of one cell at a time, up to a limit.

    The limit spares the worker's own memory; the grader checks what arrives once more.
    """

    def __init__(self) -> None:
        self.begin(0)
        self.active = False

    def begin(self, limit: int) -> None:
        """Start afresh, to keep about `limit` characters."""
        self._outputs: list[dict[str, Any]] = []
        self._displays: dict[str, list[dict[str, Any]]] = {}
        self._room = self._limit = limit
        self._full = self._clear_next = False
        self.active = True

    def finish(self) -> list[dict[str, Any]]:
        """Stop collecting and give the outputs in nbformat v4."""
        self.active = False
        for output in self._outputs:
            if output["output_type"] == "stream":
                output["text"] = "".join(output.pop("parts"))
        return [_well_formed(output) for output in self._outputs]

    def write(self, name: str, text: str) -> None:
        """Add text of a stream; text of one stream in a row makes one output."""
        if not self.active or self._full or not text:
            return
        self._clear_if_asked()
        kept = text[: max(self._room, 0)]
        self._part(name, kept)
        self._take(len(kept))
        if len(kept) < len(text):
            self._fill()

    def display(
        self, data: dict[str, Any], metadata: dict[str, Any], identity: str | None, update: bool
    ) -> None:
        """Add rich data, or replace the data shown before under the same identity."""
        data = {mime: _encoded(value) for mime, value in data.items()}
        output = {"output_type": "display_data", "data": data, "metadata": metadata}
        if update:
            for shown in self._displays.get(identity or "", ()):
                shown.update(data=data, metadata=metadata)
            return
        if identity is not None:
            self._displays.setdefault(identity, []).append(output)
        self._add(output, sum(len(str(value)) for value in data.values()))

    def result(self, data: dict[str, Any], metadata: dict[str, Any], number: int) -> None:
        """Add the value of the cell's last expression."""
        data = {mime: _encoded(value) for mime, value in data.items()}
        output: dict[str, Any] = {"output_type": "execute_result", "data": data}
        output.update(metadata=metadata, execution_count=number)
        self._add(output, sum(len(str(value)) for value in data.values()))

    def error(self, name: str, text: str, traceback: list[str]) -> None:
        """Add an error; it is kept, cut, even where the limit is reached."""
        if not self.active:
            return
        lines = [line[:4000] for line in traceback[-50:]]
        output: dict[str, Any] = {"output_type": "error", "ename": name, "evalue": text[:4000]}
        self._clear_if_asked()
        if sum(map(len, lines)) > 64_000:
            lines = lines[-1:]
        self._outputs.append({**output, "traceback": lines})

    def clear(self, wait: bool) -> None:
        """Drop what was shown, now or when the next output comes."""
        if wait:
            self._clear_next = True
        else:
            self._outputs.clear()

    def _add(self, output: dict[str, Any], size: int) -> None:
        if not self.active or self._full:
            return
        self._clear_if_asked()
        if size > self._room:
            self._fill()
        else:
            self._take(size)
            self._outputs.append(output)

    def _part(self, name: str, text: str) -> None:
        last = self._outputs[-1] if self._outputs else {}
        if last.get("output_type") == "stream" and last["name"] == name:
            last["parts"].append(text)
        else:
            self._outputs.append({"output_type": "stream", "name": name, "parts": [text]})

    def _take(self, size: int) -> None:
        # An output costs something even when it is empty, and so does each small piece.
        self._room -= size + 8

    def _fill(self) -> None:
        self._full = True
        self._part("stderr", NOTE.format(limit=self._limit // 1024))

    def _clear_if_asked(self) -> None:
        if self._clear_next:
            self._outputs.clear()
            self._clear_next = False


class Stream(io.TextIOBase):
    """Standard output or error of the code in cells."""

    encoding = "utf-8"
    errors = "backslashreplace"

    def __init__(self, captured: Captured, name: str) -> None:
        self._captured = captured
        self._name = name

    @property
    def name(self) -> str:
        """The name that Python's own streams have."""
        return f"<{self._name}>"

    def writable(self) -> bool:
        """Tell that text can be written."""
        return True

    def write(self, text: str) -> int:
        """Add `text` to the outputs of the running cell."""
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text)}")
        self._captured.write(self._name, text)
        return len(text)


def _encoded(value: Any) -> Any:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return value


def _well_formed(value: Any, depth: int = 0) -> Any:
    """Make texts valid Unicode and leave out what the wire cannot carry."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else repr(value)
    if isinstance(value, int):
        return int(value) if abs(value) < 2**63 else float(value)
    if isinstance(value, dict) and depth < 32:
        items = value.items()
        return {_well_formed(str(k)): _well_formed(v, depth + 1) for k, v in items}
    if isinstance(value, list | tuple) and depth < 32:
        return [_well_formed(item, depth + 1) for item in value]
    return str(value)[:1000]
