"""Neither the student's process nor the graded notebook shows what must stay hidden."""

import json
from pathlib import Path

import pytest

from autograder.grading.submission import Engine, Job
from tests.grading.conftest import SECRET
from tests.grading.course import CENTRE_TEST, answered, find, master_of, raw, source


def test_feedback_shows_neither_hidden_tests_expected_values_nor_what_calls_printed(master, grade):
    spy = "def centre(x):\n    print('SPY', x.tolist())\n    return x * 1.0"
    result = grade(answered(master, centre=spy))
    outputs = find(json.loads(result.autograded), "centre-test")["outputs"]
    text = json.dumps(outputs)
    here = str(Path(__file__).parents[2])
    assert not [word for word in ("SPY", "DESIRED", "5.5", here) if word in text]
    assert outputs[0]["traceback"] == ["AssertionError: Not equal to tolerance rtol=1e-07, atol=0"]


GREP = """\
import os

def _next_are(data, at, text):
    return all(data[at + i : at + i + 1] == c.encode() for i, c in enumerate(text))

def grep(head, tail):
    found = 0
    for line in open("/proc/self/maps"):
        span, access = line.split()[:2]
        if "rw" not in access or "[v" in line:
            continue
        start, stop = (int(part, 16) for part in span.split("-"))
        with open("/proc/self/mem", "rb", 0) as memory:
            memory.seek(start)
            data = memory.read(stop - start)
        at = data.find(head.encode())
        while at >= 0:
            found += _next_are(data, at + len(head), tail)
            at = data.find(head.encode(), at + 1)
    return found

planted = "SEEN-BY-ME"
def centre(x):
    try:
        found = grep("SEEN-", "BY-ME"), grep("NEVER-", "THERE"), grep("0f1e" * 12, "0f1e")
        raise KeyError(f"{found[0] > 0} {found[1:]} {os.environ.get('LAYERS_COURSE_SECRET')}")
    except OSError:
        raise KeyError("cannot look")"""


def test_hidden_tests_and_the_secret_are_nowhere_in_the_students_process():
    made = source()
    find(made, "centre-test")["source"] = CENTRE_TEST.replace(
        "### END", "text = 'NEVER-THERE'\n### END"
    )
    marked = master_of(made)
    with Engine(allow_weak=True, secret=SECRET) as engine:
        result = engine.grade_bytes(
            Job("a", "small", "small", Path("s")), raw(answered(marked, centre=GREP)), marked
        )
    reason = result.verdicts["centre-test"].reason
    if "cannot look" in reason:
        pytest.skip("this machine's walls hide a process's own memory from it")
    assert reason == "KeyError: 'True (0, 0) None'"
    assert result.verdicts["double-test"].score == 2
