"""A course with planted markers, attackers who hand in, and what grading them left behind."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook

from autograder.course.folders import Folders
from autograder.course.paths import Course
from autograder.course.release import release
from tests.attacks import answers

ROOT = Path(__file__).parent.parent.parent
# Nobody but the course and one student knows these words.
HIDDEN, SOLUTION, VICTIM = "PLANTED-hidden-4b1", "PLANTED-solution-9c2", "PLANTED-victim-e37"
SECRET = "5ec4e7" * 10 + "5ec4"
# What a hidden test compares with, as a number and as the eight bytes of it.
EXPECTED = 7260419.53162847
TIERS = {"A": "", "B": "namespaces", "C": "namespaces,landlock,seccomp"}


@dataclass(frozen=True)
class Attacker:
    """One hostile student.

    Attributes
    ----------
    name : str
        Also the name of the folder.
    due : str
        The honest student who earns the same: what the answers alone are worth.
    exercise : str
    first, last : str
        Code cells of the student's own, before everything and after everything.
    forward, backward : str
        The answers.
    files : mapping of str to bytes
        Handed in beside the notebook.
    notebook : callable, optional
        Changes the notebook, or returns the bytes to hand in instead of it.
    folder : callable, optional
        Gets the folder of the submission once everything is in it.
    says : mapping of str to str
        By tier, what a line ``SAYS ...`` of the outputs must say where it is not the same at
        each (key "*"). A regular expression.
    """

    name: str
    due: str | None
    exercise: str = "layernorm"
    first: str = ""
    last: str = ""
    forward: str = answers.FORWARD
    backward: str = answers.BACKWARD
    files: Mapping[str, bytes] = field(default_factory=dict)
    notebook: Callable[[dict[str, Any]], bytes | None] | None = None
    folder: Callable[[Path], None] | None = None
    says: Mapping[str, str] = field(default_factory=dict)


def make_course(root: Path) -> Course:
    """Copy two exercises of ours, plant the markers, add an exercise with a number to guess."""
    for name in ("layernorm", "dropout"):
        text = (ROOT / "solutions" / name / f"{name}.md").read_text()
        text = text.replace("### BEGIN SOLUTION", f"### BEGIN SOLUTION\n    # {SOLUTION}")
        text = text.replace("### BEGIN HIDDEN TESTS", f"### BEGIN HIDDEN TESTS\nseen = '{HIDDEN}'")
        _write(root / "solutions" / name / f"{name}.md", text)
    _write(root / "solutions" / "guess" / "guess.md", answers.guess_source(HIDDEN, EXPECTED))
    shutil.copyfile(ROOT / "nbgrader_config.py", root / "nbgrader_config.py")
    _write(root / "_build" / "course_secret", SECRET)
    course = Course(root)
    release(course)
    return course


def hand_in(course: Course, submitted: Path, attacker: Attacker) -> None:
    """Make the attacker's submission from the released notebook."""
    release_text = (course.exercises / attacker.exercise / f"{attacker.exercise}.ipynb").read_text()
    notebook = json.loads(release_text)
    for cell in notebook["cells"]:
        name = cell["metadata"].get("nbgrader", {}).get("grade_id", "")
        if name in (f"{attacker.exercise}-forward", "guess"):
            cell["source"] = attacker.forward
        elif name == f"{attacker.exercise}-backward":
            cell["source"] = attacker.backward
    if attacker.first:
        notebook["cells"].insert(0, answers.code(attacker.first))
    if attacker.last:
        notebook["cells"].append(answers.code(attacker.last))
    raw = attacker.notebook(notebook) if attacker.notebook else None
    if raw is None:
        # An attacker may well know where the course lies.
        text = json.dumps(notebook).replace("COURSE_FOLDER", str(course.root))
        raw = text.replace("SUBMITTED_FOLDER", str(submitted)).encode()
    folder = submitted / attacker.name / attacker.exercise
    folder.mkdir(parents=True)
    for name, content in attacker.files.items():
        _write(folder / name, content)
    _write(folder / f"{attacker.exercise}.ipynb", raw)
    if attacker.folder:
        attacker.folder(folder)


@dataclass
class Graded:
    """A class after its grading.

    Attributes
    ----------
    course : Course
    submitted : pathlib.Path
    tier : str
    run : subprocess.CompletedProcess
        Of the command line.
    seconds : float
        How long it took.
    untouched : bool
        Whether what was handed in and the course itself are as they were.
    """

    course: Course
    submitted: Path
    tier: str
    run: "subprocess.CompletedProcess[str]"
    seconds: float
    untouched: bool = False

    @cached_property
    def scores(self) -> dict[tuple[str, str], float]:
        """Give the score of every student and exercise that has one."""
        folders = Folders.of(self.course)
        with Gradebook(folders.db_url, folders.course_id) as book:
            return {
                (row["student"], assignment.name): row["score"]
                for assignment in book.assignments
                for row in book.submission_dicts(assignment.name)
            }

    def says(self, student: str) -> list[str]:
        """Give what an attacker found out, as it stands in the outputs."""
        text = ""
        for path in (self.course.autograded / student).rglob("*.ipynb"):
            for cell in json.loads(path.read_text())["cells"]:
                for output in cell.get("outputs", ()):
                    text += "".join(output.get("text", ())) + "\n"
        return re.findall(r"^SAYS (.*)$", text, re.MULTILINE)


def grade_class(course: Course, submitted: Path, tier: str, *arguments: str) -> Graded:
    """Grade everything in a folder at a tier, as the command line does."""
    command = [sys.executable, "-m", "tests.attacks.runner", TIERS[tier], "--root",
               str(course.root), "grade", str(submitted), "--jobs", "2", *arguments]  # fmt: skip
    if tier == "C":
        command.append("--allow-weak-sandbox")
    began = time.monotonic()
    run = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=400, check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    return Graded(course, submitted, tier, run, time.monotonic() - began)


def _write(path: Path, content: str | bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
