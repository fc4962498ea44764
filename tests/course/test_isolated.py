"""A class graded by the isolated engine, as the command line does it, from hand-in to appeal."""

import csv
import json
import subprocess
import sys
import time
from types import SimpleNamespace

import nbformat
import pytest
from nbgrader.api import Gradebook
from nbgrader.plugins import CsvExportPlugin

from autograder.cli import main
from autograder.course.export import GradesPlugin
from autograder.course.folders import Folders
from autograder.course.release import release
from tests.course.conftest import ROOT, hand_in, make_course

pytestmark = pytest.mark.class_run

RIGHT = "def double(x):\n    return 2 * x"
PARTLY = "def double(x):\n    return 2 * abs(x)"
# Scores nothing by itself; under stock nbgrader the value it displays is taken for partial credit.
FORGED = "import sys\ndef double(x):\n    sys.displayhook(4)\n    raise SystemExit"
SCRIPT = "def double(x):\n    return 2 * x\nprint('<script>alert(1)</script>')"


def autograder(course, *arguments):
    command = [sys.executable, "-m", "autograder", "--root", course.root, *arguments]
    return subprocess.run(
        [str(part) for part in command], capture_output=True, text=True, timeout=500, cwd=ROOT,
        check=False,
    )  # fmt: skip


@pytest.fixture
def inside(capsys):
    """Run a command in this process: nbgrader takes seconds to import."""

    def run(course, *arguments):
        code = main(["--root", str(course.root), *map(str, arguments)])
        done = capsys.readouterr()
        return SimpleNamespace(returncode=code, stdout=done.out, stderr=done.err)

    return run


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """Grade a class in which much went wrong; give course, submissions and the finished run."""
    root = tmp_path_factory.mktemp("class")
    course, folder = make_course(root / "course"), root / "handed_in"
    release(course)
    hand_in(course, folder, "ada", RIGHT)
    hand_in(course, folder, "bob", PARTLY, name="double (1).ipynb")
    hand_in(course, folder, "cyd", "def double(x)\n    return 2 * x")
    hand_in(course, folder, "dan", FORGED)
    hand_in(course, folder, "eve", RIGHT).write_text("{ broken")
    hand_in(course, folder, "fay", RIGHT).unlink()
    hand_in(course, folder, "kim", SCRIPT)
    without_ids(hand_in(course, folder, "gus", RIGHT))
    run = autograder(course, "grade", folder, "--jobs", 2)
    return course, folder, run


def without_ids(path):
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        cell.metadata.clear()
    nbformat.write(notebook, path)


def scores(course):
    rows = csv.DictReader(course.grades_csv.read_text().splitlines())
    return {row["student_id"]: float(row["score"]) for row in rows}


def test_the_class_is_graded_and_what_is_broken_is_named(graded):
    course, folder, run = graded
    assert run.returncode == 3, run.stdout + run.stderr
    assert scores(course) == {"ada": 4, "bob": 3, "cyd": 0, "dan": 0, "gus": 4, "kim": 4}
    assert run.stdout.startswith("Submissions ran isolated at tier ")
    lines = run.stdout.splitlines()
    assert "cyd  unseen 0/4" not in run.stdout, "the cell is named by the function it checks"
    assert any(line.startswith("cyd  double 0/4: SyntaxError") for line in lines)
    assert not any(line.startswith("ada  ") and "double" in line for line in lines)
    problems = run.stdout[run.stdout.index("problem(s) to look at") :]
    assert f"{folder}/eve/double/double.ipynb" in problems
    assert f"{folder}/fay/double/double.ipynb: missing" in problems
    assert f"{folder}/gus/double/double.ipynb" in run.stdout, "repaired, and said"
    assert f"{folder}/bob/double/double (1).ipynb: graded as double.ipynb." in run.stdout


def test_a_second_run_has_nothing_to_do_and_json_says_the_same(graded, inside):
    course, folder, _ = graded
    run = inside(course, "grade", folder, "--json")
    found = json.loads(run.stdout)
    assert found["graded"] == 0
    assert found["students"]["bob"]["scores"] == {"double": 3}
    assert found["students"]["eve"]["not_graded"] == {"double": "broken"}
    assert run.returncode == 3


def test_feedback_names_the_score_and_runs_no_script(graded):
    course = graded[0]
    pages = {path.parent.parent.name: path for path in course.feedback.rglob("*.html")}
    assert set(pages) == {"ada", "bob", "cyd", "dan", "gus", "kim"}
    assert "<h1>double: 3 of 4 points</h1>" in pages["bob"].read_text()
    text = pages["kim"].read_text()
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "<script" not in text
    for path in pages.values():
        assert "check_double" not in path.read_text(), "a hidden test leaked"


def test_marks_given_by_hand_reach_feedback_and_survive(graded, inside):
    course = graded[0]
    folders = Folders.of(course)
    with Gradebook(folders.db_url, folders.course_id) as book:
        book.find_grade("unseen", "double", "double", "cyd").manual_score = 1.5
        book.find_comment("double", "double", "double", "cyd").manual_comment = "A *colon*!"
        book.db.commit()
    run = inside(course, "feedback", "--student", "cyd")
    assert run.stdout.endswith("1 page(s) are new.\n")
    page = folders.page("cyd", "double", "double").read_text()
    assert "double: 1.5 of 4 points" in page
    assert "A <em>colon</em>!" in page


def test_the_csv_is_that_of_nbgraders_own_plugin(graded, tmp_path):
    folders = Folders.of(graded[0])
    with Gradebook(folders.db_url, folders.course_id) as book:
        for name, plugin in (("theirs", CsvExportPlugin), ("ours", GradesPlugin)):
            plugin(to=str(tmp_path / name)).export(book)
    assert (tmp_path / "ours").read_text() == (tmp_path / "theirs").read_text()


def test_mistakes_are_counted(graded, inside, tmp_path):
    run = inside(graded[0], "export", "--by-mistake", "--to", tmp_path / "mistakes.json")
    assert run.returncode == 0, run.stderr
    assert json.loads((tmp_path / "mistakes.json").read_text()) == []


def test_a_verdict_can_be_replayed_and_a_changed_receipt_is_noticed(graded, inside, tmp_path):
    course = graded[0]
    path = Folders.of(course).graded("bob", "double", "double")
    same = inside(course, "replay", path)
    assert same.returncode == 0, same.stderr
    assert same.stdout.endswith("same: the verdict came out as before.\n")
    notebook = json.loads(path.read_text())
    notebook["metadata"]["layers_receipt"]["checks"]["unseen"]["score"] = 4
    forged = tmp_path / "forged.ipynb"
    forged.write_text(json.dumps(notebook))
    different = inside(course, "replay", forged)
    assert different.returncode == 3
    assert "unseen: score 4 before, 3" in different.stdout


def test_a_regrade_says_what_changed_and_why(graded, inside):
    course, folder, _ = graded
    hand_in(course, folder, "ada", PARTLY)
    run = inside(course, "grade", folder, "--student", "ada")
    line = "ada, double: unseen 4 -> 3 (handed in again)"
    assert line in run.stdout
    assert inside(course, "diff").stdout == line + "\n"


def test_what_cannot_work_is_refused_before_work_starts(graded, inside, tmp_path):
    course, folder, _ = graded
    for arguments, words in {
        ("grade", folder, "--layer", "halve"): "unknown layer halve",
        ("grade", folder, "--student", "zed"): "unknown student zed",
        ("grade", folder, "--notebook", "zed"): "unknown notebook zed",
        ("grade", tmp_path / "nowhere"): "no such folder",
        ("replay", folder / "ada" / "double" / "double.ipynb"): "no receipt in it",
        ("collect", tmp_path / "nowhere"): "no such folder or archive",
        ("export", "--exporter", "os.path"): "no export plugin",
    }.items():
        run = inside(course, *arguments)
        assert (run.returncode, run.stderr.count("\n")) == (1, 1), run.stderr
        assert words in run.stderr


def test_a_real_run_goes_on_where_it_was_killed(graded, tmp_path):
    """`kill -9` while workers and their sandboxes are at work; `make soak` does it more often."""
    course = make_course(tmp_path / "course")
    release(course)
    folder = tmp_path / "handed_in"
    for number in range(30):
        hand_in(course, folder, f"s{number:02}", (RIGHT, PARTLY)[number % 2])
    command = [sys.executable, "-m", "autograder", "--root", course.root, "grade", folder,
               "--jobs", "2", "--no-feedback"]  # fmt: skip
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    while lines(course) < 10:
        assert process.poll() is None, "the run ended early"
        assert time.monotonic() < deadline, "nothing was graded"
        time.sleep(0.01)
    process.kill()
    process.wait()
    before = lines(course)
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    assert scores(course) == {f"s{number:02}": 4 - number % 2 for number in range(30)}
    assert before < lines(course) == 30, "a verdict was lost or given twice"


def lines(course):
    return course.ledger.read_text().count('"student"') if course.ledger.exists() else 0


