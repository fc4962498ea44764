"""One class of attackers and a few honest students, graded once at each tier."""

import hashlib
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from autograder.course.paths import Course
from autograder.sandbox import Sandbox, SandboxRefused
from tests.attacks import answers, files, objects, processes, spies, verdicts
from tests.attacks.classroom import TIERS, VICTIM, Attacker, grade_class, hand_in, make_course

FROZEN = answers.DROPOUT.replace("rng.random", "np.random.default_rng(0).random")
HONEST = [
    Attacker("right", "right"),
    Attacker("half", "half", backward=answers.ZEROS_BACK),
    Attacker("zeros", "zeros", forward=answers.ZEROS, backward=answers.ZEROS_BACK),
    Attacker("dropout", "dropout", "dropout", forward=answers.DROPOUT,
             backward=answers.DROPOUT_BACK),
    Attacker("dropout-frozen", "dropout-frozen", "dropout", forward=FROZEN,
             backward=answers.DROPOUT_BACK),
    Attacker("nothing", "nothing", "dropout", forward="", backward=""),
    Attacker("guess", "guess", "guess", forward=answers.GUESS),
    Attacker("victim", "right", first=f"# {VICTIM}\nmine = '{VICTIM}'\nprint(mine)"),
]  # fmt: skip
ATTACKERS = [*verdicts.ATTACKERS, *objects.ATTACKERS, *processes.ATTACKERS, *spies.ATTACKERS,
             *files.ATTACKERS]  # fmt: skip
# They take seconds and meet deadlines, not walls: once is enough.
SLOW = ("sleeps-after-the-tests", "swallows-interrupts", "cannot-be-interrupted", "slow-import",
        "slow-to-show-its-class", "shell-that-waits", "many-cells", "very-long-line",
        "of-100-megabytes")  # fmt: skip


@dataclass
class Classroom:
    """A course and what was handed in: by everybody, and by all but the slow ones."""

    course: Course
    everybody: Path
    quick: Path

    def state(self):
        """Digest everything of the course that grading has no business to change."""
        root = self.course.root
        paths = [root / "nbgrader_config.py", root / "_build" / "course_secret"]
        for folder in (self.course.solutions, self.course.exercises, self.everybody, self.quick):
            paths += sorted(p for p in folder.rglob("*") if p.is_file() and not p.is_symlink())
        return {p: hashlib.sha256(p.read_bytes()).hexdigest() for p in paths
                if p.stat().st_size < 2**30}  # fmt: skip


@pytest.fixture(scope="session")
def classroom():
    """Make the course readable by everybody on this machine, so that only walls protect it."""
    root = Path(tempfile.mkdtemp(prefix="layers-attacks-"))
    room = Classroom(make_course(root / "course"), root / "everybody", root / "quick")
    for student in (*HONEST, *ATTACKERS):
        hand_in(room.course, room.everybody, student)
        if student.name not in SLOW:
            hand_in(room.course, room.quick, student)
    for submitted in (room.everybody, room.quick):
        (submitted / "links-to-victim").symlink_to("victim")
    for folder in (root, *root.rglob("*")):
        if folder.is_dir() and not folder.is_symlink():
            folder.chmod(0o755)
    yield room
    shutil.rmtree(root)


@pytest.fixture(scope="session", params=TIERS)
def graded(request, classroom):
    """Give the class as it was graded at one tier."""
    tier = request.param
    disabled = frozenset(filter(None, TIERS[tier].split(",")))
    try:
        with Sandbox.start(disable=disabled, allow_weak=True, preload=()) as sandbox:
            got = str(sandbox.tier)
    except SandboxRefused as refused:
        pytest.skip(f"no sandbox on this machine: {refused}")
    if got != tier:
        pytest.skip(f"this machine gives tier {got} where {tier} is tested")
    submitted = classroom.everybody if tier == "A" else classroom.quick
    before = classroom.state()
    done = grade_class(classroom.course, submitted, tier, "--force")
    done.untouched = classroom.state() == before
    return done


@pytest.fixture
def students(graded):
    """Give everybody whose work was graded at this tier."""
    return [s for s in (*HONEST, *ATTACKERS) if graded.tier == "A" or s.name not in SLOW]
