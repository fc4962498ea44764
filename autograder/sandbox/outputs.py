"""Cell outputs as a worker sends them, reduced to what a notebook may safely hold."""

from __future__ import annotations

import json
import re
from typing import Any

from autograder.sandbox.errors import ProtocolError

MAX_OUTPUTS = 1000
MAX_TRACEBACK = 200
TEXT_TYPES = (
    "text/plain", "text/html", "text/markdown", "text/latex", "image/svg+xml",
)  # fmt: skip
IMAGE_TYPES = ("image/png", "image/jpeg", "image/gif")
NOTE = "\n[The rest of the output was dropped: a cell keeps {limit} kB.]\n"

_BASE64 = re.compile(r"[A-Za-z0-9+/=\n]*\Z")
# Backspace, tab, newline, return and escape have a meaning in notebooks; others break XML.
_CONTROL = re.compile("[\x00-\x07\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f]")


def clean_outputs(outputs: Any, limit: int) -> list[dict[str, Any]]:
    """Rebuild `outputs` as valid nbformat v4 outputs of at most about `limit` bytes.

    Raises
    ------
    ProtocolError
        If they are not made as the worker's own code makes them.
    """
    if type(outputs) is not list:
        raise ProtocolError("outputs are no list")
    kept: list[dict[str, Any]] = []
    size = 0
    for output in outputs[:MAX_OUTPUTS]:
        clean = _clean(output)
        size += len(json.dumps(clean, ensure_ascii=False))
        if size > limit + 1024:
            text = NOTE.format(limit=limit // 1024)
            return [*kept, {"output_type": "stream", "name": "stderr", "text": text}]
        kept.append(clean)
    return kept


def _clean(output: Any) -> dict[str, Any]:
    if type(output) is not dict:
        raise ProtocolError("an output is no map")
    kind = output.get("output_type")
    if kind == "stream":
        name = "stderr" if output.get("name") == "stderr" else "stdout"
        return {"output_type": "stream", "name": name, "text": _text(output.get("text"))}
    if kind == "error":
        lines = output.get("traceback")
        if type(lines) is not list:
            raise ProtocolError("a traceback is no list")
        return {
            "output_type": "error",
            "ename": _text(output.get("ename")),
            "evalue": _text(output.get("evalue")),
            "traceback": [_text(line) for line in lines[:MAX_TRACEBACK]],
        }
    if kind not in ("display_data", "execute_result"):
        raise ProtocolError("an output is of an unknown type")
    result = {
        "output_type": kind,
        "data": _data(output.get("data")),
        "metadata": _metadata(output.get("metadata")),
    }
    if kind == "execute_result":
        result["execution_count"] = count(output.get("execution_count"))
    return result


def error_output(name: str, text: str) -> dict[str, Any]:
    """Make the error output that says why a cell was stopped."""
    line = f"{name}: {text}"
    return {"output_type": "error", "ename": name, "evalue": text, "traceback": [line]}


def count(value: Any) -> int | None:
    """Accept an execution count, a small natural number or nothing."""
    if value is None or (type(value) is int and 0 <= value < 10**6):
        return value
    raise ProtocolError("an execution count is no small number")


def _text(value: Any) -> str:
    if type(value) is not str:
        raise ProtocolError("a text of an output is no text")
    return _CONTROL.sub("", value)


def _data(data: Any) -> dict[str, Any]:
    if type(data) is not dict:
        raise ProtocolError("the data of an output are no map")
    kept: dict[str, Any] = {}
    for mime, value in data.items():
        if mime in TEXT_TYPES:
            kept[mime] = _text(value)
        elif mime in IMAGE_TYPES:
            if type(value) is not str or not _BASE64.match(value):
                raise ProtocolError("an image is not in base 64")
            kept[mime] = value
        elif mime == "application/json":
            kept[mime] = _json(value)
    return kept


def _json(value: Any, depth: int = 0) -> Any:
    if depth > 32:
        raise ProtocolError("a JSON output is nested too deeply")
    if value is None or type(value) in (bool, int):
        return value
    if type(value) is float and value - value == 0:  # no NaN or infinity in JSON
        return value
    if type(value) is str:
        return _text(value)
    if type(value) is list:
        return [_json(item, depth + 1) for item in value]
    if type(value) is dict:
        return {_text(key): _json(item, depth + 1) for key, item in value.items()}
    raise ProtocolError("a JSON output has a value that is no JSON")


def _metadata(metadata: Any) -> dict[str, Any]:
    """Keep what notebooks say about images: sizes, and the background that they need."""
    if type(metadata) is not dict:
        raise ProtocolError("the metadata of an output are no map")
    kept: dict[str, Any] = {}
    if metadata.get("needs_background") in ("light", "dark"):
        kept["needs_background"] = metadata["needs_background"]
    for mime in IMAGE_TYPES:
        sizes = metadata.get(mime)
        if type(sizes) is dict:
            known = {k: v for k, v in sizes.items() if k in ("width", "height")}
            kept[mime] = {k: v for k, v in known.items() if type(v) is int and 0 < v < 10**5}
    tree = metadata.get("application/json")
    if type(tree) is dict and type(tree.get("expanded")) is bool:
        kept["application/json"] = {"expanded": tree["expanded"], "root": "root"}
    return kept
