"""Run a class with the fake engine."""

import json
from pathlib import Path
from types import SimpleNamespace

from autograder.course import stock
from autograder.course.classrun import ClassRun
from autograder.course.folders import Folders
from autograder.course.options import Options
from autograder.course.paths import Course
from autograder.course.planning import Grader
from autograder.course.survey import survey
from tests.course.fake_engine import NAME, FakeMaster, make_job, open_engine


def prepare(masters):
    return masters


def fake_grader(master="master", version="1"):
    masters = {(NAME, NAME): FakeMaster(master)}
    return Grader(version, "secret", masters, open_engine, make_job, prepare)


def write_order(folder, student, **order):
    path = folder / student / NAME / f"{NAME}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(order))
    return path


def run_fake(course, folder, grader=None, config=None, **options):
    """Grade a folder of orders with the fake engine."""
    chosen = Options(**{"jobs": 1, "feedback": False, **options})
    found = survey(folder, {NAME: [NAME]}, [NAME], chosen.students)
    config = config or stock.load_config(course.root)
    records = []
    run = ClassRun(course, Folders.of(course), config, chosen, records.append)
    done = run.run(found, grader or fake_grader())
    return SimpleNamespace(graded=done.graded, changed=done.changed, problems=done.problems,
                           records=records)  # fmt: skip


def main(root, folder, jobs):
    run_fake(Course(Path(root)), Path(folder), jobs=int(jobs))

