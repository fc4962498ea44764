"""Grade the staged submissions of one class with stock nbgrader, several processes at a time."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

from autograder.course import stock
from autograder.course.paths import Course
from autograder.course.secret import SECRET_VARIABLE
from autograder.course.survey import Submission, files_beside

# nbgrader_config.py would put the sandbox in the place of nbgrader's own steps.
ENGINE_VARIABLE = "LAYERS_ENGINE"


def grade_class(
    course: Course, submissions: Sequence[Submission], secret: str
) -> dict[Submission, str]:
    """Execute, score and write feedback for every submission.

    Parameters
    ----------
    course : Course
        Its instructor notebooks and gradebook know the layers already.
    submissions : sequence of Submission
        What to grade; earlier results of the same student and layer are replaced.
    secret : str
        From which the hidden tests derive their inputs.

    Returns
    -------
    dict of Submission to str
        The log of every submission that could not be graded.
    """
    shutil.rmtree(course.staged, ignore_errors=True)
    for item in submissions:
        _remove(course.autograded / item.student / item.layer)
        _remove(course.feedback / item.student / item.layer)
    workers = min(os.cpu_count() or 1, len(submissions)) or 1
    # A folder of its own keeps the instructor's IPython start-up files out of the grades.
    with (
        tempfile.TemporaryDirectory() as ipython,
        stock.environment(
            IPYTHONDIR=ipython, **{SECRET_VARIABLE: secret, ENGINE_VARIABLE: "stock"}
        ),
    ):
        jobs = _stage_shares(course, submissions, workers)
        logs = _run_all(_autograde, [(course.root, *job) for job in jobs], workers)
        layers = sorted({layer for layer, _ in jobs})
        _run_all(_generate_feedback, [(course.root, layer) for layer in layers], workers)
    return _failures(course, submissions, [layer for layer, _ in jobs], logs)


def stage(submission: Submission, target: Path) -> None:
    """Copy a submission to ``target/<student>/<layer>/<layer>.ipynb`` with the files beside it."""
    folder = target / submission.student / submission.layer
    folder.mkdir(parents=True)
    for path in files_beside(submission.notebook):
        shutil.copyfile(path, folder / path.name)
    shutil.copyfile(submission.notebook, folder / f"{submission.layer}.ipynb")


def _stage_shares(
    course: Course, submissions: Sequence[Submission], workers: int
) -> list[tuple[str, Path]]:
    """Copy each layer's submissions into one folder per worker; return layer and folder."""
    jobs: list[tuple[str, Path]] = []
    for layer in sorted({item.layer for item in submissions}):
        mine = [item for item in submissions if item.layer == layer]
        for share in range(min(workers, len(mine))):
            folder = course.staged / f"{layer}-{share}"
            for item in mine[share::workers]:
                stage(item, folder)
            jobs.append((layer, folder))
    return jobs


def _run_all(
    job: Callable[..., str], arguments: Sequence[tuple[object, ...]], workers: int
) -> list[str]:
    # One process imports nbgrader, which takes seconds, and the workers are forked from it.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([stock.__name__])
    with ProcessPoolExecutor(
        workers, context, initializer=_set_environment, initargs=(dict(os.environ),)
    ) as pool:
        futures = [pool.submit(job, *given) for given in arguments]
        return [_log_of(future) for future in futures]


def _set_environment(values: dict[str, str]) -> None:
    os.environ.update(values)


def _log_of(future: Future[str]) -> str:
    try:
        return future.result()
    except BrokenProcessPool:
        return "[ERROR] The grading process was killed, by a submission or for want of memory.\n"


def _autograde(root: Path, layer: str, staged: Path) -> str:
    config = stock.load_config(root, submitted_directory=str(staged.relative_to(root)))
    return stock.autograde(config, layer).log


def _generate_feedback(root: Path, layer: str) -> str:
    return stock.generate_feedback(stock.load_config(root), layer).log


def _failures(
    course: Course, submissions: Iterable[Submission], layers: list[str], logs: list[str]
) -> dict[Submission, str]:
    """Nbgrader removes the folder of a submission that it could not grade."""
    return {
        item: "".join(log for layer, log in zip(layers, logs) if layer == item.layer)
        for item in submissions
        if not (course.autograded / item.student / item.layer / f"{item.layer}.ipynb").exists()
    }


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
