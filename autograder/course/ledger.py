"""The ledger: an append-only journal of verdicts, from which a killed run goes on.

A verdict counts from the moment its line is in the ledger. The gradebook is a copy that is
brought up to date from it, in batches; a marker line says how far.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.course.record import Digests, Identity, Record

SYNC_EVERY = 64


@dataclass(frozen=True)
class _Entry:
    """Where the latest record of an identity lies, and the one it replaced in an earlier run."""

    key: str
    status: str
    offset: int
    run: int
    before: int | None


class Ledger:
    """Records by student, assignment and notebook; the last one counts.

    Only an index is kept in memory. Use it as a context manager.

    Parameters
    ----------
    path : pathlib.Path
        The journal; made if it does not exist. A line torn by a crash is cut off its end.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self.damaged = 0
        self.run = 0
        self._index: dict[Identity, _Entry] = {}
        self._fresh: list[int] = []
        self._finished = True
        self._unsynced = 0
        # Unbuffered: a line survives the end of this process at once, that of the machine with
        # the next sync.
        self._file = path.open("ab", buffering=0)
        self._reader = path.open("rb")
        self._end = self._scan()
        self._file.truncate(self._end)

    def __enter__(self) -> Ledger:
        """Give the ledger itself."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Write out what is buffered and close the file."""
        self.sync()
        self._file.close()
        self._reader.close()

    def begin(self) -> None:
        """Start a run, unless the last one was cut short: then this one continues it."""
        if self._finished:
            self.run += 1
            self._finished = False
            self._write({"run": self.run, "at": time.time()})

    def finish(self) -> None:
        """End the run."""
        self._finished = True
        self._write({"finished": self.run})
        self.sync()

    def append(self, record: Record) -> None:
        """Add a verdict; it replaces the earlier one of the same notebook."""
        offset = self._end
        self._append_line(record.to_json().encode() + b"\n")
        self._enter(record.identity, record.digests.key, record.status, offset)

    def commit(self) -> None:
        """Note that the gradebook holds everything up to here."""
        self._fresh.clear()
        self._write({"committed": True})

    def sync(self) -> None:
        """Make what was appended survive a crash of the machine."""
        os.fsync(self._file.fileno())
        self._unsynced = 0

    def verdict(self, identity: Identity) -> tuple[str, str]:
        """Return the key under which a notebook was last graded, and the status it got."""
        entry = self._index.get(identity)
        return (entry.key, entry.status) if entry else ("", "")

    def latest(self, identity: Identity) -> Record | None:
        """Read the verdict that counts."""
        entry = self._index.get(identity)
        return self._read(entry.offset) if entry else None

    def before(self, identity: Identity) -> Record | None:
        """Read the verdict that counted before the last run."""
        entry = self._index.get(identity)
        return None if entry is None or entry.before is None else self._read(entry.before)

    def changed(self) -> Iterator[Identity]:
        """List what the last run graded that had been graded before."""
        for identity, entry in self._index.items():
            if entry.run == self.run and entry.before is not None:
                yield identity

    def fresh(self) -> Iterator[Record]:
        """Read the verdicts that the gradebook does not hold yet, oldest first."""
        for offset in list(self._fresh):
            yield self._read(offset)

    def __iter__(self) -> Iterator[Identity]:
        """List everything that was ever graded."""
        return iter(list(self._index))

    def _enter(self, identity: Identity, key: str, status: str, offset: int) -> None:
        old = self._index.get(identity)
        before = None
        if old is not None:
            before = old.before if old.run == self.run else old.offset
        self._index[identity] = _Entry(key, status, offset, self.run, before)
        self._fresh.append(offset)

    def _scan(self) -> int:
        """Index every whole line; return where the last of them ends."""
        end = 0
        for line in self._reader:
            if not line.endswith(b"\n"):
                break
            try:
                self._apply(json.loads(line), end)
            except (ValueError, TypeError, KeyError, AttributeError):
                self.damaged += 1
            end += len(line)
        return end

    def _apply(self, data: dict[str, Any], offset: int) -> None:
        if "digests" in data:
            identity = data["student"], data["assignment"], data["notebook"]
            self._enter(identity, Digests(**data["digests"]).key, data["status"], offset)
        elif "run" in data:
            self.run, self._finished = int(data["run"]), False
        elif "finished" in data:
            self._finished = True
        elif "committed" in data:
            self._fresh.clear()

    def _read(self, offset: int) -> Record:
        self._reader.seek(offset)
        return Record.from_dict(json.loads(self._reader.readline()))

    def _write(self, data: dict[str, Any]) -> None:
        self._append_line(json.dumps(data).encode() + b"\n")

    def _append_line(self, line: bytes) -> None:
        rest = memoryview(line)
        try:
            while rest:
                rest = rest[self._file.write(rest) :]
        except OSError:
            # A full disk takes part of a line; the next line must not be joined to it.
            self._file.truncate(self._end)
            raise
        self._end += len(line)
        self._unsynced += 1
        if self._unsynced >= SYNC_EVERY:
            self.sync()
