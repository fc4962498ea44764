import json
import os

import pytest

from autograder.course.legible import graded_ids
from autograder.course.paths import CourseError
from autograder.course.stock_engine import stage
from autograder.course.survey import survey

NOTEBOOKS = {"layernorm": ["layernorm"], "rmsnorm": ["rmsnorm"]}
GRADED = {"layernorm": {"forward", "backward"}, "rmsnorm": {"only"}}


def notebook(*grade_ids, schema_version=3):
    cells = [
        {
            "cell_type": "code", "id": grade_id, "execution_count": None, "outputs": [],
            "source": "", "metadata": {"nbgrader": {
                "grade": True, "grade_id": grade_id, "locked": True, "points": 1,
                "schema_version": schema_version, "solution": False, "cell_type": "code"}},
        }
        for grade_id in grade_ids
    ]  # fmt: skip
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


GOOD = notebook("forward", "backward")


def lacks(path, layer):
    """Read a notebook as the stock engine does."""
    return GRADED[layer] - graded_ids(path)


@pytest.fixture
def look(tmp_path):
    """Write files given as path: text, with one right submission beside them, and survey them."""

    def write_and_look(files, layers=("layernorm", "rmsnorm"), students=()):
        for name, text in {"zoe/layernorm/layernorm.ipynb": GOOD, **files}.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if text is not None:
                path.write_text(text)
        return survey(tmp_path, NOTEBOOKS, layers, students, lacks)

    return write_and_look


PROBLEMS = {
    "not JSON": ({"amy/layernorm/layernorm.ipynb": '{"cells": ['}, "broken at line 1, column 12"),
    "empty": ({"amy/layernorm/layernorm.ipynb": ""}, "empty (0 bytes)"),
    "JSON but no notebook": ({"amy/layernorm/layernorm.ipynb": "[]"}, "nbgrader cannot read it"),
    "too new": (
        {"amy/layernorm/layernorm.ipynb": notebook("forward", "backward", schema_version=99)},
        "SchemaTooNewError",
    ),
    "no file": ({"amy/layernorm/notes.txt": "later"}, "layernorm.ipynb: missing"),
    "two that could be meant": (
        {"amy/layernorm/layernorm (1).ipynb": GOOD, "amy/layernorm/layernorm-Copy1.ipynb": GOOD},
        "keep one of layernorm (1).ipynb, layernorm-Copy1.ipynb",
    ),
    "another exercise's": ({"amy/layernorm/rmsnorm.ipynb": GOOD}, "belongs to rmsnorm"),
    "unknown assignment": ({"amy/layernrom/x.ipynb": GOOD}, "did you mean layernorm?"),
    "no assignment folder": ({"amy/layernorm.ipynb": GOOD}, "lies outside an assignment folder"),
    "empty student folder": ({"amy/.keep": ""}, "no assignment in it"),
    "file among students": ({"amy.ipynb": GOOD}, "a file among the student folders"),
    "not on the roster": (
        {"roster.csv": "id,first_name\nzoe,Zoe\n", "amy/layernorm/layernorm.ipynb": GOOD},
        "unknown student 'amy'",
    ),
}


@pytest.mark.parametrize("case", PROBLEMS)
def test_a_problem_names_the_file_and_leaves_the_others(case, look, tmp_path):
    files, words = PROBLEMS[case]
    found = look(files)
    named = [line for line in found.problems if words in line]
    assert len(named) == 1
    assert named[0].startswith(f"{tmp_path}/amy")
    assert [item.student for item in found.submissions] == ["zoe"]


@pytest.mark.parametrize(
    "name", ["layernorm (1).ipynb", "layernorm-Copy1.ipynb", "mine.ipynb", "layernorm.ipynb.txt"]
)
def test_a_renamed_notebook_is_graded_and_that_is_said(name, look, tmp_path):
    found = look({f"amy/layernorm/{name}": GOOD})
    assert not found.problems
    assert found.notes == [f"{tmp_path}/amy/layernorm/{name}: graded as layernorm.ipynb."]
    stage(found.submissions[0], tmp_path / "staged")
    assert (tmp_path / "staged" / "amy" / "layernorm" / "layernorm.ipynb").read_text() == GOOD
    assert (tmp_path / "amy" / "layernorm" / name).exists()


def test_missing_graded_cells_are_told_and_the_rest_is_graded(look):
    found = look({"amy/layernorm/layernorm.ipynb": notebook("forward")})
    assert "count 0: backward" in found.problems[0]
    assert [item.student for item in found.submissions] == ["amy", "zoe"]


def test_links_are_not_followed_into_the_working_copy(look, tmp_path):
    secret = tmp_path.parent / "secret.txt"
    secret.write_text("the instructor's")
    found = look({"zoe/layernorm/helper.py": "x = 1"})
    (tmp_path / "zoe" / "layernorm" / "link.txt").symlink_to(secret)
    stage(found.submissions[0], tmp_path / "staged")
    names = {path.name for path in (tmp_path / "staged" / "zoe" / "layernorm").iterdir()}
    assert names == {"layernorm.ipynb", "helper.py"}


def test_the_roster_lists_who_handed_in_nothing(look):
    assert look({"roster.csv": "id\nzoe\nbea\n"}).students == ["bea", "zoe"]


def test_only_the_wanted_layers_and_students_are_looked_at(look):
    files = {"amy/rmsnorm/rmsnorm.ipynb": "{", "amy/layernorm/layernorm.ipynb": GOOD}
    found = look(files, layers=["layernorm"], students=["amy"])
    assert [(item.student, item.layer) for item in found.submissions] == [("amy", "layernorm")]
    assert not found.problems


def test_an_unknown_student_or_folder_ends_the_run(look, tmp_path):
    with pytest.raises(CourseError, match="unknown student bob; the folder holds zoe"):
        look({}, students=["bob"])
    with pytest.raises(CourseError, match="no such folder"):
        survey(tmp_path / "nowhere", NOTEBOOKS, ["layernorm"])


@pytest.mark.parametrize("place", ["amy", "amy/layernorm", "amy/layernorm/layernorm.ipynb"])
def test_a_link_in_place_of_a_submission_is_refused(place, look, tmp_path):
    """Somebody else's work, or any file of this machine, must not be graded as one's own."""
    path = tmp_path / place
    path.parent.mkdir(parents=True, exist_ok=True)
    depth = place.count("/") + 1
    path.symlink_to(tmp_path.joinpath("zoe", "layernorm", "layernorm.ipynb").parents[2 - depth]
                    if depth < 3 else tmp_path / "zoe" / "layernorm" / "layernorm.ipynb")
    found = look({})
    assert [item.student for item in found.submissions] == ["zoe"]
    assert any(line.startswith(f"{path}: a link") for line in found.problems)


def test_of_several_notebooks_the_absent_one_counts_and_is_said(tmp_path):
    folder = tmp_path / "zoe" / "ps1"
    folder.mkdir(parents=True)
    (folder / "problem1.ipynb").write_text(GOOD)
    (folder / "problem2 (1).ipynb").write_text(GOOD)
    found = survey(tmp_path, {"ps1": ["problem1", "problem2", "problem3"]}, ["ps1"])
    assert [item.name for item in found.submissions] == ["problem1", "problem2"]
    assert [item.name for item in found.missing] == ["problem3"]
    assert f"{folder}/problem2 (1).ipynb: graded as problem2.ipynb." in found.notes


def test_a_name_that_is_no_text_is_left_out_and_said(tmp_path):
    hand = tmp_path / os.fsdecode(b"ada\xff") / "layernorm"
    try:
        hand.mkdir(parents=True)
    except OSError:
        pytest.skip("this file system takes only names that are text")
    (hand / "layernorm.ipynb").write_text("{}")
    (tmp_path / "ben" / "layernorm").mkdir(parents=True)
    found = survey(tmp_path, {"layernorm": ["layernorm"]}, ["layernorm"])
    assert found.students == ["ben"]
    assert any("ada\ufffd: its name is no text" in problem for problem in found.problems)
