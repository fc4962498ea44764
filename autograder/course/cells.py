"""Turn the parts of a notebook's cells into HTML in which nothing of a student can run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from html import escape
from typing import Any

import mistune
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

# Longer texts are shown plainly: colouring and Markdown may take more than linear time.
COLOURED, SHOWN = 20_000, 50_000
LARGEST_IMAGE = 4_000_000
IMAGES = ("image/png", "image/jpeg")
_BASE64 = re.compile(r"[A-Za-z0-9+/]+={0,2}")
# Escape sequences of terminals, and control characters that do something of their own.
_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\-_])")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_HEAD = re.compile(r"^\w+: [\d.]+ of [\d.]+ points$")
_MISCONCEPTION = re.compile(r"^  Misconception [A-Z]+\d+: (.*)$")


def plain(text: str) -> str:
    """Drop terminal escape sequences and control characters, and cut what is very long."""
    cut = text[:SHOWN]
    note = f"\n... {len(text) - SHOWN} more characters" if len(text) > SHOWN else ""
    return _CONTROL.sub("", _ANSI.sub("", cut)) + note


@lru_cache(maxsize=256)
def code_html(source: str) -> str:
    """Show Python source with colours."""
    text = plain(source)
    if not text.strip():
        return ""
    if len(text) > COLOURED:
        return f"<pre>{escape(text)}</pre>"
    return f"<pre>{highlight(text, *_python())}</pre>"


def markdown_html(source: str) -> str:
    """Render Markdown; HTML in it is shown as text, and links that run code are disarmed."""
    text = plain(source)
    if len(text) > COLOURED:
        return f"<pre>{escape(text)}</pre>"
    return str(_markdown()(text))


def outputs_html(outputs: Sequence[Mapping[str, Any]]) -> str:
    """Show the outputs of a student's cell: text and images only."""
    return "".join(_output(output) for output in outputs if isinstance(output, Mapping))


def report_html(outputs: Sequence[Mapping[str, Any]]) -> str:
    """Show what the tests of a graded cell reported, the misconception first of all."""
    parts: list[str] = []
    for output in outputs:
        if output.get("output_type") == "stream":
            parts.extend(_report(plain(_joined(output.get("text", "")))))
        elif output.get("output_type") == "error":
            parts.append(_error(output))
    return "".join(parts)


def image_data(data: Mapping[str, Any], mime: str) -> str:
    """Return an image's base64 text if it is nothing else; empty otherwise."""
    packed = "".join(_joined(data.get(mime, ""))[:LARGEST_IMAGE].split())
    return packed if _BASE64.fullmatch(packed) else ""


def _report(text: str) -> Iterator[str]:
    """Mark the lines of a printed report by what they say."""
    lines = text.splitlines()
    for number, line in enumerate(lines):
        if found := _MISCONCEPTION.match(line):
            said = lines[number + 1].strip() if number + 1 < len(lines) else ""
            yield (
                f'<div class="misconception"><strong>{escape(found[1])}</strong>'
                f"<br>{escape(said)}</div>"
            )
    kept: list[str] = []
    for number, line in enumerate(lines):
        before = lines[number - 1] if number else ""
        if not _MISCONCEPTION.match(line) and not _MISCONCEPTION.match(before):
            kept.append(_line(line))
    if kept:
        yield f"<pre>{''.join(kept)}</pre>"


def _line(line: str) -> str:
    kind = "all" if line.startswith("  right ") else "some" if line.startswith("  lost ") else ""
    text = f"<strong>{escape(line)}</strong>" if _HEAD.match(line) else escape(line)
    return f'<span class="{kind}">{text}</span>\n' if kind else f"{text}\n"


def _output(output: Mapping[str, Any]) -> str:
    kind = output.get("output_type")
    if kind == "stream":
        return _pre(_joined(output.get("text", "")))
    if kind == "error":
        trace = "\n".join(map(str, output.get("traceback") or ()))
        return _pre(trace, "error") or _error(output)
    data = output.get("data")
    return _rich(data) if isinstance(data, Mapping) else ""


def _rich(data: Mapping[str, Any]) -> str:
    """Prefer an image; every other rich output has a plain text beside it."""
    for mime in IMAGES:
        if packed := image_data(data, mime):
            return f'<p><img alt="output of the cell" src="data:{mime};base64,{packed}"></p>'
    return _pre(_joined(data.get("text/plain", "")))


def _error(output: Mapping[str, Any]) -> str:
    first = (str(output.get("evalue", "")).splitlines() or [""])[0]
    return _pre(f"{output.get('ename', 'Error')}: {first}", "error")


def _pre(text: str, kind: str = "output") -> str:
    shown = plain(text)
    return f'<pre class="{kind}">{escape(shown)}</pre>' if shown.strip() else ""


def _joined(text: Any) -> str:
    return "".join(map(str, text)) if isinstance(text, list) else str(text)


@cache
def _python() -> tuple[PythonLexer, HtmlFormatter[str]]:
    return PythonLexer(ensurenl=False), HtmlFormatter(nowrap=True)


@cache
def _markdown() -> mistune.Markdown:
    return mistune.create_markdown(escape=True, plugins=["table", "strikethrough"])
