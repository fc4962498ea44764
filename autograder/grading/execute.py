"""The engine as preprocessors of plain nbgrader, so that ``nbgrader autograde`` uses it.

``nbgrader_config.py`` puts them in the place of `Execute` and `SaveAutoGrades`. Where this
machine cannot isolate students' code, nbgrader grades as it always did, with a warning.
"""

from __future__ import annotations

import atexit
import os
from pathlib import Path
from typing import Any

import nbformat
from nbgrader import utils
from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import Execute, SaveAutoGrades

from autograder.grading.files import assignment_files
from autograder.grading.master import Master, master_from_gradebook, master_from_source
from autograder.grading.score import Verdict
from autograder.grading.submission import Engine, Job
from autograder.sandbox import SandboxRefused

# isolated: refuse to grade otherwise; stock: nbgrader alone; unset: the best that works.
ENGINE_VARIABLE = "LAYERS_ENGINE"
VERDICTS = "layers_verdicts"

Resources = dict[str, Any]


class SandboxExecute(Execute):
    """Run the student's cells in a sandbox and the test cells of the master outside it."""

    _engine: Engine | None = None
    _refusal: str | None = None
    _masters: dict[tuple[str, str, str], Master]

    def preprocess(
        self, nb: nbformat.NotebookNode, resources: Resources
    ) -> tuple[nbformat.NotebookNode, Resources]:
        """Grade the notebook; leave the verdicts to `SaveVerdicts`."""
        engine = self.shared_engine()
        if engine is None:
            self.log.warning(
                "Graded in the process of the student's code, which can forge grades: %s",
                self._refusal,
            )
            return super().preprocess(nb, resources)
        names = resources["nbgrader"]
        job = Job(names["student"], names["assignment"], names["notebook"], Path("submission"))
        raw = nbformat.writes(nb).encode("utf-8", "replace")
        result = engine.grade_bytes(job, raw, self.master_of(resources))
        for problem in (*result.problems, *(repair.instructor for repair in result.repairs)):
            self.log.warning("%s", problem)
        if result.autograded is None:
            raise RuntimeError(f"{names['notebook']}: {'; '.join(result.problems)}")
        resources[VERDICTS] = result.verdicts
        return nbformat.reads(result.autograded, as_version=4), resources

    @classmethod
    def shared_engine(cls) -> Engine | None:
        """Give this process's engine, started once; None where stock nbgrader must do.

        Raises
        ------
        SandboxRefused
            ``LAYERS_ENGINE=isolated`` asks for isolation, and this machine has none.
        """
        wanted = os.environ.get(ENGINE_VARIABLE, "")
        if wanted == "stock":
            SandboxExecute._refusal = f"{ENGINE_VARIABLE}=stock asks for it."
            return None
        if SandboxExecute._engine is None and SandboxExecute._refusal is None:
            engine = Engine()
            try:
                engine.start()
            except SandboxRefused as refused:
                if wanted == "isolated":
                    raise
                SandboxExecute._refusal = str(refused)
                return None
            SandboxExecute._engine, SandboxExecute._masters = engine, {}
            atexit.register(engine.close)
        return SandboxExecute._engine

    def master_of(self, resources: Resources) -> Master:
        """Give the master: the instructor's notebook, or what the gradebook holds of it."""
        names = resources["nbgrader"]
        assignment, notebook = names["assignment"], names["notebook"]
        key = (names["db_url"], assignment, notebook)
        if key not in self._masters:
            course = CourseDirectory(config=self.config)
            folder = Path(course.format_path(course.source_directory, ".", assignment))
            source = folder / f"{notebook}.ipynb"
            given = {"files": assignment_files(folder), "config": self.config}
            if source.exists():
                raw = source.read_bytes()
                self._masters[key] = master_from_source(raw, assignment, notebook, **given)
            else:
                with Gradebook(names["db_url"]) as gradebook:
                    self._masters[key] = master_from_gradebook(
                        gradebook, assignment, notebook, **given
                    )
        return self._masters[key]


class SaveVerdicts(SaveAutoGrades):
    """Save the scores that `SandboxExecute` found, or nbgrader's own where it did not run."""

    def _add_score(self, cell: nbformat.NotebookNode, resources: Resources) -> None:
        name = cell.metadata["nbgrader"]["grade_id"]
        verdict: Verdict | None = resources.get(VERDICTS, {}).get(name)
        if verdict is None or not utils.is_grade(cell):
            super()._add_score(cell, resources)
            return
        grade = self.gradebook.find_grade(
            name, self.notebook_id, self.assignment_id, self.student_id
        )
        grade.auto_score = verdict.score
        # nbgrader asks for another look wherever somebody graded by hand before.
        grade.needs_manual_grade = verdict.needs_manual or grade.manual_score is not None
        self.gradebook.db.commit()
