"""A progress bar with the time left and running counts; silent where nobody looks."""

from __future__ import annotations

import sys

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)

from autograder.course.options import Silent, Watch


class Bar:
    """Shows each phase of a run on the terminal's error stream."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._progress: Progress | None = None
        self._task = TaskID(0)
        self._counts = {"done": 0, "problems": 0, "repaired": 0}

    def begin(self, phase: str, total: int) -> None:
        """Start a bar."""
        self._counts = dict.fromkeys(self._counts, 0)
        if total == 0:
            return
        self._progress = Progress(
            TextColumn("{task.description:<9}"), BarColumn(), MofNCompleteColumn(),
            TimeRemainingColumn(), TextColumn("{task.fields[counts]}"),
            console=self._console, transient=True,
        )  # fmt: skip
        self._task = self._progress.add_task(phase, total=total, counts="")
        self._progress.start()

    def step(self, *, problem: bool = False, repaired: bool = False) -> None:
        """Count one notebook."""
        self._counts["done"] += not problem
        self._counts["problems"] += problem
        self._counts["repaired"] += repaired
        if self._progress is not None:
            words = [f"{number} {name}" for name, number in self._counts.items() if number]
            self._progress.update(self._task, advance=1, counts=" · ".join(words))

    def end(self) -> None:
        """Take the bar away; the report follows."""
        if self._progress is not None:
            self._progress.stop()
        self._progress = None


def watch(*, quiet: bool) -> Watch:
    """Return a bar if the error stream is a terminal and nobody asked for quiet."""
    console = Console(stderr=True)
    return Bar(console) if sys.stderr.isatty() and not quiet else Silent()
