"""Grade a class with the isolated engine: plan, drive, keep, write feedback.

What grades is handed in as a `Grader`; nothing here knows the sandbox.
"""

from __future__ import annotations

import pickle
import secrets
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from traitlets.config import Config

from autograder.course.changes import Change, changes
from autograder.course.database import writable
from autograder.course.driver import Driver, NoWorkersError
from autograder.course.feedback import delimiters, page_tasks
from autograder.course.folders import Folders
from autograder.course.keeper import Keeper
from autograder.course.late import penalty_plugin
from autograder.course.ledger import Ledger
from autograder.course.options import Options, Watch
from autograder.course.paths import Course, CourseError
from autograder.course.planning import Grader, Plan, missing_records
from autograder.course.pool import open_driver, run_job
from autograder.course.preflight import disk_full, only_run, require_space
from autograder.course.record import GRADED, Identity, Record
from autograder.course.survey import Survey
from autograder.course.worker import Setup, failure

Work = Driver[Any, Any]


@dataclass
class Run:
    """What a run did, for the report.

    Attributes
    ----------
    graded, resumed, pages : int
        Notebooks graded now, verdicts taken over from a run that was cut short, pages written.
    changed : list of Change
        Where this run gave another score than the one before.
    problems : list of str
        One line each.
    """

    graded: int = 0
    resumed: int = 0
    pages: int = 0
    changed: list[Change] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class ClassRun:
    """One class and how to grade it; `run` does.

    Parameters
    ----------
    course : Course
        Its ``_build/grading`` holds ledger and lock.
    folders : Folders
        Where nbgrader keeps things.
    config : traitlets.config.Config
        The course's: delimiters, penalties.
    options : Options
        What was asked for.
    see : callable
        Is told the verdict on everything in question, of now or of an earlier run, one by one:
        all of a large class would fill the memory.
    """

    course: Course
    folders: Folders
    config: Config
    options: Options
    see: Callable[[Record], None] = lambda record: None

    def run(self, found: Survey, grader: Grader) -> Run:
        """Grade what was found and has changed; bring gradebook and feedback up to date.

        Raises
        ------
        CourseError
            Something must be put right before the run or, if the disk fills up, during it. What
            was graded until then is kept.
        """
        with (
            only_run(self.course.ledger.parent),
            writable(self.folders) as engine,
            Ledger(self.course.ledger) as ledger,
        ):
            keeper = Keeper(ledger, engine, self.folders, penalty_plugin(self.config))
            run = Run(resumed=keeper.resume())
            plan = Plan(found, ledger, self.folders, grader, self.options.force)
            require_space(self.folders.autograded, plan.sizes())
            ledger.begin()
            with self._workers(grader, plan) as driver:
                self._grade(driver, plan, keeper, run)
                self._settle(found, plan, keeper, grader)
                if self.options.feedback:
                    stale = self._without_page(plan)
                    run.pages = self.write_pages(driver, engine, keeper, stale, run.problems)
            self._report(run, plan, keeper)
            return run

    def write_pages(
        self,
        driver: Work,
        engine: sa.Engine,
        keeper: Keeper,
        identities: Iterable[Identity],
        problems: list[str],
    ) -> int:
        """Write the feedback of the given submissions; return how many pages are new."""
        wanted = sorted(identities, key=lambda identity: identity[1])
        hidden, written = delimiters(self.config), 0
        with _watched(self.options.watch, "feedback", len(wanted)) as watch:
            for assignment, group in groupby(wanted, key=lambda identity: identity[1]):
                jobs = page_tasks(engine, keeper.ids(assignment), self.folders, group, hidden)
                for outcome in driver.run(jobs):
                    written += bool(outcome.result)
                    watch.step(problem=outcome.error is not None)
                    if outcome.error is not None:
                        problems.append(f"{outcome.job}: no feedback written: {outcome.error}.")
        return written

    def _grade(self, driver: Work, plan: Plan, keeper: Keeper, run: Run) -> None:
        try:
            with _watched(self.options.watch, "grading", len(plan.todo)) as watch:
                for outcome in driver.run(plan.tasks()):
                    record = outcome.result or failure(outcome.job, str(outcome.error))
                    keeper.keep(record)
                    run.graded += record.status == GRADED
                    watch.step(problem=record.status != GRADED, repaired=bool(record.repairs))
        except OSError as error:
            raise disk_full(error, run.graded) from error
        except NoWorkersError as error:
            raise CourseError(f"{error}; nothing more can be graded. Try --jobs 1.") from error
        finally:
            # Ctrl-C and a full disk end here too: what is known is not lost.
            keeper.flush()

    def _settle(self, found: Survey, plan: Plan, keeper: Keeper, grader: Grader) -> None:
        for record in missing_records(found, keeper.ledger, grader):
            keeper.keep(record)
        keeper.flush()
        keeper.settle(plan.known())
        keeper.ledger.finish()

    def _without_page(self, plan: Plan) -> list[Identity]:
        due = plan.due()
        return [
            identity for identity in plan.identities()
            if identity in due or not self.folders.page(*identity).exists()
        ]  # fmt: skip

    @contextmanager
    def _workers(self, grader: Grader, plan: Plan) -> Iterator[Work]:
        """Give workers that find their masters in a file; none starts before it is needed."""
        with tempfile.TemporaryDirectory(dir=self.course.ledger.parent) as folder:
            masters = Path(folder) / "masters.pickle"
            if plan.todo:
                masters.write_bytes(pickle.dumps(dict(grader.prepare(grader.masters))))
            name = secrets.token_hex(8)
            setup = Setup(name, grader.open_engine, masters, grader.make_job)
            with open_driver(self.options, partial(run_job, setup), len(plan.todo)) as driver:
                yield driver

    def _report(self, run: Run, plan: Plan, keeper: Keeper) -> None:
        ledger = keeper.ledger
        for identity in plan.identities():
            record = ledger.latest(identity)
            if record is not None:
                self.see(record)
        run.changed = list(changes(ledger))
        run.problems += keeper.problems + plan.problems
        if ledger.damaged:
            run.problems.append(
                f"{ledger.path}: {ledger.damaged} damaged line(s) were ignored; "
                "the notebooks that they were about are graded again."
            )


@contextmanager
def _watched(watch: Watch, phase: str, total: int) -> Iterator[Watch]:
    watch.begin(phase, total)
    try:
        yield watch
    finally:
        watch.end()
