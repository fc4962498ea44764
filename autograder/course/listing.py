"""List what students handed in, without what could lead elsewhere or could not be kept."""

from __future__ import annotations

import os
import re
from pathlib import Path

# nbgrader's formgrader writes ids and names of students into its pages and scripts as they are.
_UNSAFE = re.compile(r'[<>"\\\x00-\x1f\x7f-\x9f]')


def safe_name(name: str) -> str:
    """Give a student's id or name without what could run in formgrader's pages."""
    return _UNSAFE.sub("", name)


def visible(folder: Path, problems: list[str] | None = None) -> list[Path]:
    """List a folder without hidden files, links, and names that are no text.

    Parameters
    ----------
    folder : pathlib.Path
    problems : list of str, optional
        Gets a line for everything that is left out and not hidden.
    """
    found = []
    for path in sorted(folder.iterdir()):
        if path.name.startswith("."):
            continue
        why = _left_out(path)
        if why is None:
            found.append(path)
        elif problems is not None:
            problems.append(f"{os.fsencode(path).decode(errors='replace')}: {why}")
    return found


def _left_out(path: Path) -> str | None:
    if path.is_symlink():
        return "a link, which may point anywhere, so it is not followed; hand in the file."
    # Python keeps bytes that are no UTF-8 as surrogates, which no gradebook takes.
    if any("\ud800" <= character <= "\udfff" for character in path.name):
        return "its name is no text (UTF-8); rename it."
    return None
