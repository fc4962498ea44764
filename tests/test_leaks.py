"""No word of a solution, a hidden test or the grader reaches a student."""

from pathlib import Path

import nbformat
import pytest

from autograder.course.leaks import find_leaks, secrets_of
from autograder.course.paths import Course
from autograder.course.source import read_source, split_regions

COURSE = Course(Path(__file__).parent.parent)
RELEASED = sorted(COURSE.exercises.glob("*/*"))
NOTEBOOKS = sorted(COURSE.exercises.glob("*/*.ipynb"))


@pytest.fixture(scope="module")
def secrets():
    return secrets_of(COURSE)


def test_every_layer_is_released_with_its_modules():
    names = {(layer, f"{layer}.ipynb") for layer in COURSE.layers()}
    names |= {(layer, path.name) for layer in COURSE.layers() for path in COURSE.support_of(layer)}
    assert {(path.parent.name, path.name) for path in RELEASED if path.is_file()} == names


def test_no_secret_in_a_module_beside_a_notebook(secrets):
    for path in COURSE.exercises.glob("*/*.py"):
        assert find_leaks(path.read_text(encoding="utf-8"), secrets) == [], path


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_no_secret_in_a_student_notebook(path, secrets):
    cells = nbformat.read(path, as_version=4).cells
    assert find_leaks("\n".join(cell.source for cell in cells), secrets) == []
    assert find_leaks(path.read_text(encoding="utf-8"), secrets) == []
    assert not any(cell.get("outputs") for cell in cells)


@pytest.mark.parametrize("layer", COURSE.layers())
def test_a_published_solution_would_be_found(layer, secrets):
    """Each solution cell, put into a public file, raises the alarm."""
    cells = read_source(COURSE.source_of(layer)).cells
    regions = [split_regions(cell.source)[1] for cell in cells]
    solutions = ["\n".join(region["SOLUTION"]) for region in regions if "SOLUTION" in region]
    assert solutions
    assert all(find_leaks(solution, secrets) for solution in solutions)
