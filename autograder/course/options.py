"""What a run was asked to do."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Protocol


class Watch(Protocol):
    """Whoever looks on while a run goes."""

    def begin(self, phase: str, total: int) -> None:
        """Start to count a phase."""

    def step(self, *, problem: bool = False, repaired: bool = False) -> None:
        """Count one notebook."""

    def end(self) -> None:
        """End the phase."""


class Silent:
    """Nobody looks on."""

    def begin(self, phase: str, total: int) -> None:
        """Ignore it."""

    def step(self, *, problem: bool = False, repaired: bool = False) -> None:
        """Ignore it."""

    def end(self) -> None:
        """Ignore it."""


@dataclass(frozen=True)
class Options:
    """How to grade.

    Attributes
    ----------
    assignments, notebooks, students : sequence of str
        Only these; empty takes all.
    force : bool
        Grade again what has not changed.
    engine : str
        ``isolated``, or ``stock`` for nbgrader's own.
    jobs : int
        Worker processes; with 1 this process grades.
    require_tier : str or None
        Refuse to run in a weaker isolation than ``A``, ``B`` or ``C``.
    allow_weak : bool
        Run below tier B all the same.
    feedback : bool
        Write the feedback pages of what was graded.
    executor : concurrent.futures.Executor, optional
        Run there instead of in processes of this machine. Its workers must see the same files.
    watch : Watch
        Is told of the progress.
    """

    assignments: Sequence[str] = ()
    notebooks: Sequence[str] = ()
    students: Sequence[str] = ()
    force: bool = False
    engine: str = "isolated"
    jobs: int = field(default_factory=lambda: os.cpu_count() or 1)
    require_tier: str | None = None
    allow_weak: bool = False
    feedback: bool = True
    executor: Executor | None = None
    watch: Watch = field(default_factory=Silent)
