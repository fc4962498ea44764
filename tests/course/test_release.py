import json

import nbformat
import pytest

from autograder.cli import main
from autograder.course.paths import CourseError
from autograder.course.release import release


def test_a_second_release_is_byte_identical_and_checks_as_fresh(course, capsys):
    (path,) = release(course)
    first = path.read_bytes()
    release(course)
    assert path.read_bytes() == first
    assert main(["--root", str(course.root), "release", "--check"]) == 0
    assert "up to date" in capsys.readouterr().out


def test_the_student_notebook_has_the_starter_and_the_visible_tests_only(course):
    (path,) = release(course)
    notebook = nbformat.read(path, as_version=4)
    text = "\n".join(cell.source for cell in notebook.cells)
    assert "YOUR CODE HERE" in text
    assert 'assert double(2) == 4, "double(2) must be 4"' in text
    assert "twice_as_much" not in text
    assert "check_double" not in text
    assert notebook.metadata == {"kernelspec": notebook.metadata.kernelspec}
    assert "twice_as_much" in (course.source / "double" / "double.ipynb").read_text()


def test_a_release_touches_no_gradebook(course):
    release(course)
    assert not list(course.root.rglob("*.db"))


@pytest.mark.parametrize("damage", ["edited", "missing", "orphan"])
def test_check_names_the_stale_file(course, capsys, damage):
    (path,) = release(course)
    if damage == "edited":
        notebook = json.loads(path.read_text())
        notebook["cells"][0]["source"] = ["# Halving"]
        path.write_text(json.dumps(notebook))
    elif damage == "missing":
        path.unlink()
    else:
        path = course.exercises / "halve" / "halve.ipynb"
        path.parent.mkdir()
        path.write_text("{}")
    assert main(["--root", str(course.root), "release", "--check"]) == 1
    assert str(path) in capsys.readouterr().out


def test_a_release_that_would_leak_writes_nothing(course):
    """The sentence of a known mistake in a statement gives the hidden tests away."""
    mistakes = course.root / "autograder" / "mistakes"
    mistakes.mkdir(parents=True)
    sentence = "You added x to itself once too often; doubling adds it once."
    (mistakes / "double.py").write_text(f'SENTENCE = "{sentence}"\n')
    source = course.source_of("double")
    source.write_text(source.read_text().replace("doubles an array.", f"doubles. {sentence}"))
    with pytest.raises(CourseError, match="known mistake") as error:
        release(course)
    assert str(source) in str(error.value)
    assert not course.exercises.exists()


def test_an_unknown_layer_is_named_with_the_known_ones(course, capsys):
    assert main(["--root", str(course.root), "release", "--layer", "halve"]) == 1
    assert "unknown layer halve" in capsys.readouterr().err
