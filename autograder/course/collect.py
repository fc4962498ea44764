"""Sort what a learning management system gives into ``<student>/<assignment>/<notebook>.ipynb``."""

from __future__ import annotations

import datetime
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from autograder.course.archive import Found, Reader
from autograder.course.driver import FATAL
from autograder.course.exercises import Notebooks, choose, is_ours, notebooks_of
from autograder.course.folders import Folders
from autograder.course.paths import Course, CourseError
from autograder.course.table import one_line
from autograder.course.uploads import Pattern, Placer, Upload
from autograder.course.worker import write_whole

TIMESTAMP = "timestamp.txt"


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
        # Names come from students, and the text goes to a terminal.
        return "\n".join(map(one_line, [*self.notes, *lines]))


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
        self._collected, self._waiting, self._number = collected, waiting, 0
        self._placer = Placer(notebooks, pattern)
        self._kept: dict[tuple[str, str, str], Upload] = {}

    def add(self, found: Found) -> None:
        """Keep a file if it belongs somewhere and is the newest there."""
        upload = self._placer.place(found)
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
            try:
                folder.mkdir(parents=True, exist_ok=True)
                upload.content.replace(folder / upload.name)
            except OSError as error:
                if error.errno in FATAL:
                    raise
                # A name too long, or a file where a folder must be, is one student's affair.
                self._collected.refused.append(f"{upload.place}: {error.strerror}; left out.")
                continue
            name = f"{upload.student}/{upload.assignment}"
            self._collected.written.setdefault(name, []).append(upload.name)
            if upload.stamp is not None and upload.exact:
                stamps[folder] = max(upload.stamp, stamps.get(folder, upload.stamp))
        for folder, stamp in stamps.items():
            write_whole(folder / TIMESTAMP, f"{stamp:%Y-%m-%d %H:%M:%S} UTC\n")

    def _newer(self, old: Upload, new: Upload) -> Upload:
        # A time in the name was written by the system that took the file; others can be set.
        times = [(one.exact, one.stamp or datetime.datetime.min) for one in (old, new)]
        kept, left = (new, old) if times[1] >= times[0] else (old, new)
        self._collected.notes.append(
            f"{left.place}: an older upload of {kept.place}; the newer one counts."
        )
        return kept
