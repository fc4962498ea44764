"""Open nbgrader's gradebook for one writer and many readers, or say why it cannot be written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import sqlalchemy as sa
from sqlalchemy.exc import DatabaseError, OperationalError

from autograder.course.folders import Folders
from autograder.course.paths import CourseError

# formgrader writes in short transactions; whoever holds the gradebook longer has stopped.
BUSY_SECONDS = 30.0


@contextmanager
def writable(folders: Folders) -> Iterator[sa.Engine]:
    """Open the gradebook in write-ahead mode, so that formgrader can read during a run.

    Parameters
    ----------
    folders : Folders
        Names the gradebook.

    Raises
    ------
    CourseError
        It does not exist, is no gradebook, is locked, or cannot be written.
    """
    if folders.database is not None and not folders.database.exists():
        raise CourseError(
            f"{folders.database}: no gradebook; "
            "run `nbgrader generate_assignment NAME` first, or `make release` in our own course."
        )
    engine = _engine(folders)
    try:
        with explained(folders):
            _prove_writable(engine)
        yield engine
        _fold_journal(engine)
    finally:
        engine.dispose()


@contextmanager
def explained(folders: Folders) -> Iterator[None]:
    """Turn what a database reports into what an instructor can do about it."""
    place = folders.database or folders.course_id
    try:
        yield
    except OperationalError as error:
        text = str(error.orig)
        if "locked" in text or "busy" in text:
            raise CourseError(
                f"{place}: the gradebook is locked by another program; "
                "close formgrader or the nbgrader command that holds it, and run this again."
            ) from None
        if "full" in text:
            raise CourseError(
                f"{place}: the disk is full; free some space and run this again. "
                "What was graded is in the ledger and is not graded twice."
            ) from None
        raise CourseError(f"{place}: the gradebook cannot be used ({text}).") from None
    except DatabaseError as error:
        raise CourseError(
            f"{place}: this is not a gradebook of nbgrader ({error.orig}); "
            "move it away, or restore it from a copy."
        ) from None


def _engine(folders: Folders) -> sa.Engine:
    if folders.database is None:
        return sa.create_engine(folders.db_url)
    engine = sa.create_engine(folders.db_url, connect_args={"timeout": BUSY_SECONDS})

    @sa.event.listens_for(engine, "connect")
    def _prepare(connection: object, _: object) -> None:
        cursor = connection.cursor()  # type: ignore[attr-defined]
        # The ledger is synced before each commit, so a power cut loses no verdict.
        cursor.execute("PRAGMA synchronous = NORMAL")
        cursor.close()

    return engine


def _prove_writable(engine: sa.Engine) -> None:
    if engine.dialect.name != "sqlite":
        with engine.connect() as connection:
            connection.execute(sa.text("SELECT 1 FROM assignment WHERE 1 = 0"))
        return
    with engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA journal_mode = WAL")
        connection.rollback()
        connection.exec_driver_sql("BEGIN IMMEDIATE")
        connection.exec_driver_sql("SELECT 1 FROM assignment WHERE 1 = 0")
        connection.rollback()


def _fold_journal(engine: sa.Engine) -> None:
    """Leave one file, so that copying ``gradebook.db`` copies all of it."""
    if engine.dialect.name == "sqlite":
        with engine.connect() as connection:
            connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
