"""Find the test cells of a master that only the student's own process could run.

Their verdict can be forged, so they are found from the master alone: what a submission does
must not decide where it is judged.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from autograder.grading.master import Master
from autograder.grading.plan import forgeable_by_syntax, with_dependencies
from autograder.grading.repair import Repaired
from autograder.grading.score import score_of
from autograder.grading.session import Played, Setting, play, setting_of
from autograder.sandbox import Limits, Sandbox

SALT = "the master's own solution"


def probed(master: Master, sandbox: Sandbox, limits: Limits, secret: str | None = None) -> Master:
    """Decide which test cells are forgeable: by syntax, then by the instructor's solution.

    A test cell in which that solution loses points through the proxies, but not inside the
    worker, needs the worker. Where the solution is not known, the syntax has to do.

    Parameters
    ----------
    master : Master
    sandbox : Sandbox
        In which the instructor's solution runs, in workers of its own.
    limits : Limits
    secret : str, optional
        The course secret.
    """
    found = frozenset(forgeable_by_syntax(master))
    if any(cell.solved is None for cell in master.cells):
        return replace(master, forgeable=found, probed=True)

    def tried(forgeable: frozenset[str]) -> frozenset[str]:
        return _lost(setting_of(sandbox, master, limits, secret, forgeable))

    lost = tried(found)
    if not lost:
        return replace(master, forgeable=found, probed=True)
    wider = frozenset(with_dependencies(master, dict.fromkeys(found | lost, "")))
    still = tried(wider)
    needed = frozenset(with_dependencies(master, dict.fromkeys(found | (lost - still), "")))
    problems = tuple(
        f"{master.assignment}/{master.notebook}: the instructor's own solution loses points in "
        f"the test cell {name}; look at that test."
        for name in sorted(still & lost)
    )
    return replace(master, forgeable=needed, probed=True, problems=master.problems + problems)


def _lost(setting: Setting) -> frozenset[str]:
    """Name the test cells in which the instructor's solution has less than all points."""
    runs = _play(setting).runs
    tests = [cell for cell in setting.master.cells if cell.is_test and cell.grade_id]
    return frozenset(
        cell.grade_id or "" for cell in tests
        if cell.grade_id in runs and score_of(runs[cell.grade_id], cell.points) < cell.points
    )  # fmt: skip


def _play(setting: Setting) -> Played:
    cells: list[dict[str, Any]] = [
        {"cell_type": known.kind, "metadata": {}, "source": known.solved or "", "outputs": [],
         "execution_count": None}
        for known in setting.master.cells
    ]  # fmt: skip
    repaired = Repaired({"cells": cells}, list(range(len(cells))), ())
    return play(setting, repaired, {}, SALT)
