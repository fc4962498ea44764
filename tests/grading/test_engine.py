"""One submission through the engine: what dies costs only its own call, and nothing leaks."""

import json
import os
import pickle
import random
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.grading.replay import receipt_in, replay
from autograder.grading.submission import Engine, Job, Result
from tests.grading.conftest import LIMITS, SECRET
from tests.grading.course import answered, cell, find, master_of, place, raw, source

FRAGILE = """\
import os, time
def centre(x):
    if x.shape == (3, 4):
        {what}
    return x - x.mean()"""
PATIENT = """\
x = np.ones((3, 4))
for _ in range(50):
    try:
        centre(x)
    except Exception:
        pass
assert False, "late"
"""


@pytest.mark.parametrize(
    "what", ["os._exit(1)", "os.abort()", "time.sleep(60)", "print('x' * 10**7)"]
)
def test_a_call_that_takes_the_process_along_costs_itself_only(what, master, grade):
    result = grade(answered(master, centre=FRAGILE.format(what=what)))
    assert result.verdicts["double-test"].score == 2
    assert result.verdicts["centre-test"].score == (3 if "print" in what else 0)


def test_cells_run_again_in_a_new_process_but_not_the_one_that_ended_it(master, grade):
    made = answered(master)
    at = place(made, "centre")
    made["cells"].insert(at, cell("code", "runs = 1"))
    made["cells"].insert(at + 1, cell("code", "import os\nruns = 2\nos._exit(3)"))
    made["cells"].insert(at + 2, cell("code", "print('runs is', runs)"))
    result = grade(made)
    assert result.score == 5
    assert "runs is 1" in result.autograded
    assert any("exit status 3" in problem for problem in result.problems)


def test_a_function_that_hangs_is_not_called_for_ever(master, engine):
    made = source()
    find(made, "centre-test")["source"] = PATIENT
    slow = master_of(made)
    result = engine.grade_bytes(
        Job("a", "small", "small", Path("s")),
        raw(answered(slow, FRAGILE.format(what="while True: pass"))),
        slow,
    )
    assert result.verdicts["centre-test"].reason == "AssertionError: late"
    assert result.verdicts["double-test"].score == 2
    assert result.seconds["total"] < 15


def test_the_time_of_a_submission_is_bounded(master):
    from dataclasses import replace

    made = answered(master)
    for _ in range(4):
        made["cells"].insert(2, cell("code", "while True: pass"))
    limits = replace(LIMITS, cell_seconds=1, submission_seconds=3)
    with Engine(allow_weak=True, limits=limits) as engine:
        result = engine.grade_bytes(Job("a", "small", "small", Path("s")), raw(made), master)
    assert result.status == "graded"
    assert result.seconds["total"] < 8
    assert "of the submission are over" in result.verdicts["centre-test"].reason


def test_a_verdict_can_be_recomputed_and_a_changed_one_is_noticed(master, engine, grade):
    made = raw(answered(master, centre="def centre(x):\n    return x * 1.0"))
    first, second = grade(made), grade(made)
    assert {**first.receipt, "checks": 0, "started": 0} == {
        **second.receipt, "checks": 0, "started": 0
    }  # fmt: skip
    receipt = receipt_in(first.autograded.encode())
    assert replay(receipt, made, master, engine).same
    receipt["checks"]["centre-test"]["score"] = 3.0
    again = replay(receipt, made, master, engine)
    assert not again.same
    assert again.differences == ("centre-test: score 3.0 before, 0.0 now",)
    other = replay(receipt_in(first.autograded.encode()), made + b" ", master, engine)
    assert any(line.startswith("submission:") for line in other.differences)


def test_the_receipt_tells_tier_digests_and_versions_but_not_the_secret(master, engine, grade):
    receipt = json.loads(grade(answered(master)).autograded)["metadata"]["layers_receipt"]
    assert receipt["tier"] == engine.sandbox.tier.name
    assert receipt["master"] == master.digest
    assert receipt["numpy"] == np.__version__
    assert receipt["checks"]["centre-test"]["score"] == 3
    assert SECRET not in json.dumps(receipt)


def test_result_master_and_job_travel_between_processes(master, grade):
    made = answered(master, centre=None)
    made["cells"][0]["metadata"]["tags"] = ["x"]
    result = grade(made)
    assert Result.from_json(result.to_json()) == result
    assert pickle.loads(pickle.dumps(result)) == result
    assert pickle.loads(pickle.dumps(master)).digest == master.digest
    assert pickle.loads(pickle.dumps(Job("a", "b", "c", Path("d")))).student == "a"


def test_a_submission_leaves_nothing_behind_in_the_grader(engine):
    made = source()
    find(made, "centre-test")["source"] += (
        "\nimport os, random, warnings\nnp.random.seed(1); random.seed(1)\nleft = 1\n"
        "np.seterr(all='raise'); warnings.simplefilter('error'); os.environ['LEFT'] = '1'\n"
        "np.set_printoptions(precision=2); np.testing.assert_allclose = None; os.chdir('/')"
    )
    find(made, "double-test")["source"] += "\nassert np.random.rand() >= 0"
    leaving = engine.prepare(master_of(made))
    before = _state()
    results = [
        engine.grade_bytes(Job("a", "small", "small", Path("s")), raw(answered(leaving)), leaving)
        for _ in range(2)
    ]
    assert [result.score for result in results] == [5, 5]
    assert _state() == before
    after = master_of({**source(), "cells": [*source()["cells"], cell(
        "code", "assert left == 1", "left-test", grade=True, locked=True, points=1)]})  # fmt: skip
    result = engine.grade_bytes(Job("a", "small", "small", Path("s")), raw(answered(after)), after)
    assert result.verdicts["left-test"].score == 0


def _state():
    words = np.random.get_state()[1].tobytes()  # noqa: NPY002 - others may rely on it
    return (
        random.getstate(), words, np.geterr(), list(warnings.filters),
        dict(os.environ), Path.cwd(), np.get_printoptions()["precision"], dict(vars(np.testing)),
    )  # fmt: skip


def test_pictures_and_prints_of_many_cells_stay_within_bounds(master, grade, monkeypatch):
    monkeypatch.setattr("autograder.grading.session.MAX_OUTPUT", 100_000)
    made = answered(master)
    made["cells"][1:1] = [cell("code", "print('y' * 30_000)\n1 / 0") for _ in range(12)]
    result = grade(made)
    assert result.score == 5
    assert len(result.autograded) < 150_000
    assert result.autograded.count('"ename": "ZeroDivisionError"') == 12


@settings(max_examples=25)
@given(data=st.data())
def test_damaged_files_never_stop_the_run(data, master, engine):
    good = raw(answered(master))
    start = data.draw(st.integers(0, len(good)))
    length = data.draw(st.integers(0, 60))
    damaged = good[:start] + data.draw(st.binary(max_size=20)) + good[start + length :]
    result = engine.grade_bytes(Job("a", "small", "small", Path("s")), damaged, master)
    assert result.status in ("graded", "unreadable")
    assert not any("the grader itself failed" in problem for problem in result.problems)
    assert result.score <= 5


def test_files_reach_the_students_code_and_the_courses_own_win(tmp_path, engine):
    read = "def centre(x):\n    return x - float(open('mean.txt').read())"
    course = master_of(source(), files={"mean.txt": b"5.5"})
    (tmp_path / "small (1).ipynb").write_bytes(raw(answered(course, centre=read)))
    (tmp_path / "mean.txt").write_text("7")
    (tmp_path / "link.txt").symlink_to("/etc/passwd")
    files = (tmp_path / "mean.txt", tmp_path / "link.txt")
    job = Job("a", "small", "small", tmp_path / "small (1).ipynb", files)
    result = engine.grade(job, course)
    assert result.score == 5
    assert [problem.split(":")[0] for problem in result.problems] == ["link.txt"]


def test_modules_beside_the_notebook_are_imported_and_the_courses_own_win(master, grade):
    centre = "from mean import MEAN\nfrom own import ONE\ndef centre(x): return (x - MEAN) * ONE"
    course = master_of(source(), files={"mean.py": b"MEAN = 5.5\n"})
    files = {"mean.py": b"MEAN = 7\n", "own.py": b"ONE = 1\n"}
    assert grade(answered(course, centre=centre), course, files=files).score == 5


def test_a_lost_sandbox_is_replaced_and_nobody_loses_points(master):
    with Engine(allow_weak=True, limits=LIMITS) as engine:
        made = raw(answered(master))
        job = Job("a", "small", "small", Path("s"))
        assert engine.grade_bytes(job, made, master).score == 5
        engine.sandbox.close()
        assert engine.grade_bytes(job, made, master).score == 5
