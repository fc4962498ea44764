"""Find what students must not read: solutions, hidden tests, the grader's own words."""

from __future__ import annotations

import ast
from pathlib import Path

from autograder.course.paths import Course
from autograder.course.source import read_source, split_regions

MARKERS = ("BEGIN SOLUTION", "END SOLUTION", "BEGIN HIDDEN", "END HIDDEN", "autograder", "check_")
# Shorter lines ("return out") occur in any honest text and give nothing away.
SHORTEST_LINE = 12
SHORTEST_SENTENCE = 30


def secrets_of(course: Course) -> dict[str, str]:
    """Map each string that must stay out of public files to what it is.

    Taken from the sources themselves: markers, the lines of solution and hidden regions that do
    not also stand in the public part of a source, and the sentences of known mistakes.
    """
    secrets = dict.fromkeys(MARKERS, "a word of the grader")
    for sentence in _mistake_sentences(course.root / "autograder" / "mistakes"):
        secrets[sentence] = "the sentence of a known mistake"
    secret_lines, public = _split_sources(course)
    for line, origin in secret_lines.items():
        if not any(line in text for text in public):
            secrets[line] = origin
    return secrets


def find_leaks(text: str, secrets: dict[str, str]) -> list[str]:
    """Name each secret that occurs in ``text``, as ``what it is: 'the words'``."""
    return [f"{what}: {secret!r}" for secret, what in secrets.items() if secret in text]


def _split_sources(course: Course) -> tuple[dict[str, str], list[str]]:
    secret_lines: dict[str, str] = {}
    public: list[str] = []
    for layer in course.layers():
        for cell in read_source(course.source_of(layer)).cells:
            visible, regions = split_regions(cell.source)
            public.append(visible)
            for line in (line.strip() for lines in regions.values() for line in lines):
                if len(line) >= SHORTEST_LINE:
                    secret_lines[line] = f"a solution or hidden line of {layer}"
    return secret_lines, public


def _mistake_sentences(folder: Path) -> list[str]:
    """Read the long string constants of the mistakes' modules, without importing them."""
    texts = [
        node.value.strip()
        for path in sorted(folder.glob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    # A docstring may quote a paper that an exercise quotes too; sentences fill one line.
    return [text for text in texts if len(text) >= SHORTEST_SENTENCE and "\n" not in text]
