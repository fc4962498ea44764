"""The isolated engine as a class run needs it: masters, tier, version, and how to open it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from traitlets.config import Config

from autograder.course import stock
from autograder.course.folders import Folders
from autograder.course.options import Options
from autograder.course.paths import CourseError
from autograder.course.planning import Grader, Masters
from autograder.course.worker import Task
from autograder.grading.files import assignment_files
from autograder.grading.master import (
    Master,
    MasterError,
    master_from_gradebook,
    master_from_source,
)
from autograder.grading.receipt import ENGINE_VERSION
from autograder.grading.result import Job
from autograder.grading.submission import Engine
from autograder.grading.tiers import RISKS, SandboxRefused, Tier

_CALL = re.compile(r"^check_(\w+)\(", re.MULTILINE)


@dataclass
class Isolation:
    """What the sandbox achieves on this machine; empty until it was started.

    Attributes
    ----------
    tier : str
        ``A``, ``B`` or ``C``.
    layers : dict of str to str
        What each layer achieved.
    risk : str
        What is not held off at this tier.
    """

    tier: str = ""
    layers: dict[str, str] = field(default_factory=dict)
    risk: str = ""


def load_masters(
    folders: Folders, config: Config, notebooks: Mapping[str, Iterable[str]]
) -> dict[tuple[str, str], Master]:
    """Read the instructor's notebooks; where one is gone, what the gradebook holds of it.

    Raises
    ------
    CourseError
        Nothing can be graded against one of them.
    """
    masters: dict[tuple[str, str], Master] = {}
    for assignment, names in notebooks.items():
        files = assignment_files(folders.source / assignment)
        for name in names:
            path = folders.master(assignment, name)
            try:
                masters[assignment, name] = _master(path, assignment, name, files, config)
            except MasterError as error:
                raise CourseError(f"{path}: {error}") from error
    return masters


def make_grader(
    masters: Masters, secret: str, options: Options, isolation: Isolation
) -> Grader:
    """Describe the isolated engine to a class run.

    Parameters
    ----------
    masters : mapping of (assignment, notebook) to Master
        From `load_masters`.
    secret : str
        The course secret.
    options : Options
        ``require_tier`` and ``allow_weak`` count.
    isolation : Isolation
        Is filled in once the sandbox is started.
    """
    tier = Tier[options.require_tier] if options.require_tier else None
    open_engine = partial(Engine, tier, options.allow_weak, secret=secret)
    identity = hashlib.sha256(f"course secret {secret}".encode()).hexdigest()[:12]
    prepare = partial(_prepare, open_engine, isolation)
    return Grader(ENGINE_VERSION, identity, masters, open_engine, make_job, prepare)


def make_job(task: Task) -> Job:
    """Turn a task into what the engine grades."""
    return Job(task.student, task.assignment, task.notebook, task.path, task.files)


def labels(masters: Masters) -> dict[tuple[str, str], str]:
    """Name graded cells by the function that they check, by assignment and cell."""
    found: dict[tuple[str, str], str] = {}
    for (assignment, _), master in masters.items():
        for cell in master.cells:
            if cell.grade_id and (call := _CALL.search(cell.source)):
                found[assignment, cell.grade_id] = call[1]
    return found


def _master(
    path: Path, assignment: str, name: str, files: Mapping[str, bytes], config: Config
) -> Master:
    if path.exists():
        source = path.read_bytes()
        try:
            return master_from_source(source, assignment, name, files=files, config=config)
        except MasterError:
            # Some sources become tests only when nbgrader generates the assignment.
            if b"AUTOTEST" not in source:
                raise
    with stock.open_gradebook(config) as gradebook:
        return master_from_gradebook(gradebook, assignment, name, files=files, config=config)


def _prepare(
    open_engine: partial[Engine], isolation: Isolation, masters: Mapping[tuple[str, str], Master]
) -> Mapping[tuple[str, str], Master]:
    try:
        with open_engine() as engine:
            isolation.tier = engine.sandbox.tier.name
            isolation.layers = dict(engine.sandbox.layers)
            isolation.risk = RISKS[engine.sandbox.tier]
            return {key: engine.prepare(master) for key, master in masters.items()}
    except SandboxRefused as error:
        raise CourseError(str(error)) from error
