"""Modules that lie beside an exercise: released with it, and the course's own when it is graded."""

import json
import subprocess
import sys

import pytest

from autograder.cli import main
from autograder.course.exercises import notebooks_of
from autograder.course.folders import Folders
from autograder.course.isolated import load_masters
from autograder.course.paths import CourseError
from autograder.course.release import release
from autograder.course.stock import load_config
from tests.course.conftest import ROOT, hand_in

MODULE = '"""Helps with doubling."""\n\nFACTOR = 2\n'
FORGED = "FACTOR = 3\n"
IMPORTS = "from doubling import FACTOR\n\ndef double(x):\n    return {} * x\n"


@pytest.fixture
def helped(course):
    """Give the course with a module beside its exercise."""
    (course.solutions / "double" / "doubling.py").write_text(MODULE)
    return course


def test_a_release_puts_the_module_beside_the_notebook(helped):
    release(helped)
    for folder in (helped.exercises, helped.source):
        assert (folder / "double" / "doubling.py").read_text() == MODULE
    assert main(["--root", str(helped.root), "release", "--check"]) == 0


@pytest.mark.parametrize("damage", ["edited", "missing", "orphan"])
def test_check_names_the_module_that_differs(helped, capsys, damage):
    release(helped)
    path = helped.exercises / "double" / "doubling.py"
    if damage == "edited":
        path.write_text(FORGED)
    elif damage == "missing":
        path.unlink()
    else:
        path = path.with_name("halving.py")
        path.write_text(MODULE)
    assert main(["--root", str(helped.root), "release", "--check"]) == 1
    assert str(path) in capsys.readouterr().out


@pytest.mark.parametrize("line", ["    twice_as_much = np.asarray(x) * 2\n", "# see autograder\n"])
def test_a_module_that_gives_something_away_is_not_released(helped, line):
    path = helped.solutions / "double" / "doubling.py"
    path.write_text(MODULE + "\ndef halve(x):\n" + line)
    with pytest.raises(CourseError, match="students would receive") as error:
        release(helped)
    assert str(path) in str(error.value)
    assert not helped.exercises.exists()


def test_the_module_is_part_of_what_is_graded_against(helped):
    folders, config = Folders.of(helped), load_config(helped.root)

    def digest():
        masters = load_masters(folders, config, notebooks_of(helped, folders))
        return masters["double", "double"].digest, dict(masters["double", "double"].files)

    first, files = digest()
    assert files == {"doubling.py": MODULE.encode()}
    compiled = folders.source / "double" / "__pycache__" / "doubling.cpython.pyc"
    compiled.parent.mkdir()
    compiled.write_bytes(b"0")
    assert digest() == (first, files)
    (helped.solutions / "double" / "doubling.py").write_text(FORGED)
    assert digest()[0] != first
    (helped.solutions / "double" / "doubling.py").unlink()
    assert digest()[1] == {}


@pytest.mark.class_run
@pytest.mark.parametrize("engine", ["isolated", "stock"])
def test_the_courses_module_wins_over_a_students_copy(helped, tmp_path, engine):
    """Three hand in without the module, with a changed one, and with one more of their own."""
    release(helped)
    folder = tmp_path / "handed_in"
    hand_in(helped, folder, "ada", IMPORTS.format("FACTOR"))
    hand_in(helped, folder, "bob", IMPORTS.format("(5 - FACTOR)"))
    (folder / "bob" / "double" / "doubling.py").write_text(FORGED)
    hand_in(helped, folder, "cyd", "from mine import TWO\n\ndef double(x):\n    return TWO * x\n")
    (folder / "cyd" / "double" / "mine.py").write_text("TWO = 2\n")
    command = [sys.executable, "-m", "autograder", "--root", helped.root, "grade", folder,
               "--engine", engine, "--json"]  # fmt: skip
    run = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, timeout=300, cwd=ROOT, check=False
    )
    students = json.loads(run.stdout)["students"]
    scores = {name: student["scores"]["double"] for name, student in students.items()}
    assert scores == {"ada": 4, "bob": 0, "cyd": 4}, run.stdout + run.stderr
    for name in ("ada", "bob", "cyd"):
        beside = helped.autograded / name / "double" / "doubling.py"
        assert beside.read_text() == MODULE, name
