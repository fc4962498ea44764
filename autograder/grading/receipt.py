"""The receipt of a verdict: all that it takes to recompute it, and what was found.

It stands in a graded notebook's metadata beside nbgrader's, whose schema allows no extra keys.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np

from autograder.grading.master import Master
from autograder.grading.score import Verdict
from autograder.grading.testcell import TestRun
from autograder.grading.wording import Repair

ENGINE_VERSION = "1"
# What must be the same when a verdict is recomputed; times and versions may differ.
_COMPARED = ("score", "max", "mistake", "forgeable", "properties")


def make_receipt(
    master: Master,
    submission: str,
    salt: str,
    sandbox: Any,
    verdicts: Mapping[str, Verdict],
    runs: Mapping[str, TestRun],
    repairs: Sequence[Repair],
) -> dict[str, Any]:
    """Write down how a submission was graded.

    Parameters
    ----------
    master : Master
    submission : str
        Digest of the file that was handed in.
    salt : str
        From which the checks derived their inputs, with the course secret, which is not told.
    sandbox : Sandbox
        Its tier and layers.
    verdicts, runs, repairs
        What grading gave.
    """
    return {
        "engine": ENGINE_VERSION,
        "assignment": master.assignment,
        "notebook": master.notebook,
        "submission": submission,
        "master": master.digest,
        "salt": salt,
        "tier": sandbox.tier.name,
        "layers": dict(sandbox.layers),
        "checks": {
            name: _check(verdict, runs.get(name)) for name, verdict in verdicts.items()
        },
        "repairs": [{"kind": r.kind, "cell": r.grade_id} for r in repairs],
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "numpy": np.__version__,
    }  # fmt: skip


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Say where two receipts of one submission disagree, a line each."""
    lines = [
        f"{what}: {old.get(what)} before, {new.get(what)} now"
        for what in ("engine", "submission", "master", "salt", "tier")
        if old.get(what) != new.get(what)
    ]
    before, now = old.get("checks", {}), new.get("checks", {})
    for name in sorted({*before, *now}):
        was, is_now = before.get(name, {}), now.get(name, {})
        lines += [
            f"{name}: {key} {was.get(key)} before, {is_now.get(key)} now"
            for key in _COMPARED
            if was.get(key) != is_now.get(key)
        ]
    return lines


def _check(verdict: Verdict, run: TestRun | None) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "score": verdict.score,
        "max": verdict.max_score,
        "forgeable": verdict.forgeable,
        "mistake": verdict.mistake,
    }
    if run is not None:
        entry["seconds"] = round(run.seconds, 4)
        entry["properties"] = [
            {"check": report.function, "name": part.name, "points": part.points,
             "earned": part.earned, "seed": report.seed}
            for report in run.reports for part in report.outcomes
        ]  # fmt: skip
    return entry
