"""Build the book once, away from the working tree, and read what it says."""

import ast
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
# Where the tests pretend that the book is published.
ADDRESS = "https://books.example.org/layers"
LAYERS = (
    "embedding",
    "layernorm",
    "rmsnorm",
    "batchnorm",
    "dropout",
    "initialization",
    "gradcheck",
    "optimizer",
    "signal",
    "regularization",
    "tinygpt",
)


@dataclass(frozen=True)
class Site:
    """A built book."""

    root: Path
    code: int
    log: str

    @property
    def html(self) -> Path:
        return self.root / "_build" / "html"

    def pages(self) -> dict[str, "Page"]:
        """Every page by its path, read; the theme's own templates are no pages."""
        paths = {p.relative_to(self.html).as_posix(): p for p in sorted(self.html.rglob("*.html"))}
        return {name: read_page(p) for name, p in paths.items() if not name.startswith("_static/")}

    def said(self, layer: str) -> dict[str, Any]:
        """Values that the chapter of this layer keeps for its sentences."""
        path = self.root / "_build" / "jupyter_execute" / "chapters" / f"{layer}.glue.json"
        kept = json.loads(path.read_text(encoding="utf-8"))
        texts = {name: output["data"]["text/plain"] for name, output in kept.items()}
        return {
            name: ast.literal_eval(text)
            for name, text in texts.items()
            if not text.startswith("Picture")
        }


def build(target: Path) -> Site:
    """Copy what the book is made of, nothing else, and build it with warnings as errors."""
    shutil.copy(ROOT / "_config.yml", target)
    ignored = shutil.ignore_patterns("__pycache__", "exercises")
    shutil.copytree(ROOT / "book", target / "book", ignore=ignored)
    shutil.copytree(ROOT / "exercises", target / "exercises")
    # Two test workers share the machine: one thread each.
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "BOOK_URL": ADDRESS}
    start = "from jupyter_book.cli.main import main; main()"
    command = [sys.executable, "-c", start, "build", "book", "-W", "--keep-going"]
    done = subprocess.run(
        command, cwd=target, env=environment, capture_output=True, text=True, check=False
    )
    return Site(target, done.returncode, done.stdout + done.stderr)


@dataclass(frozen=True)
class Page:
    """What one page shows and where it points."""

    text: str
    ids: frozenset[str]
    links: tuple[str, ...]
    hosts: tuple[str, ...]
    classes: frozenset[str]
    meta: dict[str, str]
    scripts: tuple[str, ...]


def read_page(path: Path) -> Page:
    """Take a page apart."""
    parser = _Reader()
    parser.feed(path.read_text(encoding="utf-8"))
    local = [link for link in parser.targets if "://" not in link and not link.startswith("data:")]
    return Page(
        "".join(parser.text),
        frozenset(parser.ids),
        tuple(local),
        tuple(parser.loads),
        frozenset(parser.classes),
        parser.meta,
        tuple(parser.scripts),
    )


class _Reader(HTMLParser):
    """Collects text, ids, classes, link targets, head tags, and what comes from elsewhere."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.text: list[str] = []
        self.ids: set[str] = set()
        self.targets: list[str] = []
        self.loads: list[str] = []
        self.classes: set[str] = set()
        self.meta: dict[str, str] = {}
        # Text inside scripts, and data that scripts read from attributes.
        self.scripts: list[str] = []
        self._hidden = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        self._hidden = tag in ("script", "style")
        self.classes.update((attributes.get("class") or "").split())
        self.scripts += [value or "" for name, value in attrs if name.startswith("data-")]
        if tag == "meta":
            name = attributes.get("name") or attributes.get("property") or ""
            self.meta[name] = attributes.get("content") or ""
        if attributes.get("rel") == "canonical":
            self.meta["canonical"] = attributes.get("href") or ""
        self.ids.update(filter(None, (attributes.get("id"), attributes.get("name"))))
        # Inside drawings href points at shapes of the same drawing.
        names = ("xlink:href",) if tag == "use" else ("href", "src")
        found = [attributes[name] for name in names if attributes.get(name)]
        self.targets += [target for target in found if target]
        if tag in ("script", "link", "img") and attributes.get("rel") not in ("canonical",):
            self.loads += [target for target in found if target and "//" in target[:8]]

    def handle_endtag(self, tag: str) -> None:
        self._hidden = False

    def handle_data(self, data: str) -> None:
        (self.scripts if self._hidden else self.text).append(data)
