"""Make the student notebooks in ``exercises/`` from the sources in ``solutions/``.

Everything is built in a temporary folder and looked through for leaks there; only then is
anything copied. A release writes no gradebook.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from autograder.course import stock
from autograder.course.leaks import find_leaks, secrets_of
from autograder.course.paths import Course, CourseError
from autograder.course.source import KERNELSPEC, read_source, set_cell_ids


def release(course: Course, only: Iterable[str] = ()) -> list[Path]:
    """Write ``_build/source/`` and ``exercises/``; return the student notebooks.

    The modules beside a source, ``solutions/<layer>/*.py``, go to both.

    Parameters
    ----------
    course : Course
        The course to release.
    only : iterable of str
        Layers to release; empty releases all.

    Raises
    ------
    CourseError
        A source breaks a rule, or a student notebook would leak; nothing is written then.
    """
    layers = course.layers(only)
    with tempfile.TemporaryDirectory() as folder:
        built = build(course, layers, Path(folder))
        for layer in layers:
            _install(built.source / layer, course.source / layer)
            _install(built.exercises / layer, course.exercises / layer)
    return [course.exercises / layer / f"{layer}.ipynb" for layer in layers]


def stale_files(course: Course, only: Iterable[str] = ()) -> list[str]:
    """Compare ``exercises/`` with a fresh build; return one line per file that differs."""
    layers = course.layers(only)
    with tempfile.TemporaryDirectory() as folder:
        fresh = _read_tree(build(course, layers, Path(folder)).exercises)
    present = _read_tree(course.exercises)
    problems = [
        f"{course.exercises / name}: {'stale' if name in present else 'missing'}; "
        "run `make release` and commit the result."
        for name, content in fresh.items()
        if present.get(name) != content
    ]
    elsewhere = set(course.layers()) - set(layers)
    return problems + [
        f"{course.exercises / name}: has no source in {course.solutions}; delete it."
        for name in present
        if name not in fresh and name.parts[0] not in elsewhere
    ]


def build_sources(course: Course, layers: Iterable[str], target: Path) -> None:
    """Write the instructor notebook of each layer to ``target/<layer>/``, its modules beside it."""
    for layer in layers:
        folder = target / layer
        write_notebook(read_source(course.source_of(layer)), folder / f"{layer}.ipynb")
        support = course.support_of(layer)
        # One that is no longer released must not be graded with either.
        for path in set(folder.glob("*.py")) - {folder / path.name for path in support}:
            path.unlink()
        for path in support:
            shutil.copyfile(path, folder / path.name)


def build(course: Course, layers: Iterable[str], folder: Path) -> Course:
    """Build sources and student notebooks under ``folder``, laid out as a course of its own."""
    layers = list(layers)
    built = Course(folder)
    secrets = secrets_of(course)
    build_sources(course, layers, built.source)
    shutil.copyfile(course.root / stock.CONFIG_FILE, folder / stock.CONFIG_FILE)
    config = stock.load_config(folder)
    for layer in layers:
        outcome = stock.generate_assignment(config, layer, database=False)
        if not outcome.ok:
            raise CourseError(f"{course.source_of(layer)}: nbgrader refused it.\n{outcome.log}")
        path = built.exercises / layer / f"{layer}.ipynb"
        student = _without_varying_parts(nbformat.read(path, as_version=4))
        _refuse_leaks(student, secrets, course.source_of(layer))
        _refuse_leaks_beside(course.support_of(layer), secrets)
        write_notebook(student, path)
    return built


def write_notebook(notebook: NotebookNode, path: Path) -> None:
    """Validate a notebook and write it with a final newline, as editors and git expect."""
    nbformat.validate(notebook)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8")


def _without_varying_parts(notebook: NotebookNode) -> NotebookNode:
    notebook.metadata = NotebookNode(kernelspec=NotebookNode(KERNELSPEC))
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    set_cell_ids(notebook)
    return notebook


def _refuse_leaks(student: NotebookNode, secrets: dict[str, str], source: Path) -> None:
    for number, cell in enumerate(student.cells, start=1):
        leaks = find_leaks(cell.source + json.dumps(cell.metadata), secrets)
        if leaks:
            raise CourseError(
                f"{source}, cell {number}: the student notebook would show {'; '.join(leaks)}. "
                "Move it between the markers, or word it differently."
            )


def _refuse_leaks_beside(support: Iterable[Path], secrets: dict[str, str]) -> None:
    for path in support:
        if leaks := find_leaks(path.read_text(encoding="utf-8"), secrets):
            raise CourseError(
                f"{path}: students would receive {'; '.join(leaks)}. "
                "Take it out of the module, or word it differently."
            )


def _install(built: Path, target: Path) -> None:
    if target.exists():
        shutil.rmtree(target)
    shutil.copytree(built, target)


def _read_tree(root: Path) -> dict[Path, bytes]:
    return {
        path.relative_to(root): path.read_bytes()
        for path in sorted(root.glob("*/*"))
        if path.is_file()
    }
