"""Sort what a learning management system gives into ``<student>/<assignment>/<notebook>.ipynb``."""

from __future__ import annotations

import datetime
import re
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from nbgrader.utils import parse_utc

from autograder.course.archive import Found, Reader
from autograder.course.exercises import Notebooks, choose, is_ours, notebooks_of
from autograder.course.folders import Folders
from autograder.course.paths import Course, CourseError
from autograder.course.survey import NOTEBOOK_SUFFIXES
from autograder.course.worker import write_whole

# ps1_bitdiddle_attempt_2016-01-30-15-30-10_problem1.ipynb
DOWNLOAD_NAME = (
    r".*_(?P<student_id>\w+)_attempt_(?P<timestamp>\d{4}-\d\d-\d\d-\d\d-\d\d-\d\d)_(?P<file_id>.+)"
)
TIMESTAMP = "timestamp.txt"
_STUDENT = re.compile(r"^(?!\.)[\w.@+ -]{1,128}$")
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
class _Upload:
    """One file, and where it belongs."""

    student: str
    assignment: str
    name: str
    stamp: datetime.datetime | None
    exact: bool
    place: str
    content: Path = Path()


@dataclass
class Collected:
    """What was collected: files written, by student and assignment; lines on the rest."""

    written: dict[str, list[str]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """Give plain data."""
        return asdict(self)

    def text(self) -> str:
        """Say it in lines."""
        number = sum(map(len, self.written.values()))
        lines = [f"{number} file(s) of {len(self.written)} submission(s) collected."]
        if self.refused:
            lines += [f"{len(self.refused)} left out:", *self.refused]
        return "\n".join([*self.notes, *lines])


def collect(
    course: Course,
    source: Path,
    target: Path | None = None,
    assignments: Sequence[str] = (),
    pattern: Pattern | None = None,
) -> Collected:
    """Collect downloads from a folder or an archive.

    A file is recognised by its name, as learning management systems write it, or by lying in
    ``<student>/<assignment>/``. Of two uploads of one file the newer counts. What was collected
    before and not uploaded again stays.

    Parameters
    ----------
    course : Course
        Whose assignments.
    source : pathlib.Path
        Folder, zip or tar archive; archives in it are looked into too.
    target : pathlib.Path, optional
        Folder of the submissions; None takes the course's.
    assignments : sequence of str
        Only these. With one, file names need not tell the assignment.
    pattern : Pattern, optional
        How file names tell whose a file is.

    Raises
    ------
    CourseError
        There is no such file or folder.
    """
    if not source.exists():
        raise CourseError(f"{source}: no such folder or archive.")
    folders = Folders.of(course)
    notebooks = notebooks_of(course, folders)
    kind = "layer" if is_ours(course) else "assignment"
    chosen = choose(notebooks, assignments, kind)
    target = target or folders.submitted
    if source.is_dir() and target.resolve().is_relative_to(source.resolve()):
        raise CourseError(f"{target}: lies inside {source}, so it would collect itself.")
    collected, reader = Collected(), Reader()
    wanted = {name: notebooks[name] for name in chosen}
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target, prefix=".collecting-") as folder:
        sorter = _Sorter(wanted, pattern or Pattern(), collected, Path(folder))
        for found in reader.read(source):
            sorter.add(found)
        collected.refused = reader.refused + collected.refused
        sorter.write(target)
    return collected


class _Sorter:
    def __init__(
        self, notebooks: Notebooks, pattern: Pattern, collected: Collected, waiting: Path
    ) -> None:
        self._notebooks, self._collected, self._waiting = notebooks, collected, waiting
        self._number = 0
        self._regexp = re.compile(pattern.regexp)
        self._kept: dict[tuple[str, str, str], _Upload] = {}

    def add(self, found: Found) -> None:
        """Keep a file if it belongs somewhere and is the newest there."""
        upload = self._place(found)
        if isinstance(upload, str):
            self._collected.refused.append(f"{found.place}: {upload}")
            return
        key = upload.student, upload.assignment, upload.name
        old = self._kept.get(key)
        if old is not None and self._newer(old, upload) is old:
            return
        # A whole class does not fit into memory.
        self._number += 1
        content = self._waiting / str(self._number)
        content.write_bytes(found.content)
        self._kept[key] = replace(upload, content=content)

    def write(self, target: Path) -> None:
        """Write what was kept, each file whole, and when each submission came."""
        stamps: dict[Path, datetime.datetime] = {}
        for upload in self._kept.values():
            folder = target / upload.student / upload.assignment
            if any(path.is_symlink() for path in (folder, folder.parent, folder / upload.name)):
                self._collected.refused.append(f"{folder}: a link, so nothing is written there.")
                continue
            folder.mkdir(parents=True, exist_ok=True)
            upload.content.replace(folder / upload.name)
            name = f"{upload.student}/{upload.assignment}"
            self._collected.written.setdefault(name, []).append(upload.name)
            if upload.stamp is not None and upload.exact:
                stamps[folder] = max(upload.stamp, stamps.get(folder, upload.stamp))
        for folder, stamp in stamps.items():
            write_whole(folder / TIMESTAMP, f"{stamp:%Y-%m-%d %H:%M:%S} UTC\n")

    def _newer(self, old: _Upload, new: _Upload) -> _Upload:
        # A time in the name was written by the system that took the file; others can be set.
        times = [(one.exact, one.stamp or datetime.datetime.min) for one in (old, new)]
        kept, left = (new, old) if times[1] >= times[0] else (old, new)
        self._collected.notes.append(
            f"{left.place}: an older upload of {kept.place}; the newer one counts."
        )
        return kept

    def _place(self, found: Found) -> _Upload | str:
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
    ) -> _Upload | str:  # fmt: skip
        if not _STUDENT.match(student) or ".." in student:
            return f"{student!r} is no name for a student's folder."
        if "/" in name or "\\" in name or name.startswith(".") or not name.isprintable():
            return f"{name!r} is no name for a file."
        name, notebook = _plain_name(name)
        assignment = self._assignment(hint, notebook)
        if assignment is None:
            return f"belongs to no assignment of {', '.join(self._notebooks)}."
        return _Upload(student, assignment, name, stamp, exact, found.place)

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
    if not text:
        return None
    found = _DASHED.fullmatch(text)
    try:
        return parse_utc(f"{found[1]} {found[2]}:{found[3]}:{found[4]}" if found else text)
    except (ValueError, OverflowError):
        return None
