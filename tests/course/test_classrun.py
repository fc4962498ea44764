"""Ledger, driver and gradebook together, with an engine that does what a submission says."""

import os
import random
import signal
import subprocess
import sys
import time
from multiprocessing import get_context

import pytest
from nbgrader.api import Gradebook

from autograder.course.exercises import register
from autograder.course.folders import Folders
from autograder.course.paths import CourseError
from autograder.course.release import release
from tests.course.conftest import ROOT, make_course
from tests.course.fake import fake_grader, run_fake, write_order
from tests.course.fake_engine import CELL, NAME


@pytest.fixture(scope="module")
def registered(tmp_path_factory):
    """Make a course whose gradebook knows the exercise, once; tests copy its gradebook."""
    course = make_course(tmp_path_factory.mktemp("registered") / "course")
    release(course)
    assert register(course, Folders.of(course), [NAME]) == {}
    return Folders.of(course).database.read_bytes()


@pytest.fixture
def course(registered, tmp_path):
    return with_gradebook(make_course(tmp_path / "course"), registered)


def with_gradebook(course, content):
    course.build.mkdir(exist_ok=True)
    Folders.of(course).database.write_bytes(content)
    return course


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "handed_in"


def gradebook(course):
    folders = Folders.of(course)
    return Gradebook(folders.db_url, folders.course_id)


def dump(course):
    """Read what matters of every grade and comment through nbgrader."""
    with gradebook(course) as book:
        return {
            (submission.student.id, grade.name): (
                grade.auto_score, grade.manual_score, grade.extra_credit, grade.needs_manual_grade,
            )
            for submission in book.assignment_submissions(NAME)
            for notebook in submission.notebooks
            for grade in notebook.grades
        }  # fmt: skip


def verdicts(course):
    """Count the verdicts in the ledger by student."""
    counts = {}
    for line in course.ledger.read_text().splitlines():
        if '"student"' in line:
            student = line.split('"student":"')[1].split('"')[0]
            counts[student] = counts.get(student, 0) + 1
    return counts


def test_nbgrader_reads_what_was_written(course, folder):
    write_order(folder, "ada", score=4)
    write_order(folder, "bob", score=2.5)
    write_order(folder, "eve", score=1, unreadable=True)
    run = run_fake(course, folder)
    assert run.graded == 2
    with gradebook(course) as book:
        assert {row["student"]: row["score"] for row in book.submission_dicts(NAME)} == {
            "ada": 4, "bob": 2.5,
        }  # fmt: skip
        grade = book.find_grade(CELL, NAME, NAME, "bob")
        assert (grade.auto_score, grade.max_score, grade.needs_manual_grade) == (2.5, 4, False)
        assert book.find_comment("double", NAME, NAME, "ada").comment is None
        assert not book.find_submission(NAME, "ada").needs_manual_grade


def test_an_unchanged_submission_is_not_graded_twice_and_a_changed_one_is(course, folder):
    write_order(folder, "ada", score=4)
    write_order(folder, "bob", score=2)
    run_fake(course, folder)
    assert run_fake(course, folder).graded == 0
    write_order(folder, "bob", score=3)
    again = run_fake(course, folder)
    assert again.graded == 1
    assert [change.line for change in again.changed] == [
        "bob, double: unseen 2 -> 3 (handed in again)"
    ]
    assert dump(course)["bob", CELL][0] == 3
    assert run_fake(course, folder, force=True).graded == 2
    changed = run_fake(course, folder, fake_grader(master="another"))
    assert changed.graded == 2
    assert not changed.changed, "no score changed"


def test_what_people_wrote_stays(course, folder):
    write_order(folder, "ada", score=1)
    run_fake(course, folder)
    with gradebook(course) as book:
        grade = book.find_grade(CELL, NAME, NAME, "ada")
        grade.manual_score, grade.extra_credit, grade.needs_manual_grade = 3.5, 0.5, False
        book.find_comment("double", NAME, NAME, "ada").manual_comment = "Nearly."
        book.db.commit()
    run_fake(course, folder)
    assert dump(course)["ada", CELL] == (1, 3.5, 0.5, False), "nothing new to look at"
    write_order(folder, "ada", score=2)
    run_fake(course, folder)
    assert dump(course)["ada", CELL] == (2, 3.5, 0.5, True), "a new answer, so look again"
    with gradebook(course) as book:
        assert book.find_comment("double", NAME, NAME, "ada").comment == "Nearly."


def test_a_gradebook_that_was_made_anew_is_filled_from_the_ledger(course, folder, registered):
    write_order(folder, "ada", score=4)
    run_fake(course, folder)
    before = dump(course)
    with_gradebook(course, registered)
    assert dump(course) == {}
    assert run_fake(course, folder).graded == 0
    assert dump(course) == before


def test_a_broken_hand_in_keeps_the_earlier_grade(course, folder):
    write_order(folder, "ada", score=4)
    run_fake(course, folder)
    write_order(folder, "ada", score=0, unreadable=True)
    run = run_fake(course, folder)
    assert dump(course)["ada", CELL][0] == 4
    (record,) = run.records
    assert "is broken" in record.problems[0]


def test_late_submissions_pay_what_the_plugin_says(course, folder):
    config = course.root / "nbgrader_config.py"
    config.write_text(config.read_text() + "\nc.LateSubmissionPlugin.penalty_method = 'zero'\n")
    for student, stamp in (("ada", "2026-01-30 15:00:00"), ("bob", "2026-01-30 15:00:01")):
        path = write_order(folder, student, score=4)
        path.with_name("timestamp.txt").write_text(f"{stamp} UTC")
    with gradebook(course) as book:
        book.update_or_create_assignment(NAME, duedate="2026-01-30 15:00:00")
    run_fake(course, folder)
    with gradebook(course) as book:
        penalties = {
            submission.student.id: submission.late_submission_penalty
            for submission in book.assignment_submissions(NAME)
        }
        assert penalties == {"ada": 0, "bob": 4}
        book.grant_extension(NAME, "bob", minutes=1)
    run_fake(course, folder)
    with gradebook(course) as book:
        assert book.find_submission(NAME, "bob").late_submission_penalty == 0


def test_a_worker_that_dies_costs_only_its_own_job(course, folder):
    for number in range(6):
        write_order(folder, f"s{number}", score=number % 5)
    write_order(folder, "dying", score=4, die="always")
    write_order(folder, "unlucky", score=4, die="once")
    run = run_fake(course, folder, jobs=2)
    assert run.graded == 7
    assert dump(course)["unlucky", CELL][0] == 4
    (problem,) = (one.problems[0] for one in run.records if one.student == "dying")
    assert "dying/double/double.ipynb: not graded: its grading process was killed" in problem


def test_a_full_disk_ends_the_run_and_keeps_what_was_graded(course, folder):
    for number in range(5):
        write_order(folder, f"a{number}", score=1)
    last = write_order(folder, "b", **{"score": 1, "raise": 28})
    with pytest.raises(CourseError, match=r"made up; free some space .* 5 notebook\(s\)"):
        run_fake(course, folder)
    assert len(dump(course)) == 5
    write_order(folder, "b", score=2)
    assert run_fake(course, folder).graded == 1
    assert len(dump(course)) == 6
    assert not list(last.parent.parent.parent.rglob("*.tmp"))


def test_a_locked_gradebook_and_a_second_run_are_refused_before_work_starts(course, folder):
    write_order(folder, "ada", score=4)
    with gradebook(course) as book:
        book.db.connection().exec_driver_sql("BEGIN EXCLUSIVE")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("autograder.course.database.BUSY_SECONDS", 0.2)
            with pytest.raises(CourseError, match="gradebook is locked by another program"):
                run_fake(course, folder)
    assert not course.ledger.exists()
    Folders.of(course).database.unlink()
    with pytest.raises(CourseError, match="no gradebook; run"):
        run_fake(course, folder)
    Folders.of(course).database.write_bytes(b"not a database at all, but long enough" * 9)
    with pytest.raises(CourseError, match="not a gradebook"):
        run_fake(course, folder)


def test_too_little_space_is_said_before_work_starts(course, folder, monkeypatch):
    write_order(folder, "ada", score=4)
    monkeypatch.setattr("autograder.course.preflight.SPARE", 10**18)
    with pytest.raises(CourseError, match="MB free, but this run may need"):
        run_fake(course, folder)
    assert dump(course) == {}


@pytest.fixture
def class_of_600(folder):
    for number in range(600):
        write_order(folder, f"s{number:03}", score=number % 9 / 2, sleep=0.001)
    return folder


def test_ten_kills_lose_nothing_and_duplicate_nothing(
    course, class_of_600, registered, tmp_path, monkeypatch
):
    """`kill -9` at random moments; then the gradebook is that of an undisturbed run."""
    monkeypatch.setattr("autograder.course.keeper.BATCH", 40)
    undisturbed = with_gradebook(make_course(tmp_path / "undisturbed"), registered)
    started = time.monotonic()
    run_fake(undisturbed, class_of_600)
    whole = time.monotonic() - started
    rng = random.Random(20260130)
    kills = 0
    for _ in range(10):
        process = get_context("fork").Process(target=run_fake, args=(course, class_of_600))
        process.start()
        process.join(rng.uniform(0.02, 0.25) * whole)
        kills += process.is_alive()
        process.kill()
        process.join()
    assert kills >= 8, "the runs were over too soon to be killed"
    run_fake(course, class_of_600)
    assert dump(course) == dump(undisturbed)
    assert len(dump(course)) == 600
    assert set(verdicts(course).values()) == {1}, "a verdict was lost or given twice"
    assert len(list(course.autograded.rglob("*.ipynb"))) == 600


def test_a_killed_run_leaves_no_workers_behind(course, class_of_600):
    # Not `-m`: every worker process would import that module, and nbgrader with it.
    program = "import sys; from tests.course.fake import main; main(*sys.argv[1:])"
    command = [sys.executable, "-c", program, course.root, class_of_600, "2"]
    process = subprocess.Popen(command, cwd=ROOT, start_new_session=True)
    deadline = time.monotonic() + 60
    while not course.ledger.exists() or course.ledger.stat().st_size < 20_000:
        assert time.monotonic() < deadline, "nothing was graded"
        assert process.poll() is None, "the run ended early"
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    while group_lives(process.pid):
        assert time.monotonic() < deadline, "workers outlive the run"
        time.sleep(0.05)
    subprocess.run(command, cwd=ROOT, check=True, timeout=500)
    assert len(dump(course)) == 600
    assert set(verdicts(course).values()) == {1}


def group_lives(group):
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True
