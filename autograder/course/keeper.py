"""Keep verdicts: into the ledger one by one, from there into the gradebook in batches.

The order of writes is what makes a run survive `kill -9`: executed notebook, ledger, gradebook,
marker. Whatever is cut off after the ledger's line is done again from the ledger.
"""

from __future__ import annotations

import datetime
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from nbgrader.utils import parse_utc

from autograder.course.database import explained
from autograder.course.folders import Folders
from autograder.course.gradebook import write_records
from autograder.course.late import write_penalties
from autograder.course.ledger import Ledger
from autograder.course.record import Identity, Record
from autograder.course.snapshot import AssignmentIds, known_assignments, read_snapshot

BATCH, BATCH_SECONDS = 250, 5.0
TIMESTAMP = "timestamp.txt"


class Keeper:
    """The one writer of ledger and gradebook.

    Parameters
    ----------
    ledger : Ledger
        Where verdicts go first.
    engine : sqlalchemy.Engine
        The gradebook, as `autograder.course.database.writable` opens it.
    folders : Folders
        Names the gradebook in messages.
    penalties : LateSubmissionPlugin
        Decides what a late submission costs.
    """

    def __init__(self, ledger: Ledger, engine: sa.Engine, folders: Folders, penalties: Any) -> None:
        self.ledger, self.problems = ledger, list[str]()
        self._engine, self._folders, self._penalties = engine, folders, penalties
        self._pending: dict[Identity, Record] = {}
        self._ids: dict[str, AssignmentIds] = {}
        self._flushed = time.monotonic()

    def ids(self, assignment: str) -> AssignmentIds:
        """Return the gradebook's ids of an assignment, read once."""
        if assignment not in self._ids:
            with explained(self._folders), self._engine.connect() as connection:
                self._ids.update(read_snapshot(connection, [assignment]))
        return self._ids[assignment]

    def resume(self) -> int:
        """Enter what a killed run left in the ledger only; return how many verdicts that were."""
        with explained(self._folders), self._engine.connect() as connection:
            known = set(known_assignments(connection))
        for record in self.ledger.fresh():
            if record.assignment in known:
                self._pending[record.identity] = record
        number = len(self._pending)
        self.flush()
        return number

    def keep(self, record: Record) -> None:
        """Note a new verdict."""
        self.ledger.append(record)
        self._pending[record.identity] = record
        waited = time.monotonic() - self._flushed
        if len(self._pending) >= BATCH or waited > BATCH_SECONDS:
            self.flush()

    def flush(self) -> None:
        """Enter the verdicts noted so far in the gradebook."""
        self._flushed = time.monotonic()
        if not self._pending:
            return
        self.ledger.sync()
        self._write(list(self._pending.values()), settled=False)
        self._pending.clear()
        self.ledger.commit()

    def settle(self, identities: Iterable[Identity]) -> None:
        """Compare what was graded earlier with the gradebook, and mend the gradebook.

        It may have been restored from an old copy, or made anew.
        """
        batch: list[Record] = []
        for identity in identities:
            record = self.ledger.latest(identity)
            if record is not None:
                batch.append(record)
            if len(batch) >= BATCH:
                self._write(batch, settled=True)
                batch = []
        self._write(batch, settled=True)

    def _write(self, records: Sequence[Record], *, settled: bool) -> None:
        by_assignment: dict[str, list[Record]] = {}
        for record in records:
            by_assignment.setdefault(record.assignment, []).append(record)
        stamps = {name: self._stamps(group) for name, group in by_assignment.items()}
        ids = {name: self.ids(name) for name in by_assignment}
        with explained(self._folders), self._engine.begin() as connection:
            for name, group in by_assignment.items():
                touched = write_records(
                    connection, ids[name], group, stamps=stamps[name], settled=settled
                )
                write_penalties(connection, self._penalties, ids[name].duedate, touched)

    def _stamps(self, records: Iterable[Record]) -> dict[str, datetime.datetime]:
        """Read when each student handed in, where the submission says so."""
        stamps: dict[str, datetime.datetime] = {}
        for record in records:
            path = Path(record.path).parent / TIMESTAMP
            try:
                text = path.read_text(encoding="utf-8")[:100].strip() if path.is_file() else ""
                if text:
                    stamps[record.student] = parse_utc(text)
            except (ValueError, OverflowError, OSError):
                self.problems.append(
                    f"{path}: not a date and time, so lateness is unknown; "
                    "write it as 2026-01-30 15:30:00 UTC."
                )
        return stamps
