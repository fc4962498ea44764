"""Run one repaired notebook: the student's cells in a worker, the test cells of the master here."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from autograder.grading.guard import course_folder, undisturbed
from autograder.grading.master import Master, MasterCell
from autograder.grading.namespace import Namespace
from autograder.grading.plan import Plan, bound_by, plan_of
from autograder.grading.player import Player
from autograder.grading.repair import Repaired
from autograder.grading.testcell import TestRun, error_output, run_test_cell
from autograder.sandbox import Limits, Sandbox
from autograder.sandbox.session import CellResult

_NUMPY_NUMBER = re.compile(r"^np\.u?(?:float|int)\d+\((.*)\)$")
# All cells of one notebook together, in characters: pictures take most of it.
MAX_OUTPUT = 16 * 2**20
MAX_LINES = 1000
MAX_TRACEBACK = 100


class SandboxLost(RuntimeError):  # noqa: N818 - states what happened
    """No worker could be had: the sandbox is at fault, and the submission has no grade."""


@dataclass
class Played:
    """What running a notebook gave.

    Attributes
    ----------
    runs : dict of str to TestRun
        By the name of the test cell.
    answer_errors : dict of str to str
        For a name that students bind, the error of the answer cell that should have bound it.
    workers : int
        Processes that it took.
    problems : list of str
        Why the earlier ones ended, and what could not be given to them.
    seconds : dict of str to float
        Time spent on the student's cells and on the test cells.
    """

    runs: dict[str, TestRun] = field(default_factory=dict)
    answer_errors: dict[str, str] = field(default_factory=dict)
    workers: int = 0
    problems: list[str] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=lambda: {"cells": 0.0, "tests": 0.0})


@dataclass(frozen=True)
class Setting:
    """What runs of one master have in common.

    Attributes
    ----------
    sandbox : Sandbox
        Where students' code runs.
    master : Master
    plan : Plan
        Whose each name is.
    forgeable : frozenset of str
        Test cells that run in the worker.
    limits : Limits
    secret : str or None
        The course secret; None leaves the environment's.
    """

    sandbox: Sandbox
    master: Master
    plan: Plan
    forgeable: frozenset[str]
    limits: Limits
    secret: str | None = None


def setting_of(
    sandbox: Sandbox,
    master: Master,
    limits: Limits,
    secret: str | None = None,
    forgeable: frozenset[str] | None = None,
) -> Setting:
    """Prepare to run submissions of a master; `forgeable` overrides the master's own list."""
    chosen = master.forgeable if forgeable is None else forgeable
    return Setting(sandbox, master, plan_of(master, chosen), chosen, limits, secret)


def play(setting: Setting, repaired: Repaired, files: Mapping[str, bytes], salt: str) -> Played:
    """Run every code cell of a repaired notebook in order; write its outputs into it.

    Parameters
    ----------
    setting : Setting
    repaired : Repaired
        Its notebook is changed: outputs and execution counts.
    files : mapping of str to bytes
        What the student's code finds in its folder; the master's files come on top.
    salt : str
        From which checks and global random states derive their seeds.

    Raises
    ------
    SandboxLost
        The sandbox has ended; start another.
    """
    played = Played()
    seed = int.from_bytes(hashlib.sha256(salt.encode()).digest()[:8], "big")
    with (
        undisturbed(seed, setting.secret),
        course_folder(setting.master.files),
        Player(setting.sandbox, {**files, **setting.master.files}, setting.limits) as player,
    ):
        _Run(setting, player, played, salt).cells(repaired)
        if player.lost is not None:
            raise SandboxLost(player.lost)
        ended = [f"the student's process ended: {why}" for why in player.deaths]
        played.workers, played.problems = (
            player.started,
            list(dict.fromkeys([*ended, *player.problems])),
        )
    return played


class _Run:
    """The walk over the cells of one notebook."""

    def __init__(self, setting: Setting, player: Player, played: Played, salt: str) -> None:
        self.setting, self.player, self.played, self.salt = setting, player, played, salt
        self.namespace = Namespace(setting.plan, player.lookup)
        self.number = 0
        self.room = MAX_OUTPUT

    def cells(self, repaired: Repaired) -> None:
        for cell, origin in zip(repaired.notebook["cells"], repaired.origins):
            if cell["cell_type"] != "code" or not cell["source"].strip():
                continue
            self.number += 1
            cell["execution_count"] = self.number
            known = None if origin is None else self.setting.master.cells[origin]
            began = time.perf_counter()
            if known is not None and known.is_test:
                cell["outputs"] = limited(self.test(known, origin or 0))
                part = "tests"
            else:
                cell["outputs"] = limited(self.student(cell["source"], known))
                part = "cells"
            self.played.seconds[part] += time.perf_counter() - began

    def test(self, known: MasterCell, place: int) -> list[dict[str, Any]]:
        name = known.grade_id or ""
        if name in self.setting.forgeable:
            run = _as_run(self.player.run_once(known.source))
            self._renumber(run.outputs)
        else:
            self.namespace.enter(place)
            seconds = self.setting.limits.cell_seconds
            run = run_test_cell(known.source, self.namespace, self.salt, self.number, seconds)
        self.played.runs[name] = run
        return run.outputs

    def student(self, source: str, known: MasterCell | None) -> list[dict[str, Any]]:
        result = self.player.run_cell(source)
        outputs = result.outputs
        if result.stopped is not None:
            outputs = _without_errors(outputs) + [error_output("CellTimeoutError", result.stopped)]
        if known is not None and known.solution:
            error = _first_error(outputs)
            self.played.answer_errors |= dict.fromkeys(bound_by(known), error) if error else {}
        self._renumber(outputs)
        return self._within_room(outputs)

    def _within_room(self, outputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Leave outputs out, errors aside, once the notebook has shown enough."""
        self.room -= sum(map(_size, outputs))
        if self.room >= 0 or not outputs:
            return outputs
        note = f"... outputs beyond {MAX_OUTPUT // 2**20} MB are left out ...\n"
        errors = [output for output in outputs if output["output_type"] == "error"]
        return [{"output_type": "stream", "name": "stdout", "text": note}, *errors]

    def _renumber(self, outputs: list[dict[str, Any]]) -> None:
        """Count as one kernel would, though the cells ran in several processes."""
        for output in outputs:
            if output["output_type"] == "execute_result":
                output["execution_count"] = self.number


def limited(outputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Cut long texts and tracebacks as nbgrader's LimitOutput does."""
    left, kept = MAX_LINES, []
    for output in outputs:
        if output["output_type"] == "stream":
            if left <= 0:
                continue
            lines = output["text"].split("\n")
            if len(lines) > left:
                lines = [*lines[: left - 1], "... Output truncated ..."]
            left -= len(lines)
            output = {**output, "text": "\n".join(lines)}
        elif output["output_type"] == "error" and len(output["traceback"]) > MAX_TRACEBACK:
            half, lines = MAX_TRACEBACK // 2, output["traceback"]
            cut = [*lines[:half], "... Traceback truncated ...", *lines[-half + 1 :]]
            output = {**output, "traceback": cut}
        kept.append(output)
    return kept


def _as_run(result: CellResult) -> TestRun:
    """Read a verdict from the outputs of a cell, as nbgrader does: the student could forge them."""
    error = _first_error(result.outputs) or result.stopped
    run = TestRun(result.ok and not error, outputs=result.outputs, error=error or None)
    for output in result.outputs:
        if output["output_type"] == "execute_result":
            run.value = _number(output["data"].get("text/plain", ""))
    return run


def _number(text: str) -> float | None:
    """Read partial credit from what a cell shows, also from "np.float64(0.5)"."""
    shown = _NUMPY_NUMBER.match(text)
    try:
        return float(shown[1] if shown else text)
    except (TypeError, ValueError):
        return None


def _size(output: dict[str, Any]) -> int:
    parts = [output.get("text", ""), output.get("evalue", ""), *output.get("traceback", ())]
    return sum(map(len, parts)) + sum(len(str(value)) for value in output.get("data", {}).values())


def _without_errors(outputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [output for output in outputs if output["output_type"] != "error"]


def _first_error(outputs: list[dict[str, Any]]) -> str:
    for output in outputs:
        if output["output_type"] == "error":
            first = output["evalue"].strip().splitlines()[:1]
            return ": ".join([output["ename"], *first])
    return ""
