"""Verbs that read what was graded: feedback, mistakes, what changed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from autograder.course import stock
from autograder.course.changes import changes
from autograder.course.classrun import ClassRun
from autograder.course.database import writable
from autograder.course.exercises import choose, notebooks_of
from autograder.course.export import MISTAKE_COLUMNS, by_mistake, write_csv
from autograder.course.feedback import write_page
from autograder.course.folders import Folders
from autograder.course.keeper import Keeper
from autograder.course.late import penalty_plugin
from autograder.course.ledger import Ledger
from autograder.course.options import Options
from autograder.course.paths import Course, CourseError
from autograder.course.pool import open_driver
from autograder.course.preflight import only_run
from autograder.course.record import GRADED, Identity, Record


def feedback(course: Course, options: Options) -> tuple[int, list[str]]:
    """Write the pages of everything that was graded; marks given by hand since then show.

    Returns
    -------
    written : int
        Pages that are new or say something new.
    problems : list of str
        One line each.
    """
    folders = Folders.of(course)
    identities = list(_graded(folders, course, options))
    problems: list[str] = []
    with only_run(course.ledger.parent), writable(folders) as engine, Ledger(course.ledger) as log:
        config = stock.load_config(course.root)
        keeper = Keeper(log, engine, folders, penalty_plugin(config))
        run = ClassRun(course, folders, config, options)
        with open_driver(options, write_page, len(identities)) as driver:
            written = run.write_pages(driver, engine, keeper, identities, problems)
    return written, problems


def export_mistakes(course: Course, target: Path, assignments: Sequence[str] = ()) -> Path:
    """Write how many students made which mistake, as CSV or, by the name of the file, JSON."""
    rows = by_mistake(_records(course, assignments))
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.suffix == ".json":
        target.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        return target
    return write_csv(rows, target, MISTAKE_COLUMNS)


def diff(course: Course) -> list[str]:
    """Say in a line per notebook which scores the last run changed, and why."""
    with _ledger(course) as ledger:
        return [change.line for change in changes(ledger)]


def _graded(folders: Folders, course: Course, options: Options) -> Iterator[Identity]:
    """List the executed notebooks that the options name."""
    notebooks = notebooks_of(course, folders)
    chosen = choose(notebooks, options.assignments, "assignment")
    students = sorted(path.name for path in folders.autograded.glob("*") if path.is_dir())
    for student in choose(students, options.students, "student"):
        for assignment in chosen:
            for name in notebooks[assignment]:
                wanted = not options.notebooks or name in options.notebooks
                if wanted and folders.graded(student, assignment, name).exists():
                    yield student, assignment, name


def _records(course: Course, assignments: Iterable[str]) -> Iterator[Record]:
    wanted = set(assignments)
    with _ledger(course) as ledger:
        for identity in ledger:
            if not wanted or identity[1] in wanted:
                record = ledger.latest(identity)
                if record is not None and record.status == GRADED:
                    yield record


def _ledger(course: Course) -> Ledger:
    if not course.ledger.exists():
        raise CourseError(f"{course.ledger}: nothing was graded yet; run `grade` first.")
    return Ledger(course.ledger)
