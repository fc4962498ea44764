"""Tell by its name or its folders whose an uploaded file is and where it belongs."""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass
from pathlib import Path

from nbgrader.utils import parse_utc

from autograder.course.archive import Found
from autograder.course.exercises import Notebooks
from autograder.course.paths import CourseError
from autograder.course.survey import NOTEBOOK_SUFFIXES

# ps1_bitdiddle_attempt_2016-01-30-15-30-10_problem1.ipynb
DOWNLOAD_NAME = (
    r".*_(?P<student_id>\w+)_attempt_(?P<timestamp>\d{4}-\d\d-\d\d-\d\d-\d\d-\d\d)_(?P<file_id>.+)"
)
# No hidden folder, and nothing that a command would take for an option.
_STUDENT = re.compile(r"^(?![.-])[\w.@+ -]{1,128}$")
_DASHED = re.compile(r"(\d{4}-\d\d-\d\d)[-_ T](\d\d)[-:](\d\d)[-:](\d\d)")
_COPY = re.compile(r"( ?\(\d+\)|-Copy\d*)$")


@dataclass(frozen=True)
class Pattern:
    """How file names tell whose a file is.

    Attributes
    ----------
    regexp : str
        As in nbgrader's `FileNameCollectorPlugin.named_regexp`: with groups ``student_id`` and
        ``file_id``, and if you like ``timestamp`` and ``assignment_id``.
    """

    regexp: str = DOWNLOAD_NAME

    def __post_init__(self) -> None:
        """Refuse an expression that cannot do its work."""
        try:
            groups = set(re.compile(self.regexp).groupindex)
        except re.error as error:
            raise CourseError(f"--regexp {self.regexp!r}: {error}.") from None
        if not {"student_id", "file_id"} <= groups:
            raise CourseError(
                f"--regexp {self.regexp!r}: needs the groups (?P<student_id>...) and "
                "(?P<file_id>...)."
            )


@dataclass(frozen=True)
class Upload:
    """One file, and where it belongs.

    Attributes
    ----------
    student, assignment, name : str
        The folders and the file to write.
    stamp : datetime or None
        When it was handed in, in UTC.
    exact : bool
        The system that took the file says so, not a disk or an archive.
    place : str
        Where it came from.
    content : pathlib.Path
        Where it waits.
    """

    student: str
    assignment: str
    name: str
    stamp: datetime.datetime | None
    exact: bool
    place: str
    content: Path = Path()


class Placer:
    """Finds the place of uploads.

    Parameters
    ----------
    notebooks : dict of str to list of str
        By assignment.
    pattern : Pattern
        How file names tell whose a file is.
    """

    def __init__(self, notebooks: Notebooks, pattern: Pattern) -> None:
        self._notebooks, self._regexp = notebooks, re.compile(pattern.regexp)

    def place(self, found: Found) -> Upload | str:
        """Tell where a file belongs, or why nowhere."""
        for part in reversed(found.parts):
            if (match := self._regexp.match(part)) is None:
                continue
            groups = match.groupdict()
            # Some systems pack each upload into an archive that has the long name.
            name = groups["file_id"] if part == found.parts[-1] else found.parts[-1]
            if "." not in name:
                name += "".join(Path(part).suffixes)
            stamp = _stamp(groups.get("timestamp"))
            hint = groups.get("assignment_id") or part
            return self._upload(groups["student_id"], hint, name, stamp, found)
        if len(found.parts) < 3:
            return "its name does not tell whose it is; rename it, or pass --regexp."
        student, assignment, name = found.parts[-3:]
        if assignment not in self._notebooks:
            return "neither its name nor its folders tell whose it is; see --regexp."
        return self._upload(student, assignment, name, found.modified, found, exact=False)

    def _upload(
        self, student: str, hint: str, name: str, stamp: datetime.datetime | None, found: Found,
        *, exact: bool = True,
    ) -> Upload | str:  # fmt: skip
        if not _STUDENT.match(student) or ".." in student:
            return f"{student!r} is no name for a student's folder."
        if "/" in name or "\\" in name or name.startswith(".") or not name.isprintable():
            return f"{name!r} is no name for a file."
        name, notebook = _plain_name(name)
        assignment = self._assignment(hint, notebook)
        if assignment is None:
            return f"belongs to no assignment of {', '.join(self._notebooks)}."
        return Upload(student, assignment, name, stamp, exact, found.place)

    def _assignment(self, hint: str, notebook: str) -> str | None:
        """Find the assignment that the folder or name says, or that has such a notebook."""
        if hint in self._notebooks:
            return hint
        said = [name for name in self._notebooks if re.match(rf"{re.escape(name)}(_|$)", hint)]
        having = [name for name, books in self._notebooks.items() if notebook in books]
        for names in (said, having, list(self._notebooks)):
            if len(names) == 1:
                return names[0]
        return None


def _plain_name(name: str) -> tuple[str, str]:
    """Undo what a browser did to the name of a notebook; return it and its stem."""
    for suffix in NOTEBOOK_SUFFIXES:
        if name.endswith(suffix):
            stem = _COPY.sub("", name.removesuffix(suffix))
            return f"{stem}.ipynb", stem
    return name, ""


def _stamp(text: str | None) -> datetime.datetime | None:
    # "1" would be the first of this month.
    if not text or len(text) < len("20260130"):
        return None
    found = _DASHED.fullmatch(text)
    try:
        return parse_utc(f"{found[1]} {found[2]}:{found[3]}:{found[4]}" if found else text)
    except (ValueError, OverflowError):
        return None
