"""One class, graded by stock nbgrader as the command line does it."""

import csv
import json
import stat
import subprocess
import sys

import pytest

from autograder.course.release import release
from tests.course.conftest import hand_in, make_course

pytestmark = pytest.mark.class_run

RIGHT = "def double(x):\n    return 2 * x"
PARTLY = "def double(x):\n    return 2 * abs(x)"


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """Grade a class in which much went wrong; give course, submissions and the finished run."""
    root = tmp_path_factory.mktemp("class")
    course, folder = make_course(root / "course"), root / "handed_in"
    release(course)
    hand_in(course, folder, "ada", RIGHT)
    hand_in(course, folder, "bob", PARTLY, name="double (1).ipynb")
    hand_in(course, folder, "cyd", "def double(x)\n    return 2 * x")
    hand_in(course, folder, "dan", "def double(x):\n    while True: pass")
    hand_in(course, folder, "eve", RIGHT).write_text("{ broken")
    hand_in(course, folder, "fay", RIGHT).unlink()
    hand_in(course, folder, "gus", RIGHT).parent.rename(folder / "gus" / "dubble")
    with (course.root / "nbgrader_config.py").open("a") as config:
        config.write("c.Execute.timeout = 2\n")
    before = snapshot(folder)
    run = run_grade(course, folder)
    assert snapshot(folder) == before, "grading changed the submitted folder"
    return course, folder, run


def run_grade(course, folder, *options):
    """Run the command; students' code runs in kernels of its own, outside this process."""
    command = [sys.executable, "-m", "autograder", "--root", course.root, "grade", folder,
               "--engine", "stock", "--verbose", *options]  # fmt: skip
    return subprocess.run(command, capture_output=True, text=True, timeout=500, check=False)


def snapshot(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_broken_submissions_leave_the_rest_graded_and_are_named(graded):
    course, folder, run = graded
    assert run.returncode == 3, run.stderr
    rows = csv.DictReader(course.grades_csv.read_text().splitlines())
    scores = {row["student_id"]: float(row["score"]) for row in rows}
    assert scores == {"ada": 4, "bob": 3, "cyd": 0, "dan": 0}
    for path in ("eve/double/double.ipynb: broken", "fay/double/double.ipynb: missing",
                 "gus/dubble: unknown assignment"):  # fmt: skip
        assert f"{folder}/{path}" in run.stdout
    assert f"{folder}/bob/double/double (1).ipynb: graded as double.ipynb." in run.stdout


def test_the_table_says_what_each_student_got_and_why(graded):
    lines = graded[2].stdout.splitlines()
    table = {line.split()[0]: line.split()[1:] for line in lines[2:9]}
    assert lines[0].split() == ["student", "double", "/4", "total", "/4"]
    assert table == {
        "ada": ["4", "4"], "bob": ["3", "3"], "cyd": ["0", "0"], "dan": ["0", "0"],
        "eve": ["broken", "0"], "fay": ["missing", "0"], "gus": ["-", "0"],
    }  # fmt: skip
    assert "ada  nothing lost" in lines
    assert "cyd  double 0/4: SyntaxError: expected ':' (line 1)" in lines


def test_every_graded_student_has_feedback(graded):
    course = graded[0]
    pages = {path.parent.parent.name for path in course.feedback.rglob("*.html")}
    assert pages == {"ada", "bob", "cyd", "dan"}


def test_the_secret_is_for_the_owners_eyes_only(graded):
    mode = (graded[0].build / "course_secret").stat().st_mode
    assert stat.S_IMODE(mode) == 0o600


def test_a_second_run_grades_only_what_changed(graded):
    course, folder, _ = graded
    hand_in(course, folder, "eve", PARTLY)
    run = run_grade(course, folder, "--json")
    result = json.loads(run.stdout)
    assert result["graded"] == 1
    assert result["students"]["eve"]["scores"] == {"double": 3}
    assert result["students"]["ada"]["scores"] == {"double": 4}
