"""Run nbgrader's own converters in this process, with the course's nbgrader_config.py.

The one place that knows nbgrader's classes for running things.
"""

from __future__ import annotations

import copy
import io
import logging
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook
from nbgrader.apps.zipcollectapp import ZipCollectApp
from nbgrader.converters import Autograde, GenerateAssignment, GenerateFeedback
from nbgrader.coursedir import CourseDirectory
from nbgrader.plugins import CsvExportPlugin
from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

CONFIG_FILE = "nbgrader_config.py"
# Kernels talk over sockets of this machine only; their warning about it buries the report.
QUIET_KERNEL = ["--IPKernelApp.log_level=ERROR"]


@dataclass(frozen=True)
class Outcome:
    """What a converter did: whether it ended well, and what it logged."""

    ok: bool
    log: str


def load_config(root: Path, **course_directory: str) -> Config:
    """Read ``nbgrader_config.py`` under ``root`` and override options of `CourseDirectory`."""
    config = Config()
    if (root / CONFIG_FILE).exists():
        config = PyFileConfigLoader(CONFIG_FILE, path=str(root)).load_config()
    config.CourseDirectory.root = str(root)
    config.CourseDirectory.update(course_directory)
    return config


def generate_assignment(config: Config, assignment: str, *, database: bool) -> Outcome:
    """Make the student version of ``assignment`` and, if asked, enter it in the gradebook."""
    if not database:
        config = copy.deepcopy(config)
        config.SaveCells.enabled = False
        config.GenerateAssignment.no_database = True
    return _run(GenerateAssignment, config, assignment)


def autograde(config: Config, assignment: str) -> Outcome:
    """Execute and score every submission of ``assignment`` with nbgrader alone."""
    config = copy.deepcopy(config)
    # What the course configures for plain nbgrader commands is our own engine.
    config.Autograde.pop("autograde_preprocessors", None)
    return _run(Autograde, config, assignment)


def generate_feedback(config: Config, assignment: str, *, force: bool = False) -> Outcome:
    """Write an HTML page for every autograded notebook that has none yet."""
    config = copy.deepcopy(config)
    # The command-line app sets this template; the converter alone would not.
    config.HTMLExporter.template_name = "feedback"
    return _run(GenerateFeedback, config, assignment, force=force)


def export_grades(config: Config, target: Path) -> None:
    """Write the gradebook as CSV to ``target``."""
    with open_gradebook(config) as gradebook:
        CsvExportPlugin(config=config, to=str(target)).export(gradebook)


@contextmanager
def open_gradebook(config: Config) -> Iterator[Gradebook]:
    """Open the course's gradebook and close it again."""
    coursedir = CourseDirectory(config=config)
    with _tools_on_path():
        gradebook = Gradebook(coursedir.db_url, coursedir.course_id)
    with gradebook:
        yield gradebook


def zip_collect(config: Config, assignment: str) -> Outcome:
    """Sort downloaded files and archives into one folder per student."""
    return _run(ZipCollectApp, config, assignment)


def _run(step: type, config: Config, assignment: str, *, force: bool = True) -> Outcome:
    coursedir = CourseDirectory(config=config, assignment_id=assignment)
    app: Any = step(coursedir=coursedir, config=config, force=force)
    buffer = io.StringIO()
    with _captured_log(app.log, buffer), _tools_on_path(), warnings.catch_warnings():
        # SQLAlchemy warns about the order in which nbgrader links its own records.
        warnings.filterwarnings("ignore", message="Object of type <Submitted")
        try:
            app.start()
        except (Exception, SystemExit) as error:
            buffer.write(f"[ERROR] {type(error).__name__}: {error}\n")
            return Outcome(False, buffer.getvalue())
    return Outcome(True, buffer.getvalue())


@contextmanager
def _captured_log(log: logging.Logger, buffer: io.StringIO) -> Iterator[None]:
    handler = logging.StreamHandler(buffer)
    handler.setFormatter(logging.Formatter("[%(levelname)s] %(message)s"))
    old = log.handlers, log.propagate
    log.handlers, log.propagate = [handler], False
    try:
        yield
    finally:
        log.handlers, log.propagate = old


@contextmanager
def environment(**values: str) -> Iterator[None]:
    """Set environment variables, which kernels inherit, and put the old ones back."""
    old = dict(os.environ)
    os.environ.update(values)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(old)


def _tools_on_path() -> AbstractContextManager[None]:
    # nbgrader calls `alembic` by name, which an environment that is not activated hides.
    return environment(PATH=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
