"""What a class of attackers gets: what their answers are worth, and nothing else.

Every attacker is compared with an honest student who gives the same answers.
"""

import json
import os
import re
import sqlite3
import subprocess
from pathlib import Path

import nbformat
import pytest

from autograder.course.folders import Folders
from tests.attacks.classroom import EXPECTED, HIDDEN, SECRET, SOLUTION, VICTIM
from tests.attacks.conftest import ATTACKERS, HONEST
from tests.attacks.files import REFUSED, UNSAFE
from tests.attacks.processes import DAEMON
from tests.attacks.spies import CALLING, UNPROMISED
from tests.course.test_page import check

pytestmark = pytest.mark.class_run

EXERCISE = {student.name: student.exercise for student in HONEST}
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
PLACES = ("/tmp", "/var/tmp", "/dev/shm", "/run", "/", "~")


def test_there_are_enough_attackers():
    assert len({attacker.name for attacker in ATTACKERS}) == len(ATTACKERS) >= 100


def test_everybody_earns_what_the_answers_are_worth(graded, students):
    wrong = {}
    for student in students:
        due = student.due
        expected = None if due is None else graded.scores[due, EXERCISE[due]]
        got = graded.scores.get((student.name, student.exercise))
        if got != expected:
            wrong[student.name] = f"got {got}, due are {expected}"
    assert wrong == {}, graded.run.stdout[-4000:]
    honest = [graded.scores[name, EXERCISE[name]] for name in ("right", "half", "zeros", "guess")]
    assert honest == [20, 8, 0, 0]


def test_spies_find_nothing(graded, students):
    wrong = {}
    for student in students:
        expected = student.says.get(graded.tier, student.says.get("*"))
        said = graded.says(student.name)
        right = bool(said) and all(re.fullmatch(expected or "", line) for line in said)
        if expected not in (None, UNPROMISED) and not right:
            wrong[student.name] = said
    assert wrong == {}


def test_the_run_goes_on_and_names_what_is_broken(graded, students):
    assert graded.run.returncode == 3, graded.run.stderr
    assert graded.run.stderr == ""
    problems = graded.run.stdout.split("problem(s) to look at")[1]
    for attacker in REFUSED:
        named = f"{graded.submitted}/{attacker.name}/layernorm/layernorm.ipynb"
        assert (named in problems) == (attacker in students)
    assert f"{graded.submitted}/links-to-victim: a link" in problems
    assert "no text \ufffd\ufffd: its name is no text" in problems
    assert problems.count("could run in formgrader's pages") == len(UNSAFE) - 1
    assert "Traceback" not in graded.run.stdout
    # At tier C one attacker ended the sandbox; another one took over.
    assert "sandbox" not in problems


def test_no_name_moves_the_terminal_or_writes_a_line_of_its_own(graded):
    assert CONTROL.search(graded.run.stdout) is None
    assert not [line for line in graded.run.stdout.splitlines() if line.startswith("lines  20")]


def test_what_is_hidden_shows_nowhere(graded):
    course = graded.course
    shown = {"the terminal": graded.run.stdout + graded.run.stderr}
    for folder in (course.feedback, course.autograded, course.ledger.parent, course.grades_csv):
        paths = folder.rglob("*") if folder.is_dir() else [folder]
        shown |= {str(p): p.read_text("utf-8", "replace") for p in paths if p.is_file()}
    private = (HIDDEN, SOLUTION, repr(EXPECTED))
    assert len(shown) > 200
    for place, text in shown.items():
        assert SECRET not in text, place
        assert VICTIM not in text or "/victim/" in place, place
        # Formgrader shows the instructor the tests; nobody else sees these notebooks.
        if not place.startswith(str(course.autograded)):
            assert not [word for word in private if word in text], place


def test_feedback_runs_nothing_in_a_browser(graded):
    pages = list(graded.course.feedback.rglob("*.html"))
    assert len(pages) > 90
    for path in pages:
        check(path.read_text())


def test_graded_notebooks_are_valid_and_keep_nothing_forged(graded, students):
    allowed = {"nbgrader", "layers_receipt", "collapsed", "scrolled", "jupyter", "slideshow",
               "deletable", "editable"}  # fmt: skip
    for student in students:
        path = Folders.of(graded.course).graded(student.name, student.exercise, student.exercise)
        if student.due is None:
            continue
        notebook = json.loads(path.read_text())
        assert set(notebook["metadata"]) == {"kernelspec", "language_info", "layers_receipt"}
        receipt = notebook["metadata"]["layers_receipt"]
        assert receipt["tier"] == graded.tier
        assert "forged" not in receipt
        marks = [cell["metadata"].get("nbgrader", {}) for cell in notebook["cells"]]
        assert sum(mark["points"] for mark in marks if mark.get("grade")) == 20, student.name
        assert {key for c in notebook["cells"] for key in c["metadata"]} <= allowed, student.name
        if len(notebook["cells"]) < 1000:
            nbformat.validate(nbformat.from_dict(notebook))


def test_the_gradebook_is_whole(graded, students):
    database = Folders.of(graded.course).database
    with sqlite3.connect(database) as book:
        assert book.execute("pragma integrity_check").fetchall() == [("ok",)]
        known = {row[0] for row in book.execute("select id from student")}
    book.close()
    assert {s.name for s in students if s.due is not None} <= known
    assert "links-to-victim" not in known
    assert not {s.name for s in UNSAFE} & known


def test_nothing_outlives_the_class_and_nothing_else_was_touched(graded):
    assert graded.untouched
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
    assert DAEMON not in listed.stdout
    left = [path for place in PLACES for path in Path(place).expanduser().glob(f"{CALLING}*")]
    for path in left:
        path.unlink()
    assert not left or graded.tier == "C"
    assert not (Path.home() / ".ipython/profile_default/startup/00-planted.py").exists()
    assert not os.path.lexists(graded.submitted / "owned")
