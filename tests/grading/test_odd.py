"""Whatever is handed in gets the score that its answers deserve, and the run goes on."""

import copy

import nbformat
import pytest
from nbgrader.nbgraderformat import reads as reads_as_nbgrader

from tests.grading.course import answered
from tests.grading.odd_table import ODD, UNREADABLE


@pytest.mark.parametrize("name", ODD)
def test_odd_submissions_get_what_their_answers_deserve(name, master, grade):
    change, centre, double, kinds = ODD[name]
    made = answered(master)
    # A change works on the notebook or gives the file itself.
    given = change(made) or made
    result = grade(given.encode() if isinstance(given, str) else given)
    assert result.status == "graded", result.problems
    verdicts = result.verdicts
    assert (verdicts["centre-test"].score, verdicts["double-test"].score) == (centre, double), [
        (verdict.grade_id, verdict.reason) for verdict in verdicts.values()
    ]
    assert {repair.kind for repair in result.repairs} == kinds
    assert all(bool(v.reason) == (v.score is not None and v.score < v.max_score)
               for v in verdicts.values())  # fmt: skip
    notebook = reads_as_nbgrader(result.autograded, as_version=4)
    nbformat.validate(notebook)
    assert len(result.autograded) < 300_000


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_is_no_notebook_is_refused_with_a_reason(name, grade):
    data, word = UNREADABLE[name]
    result = grade(data)
    assert result.status == "unreadable"
    assert word in result.problems[0]
    assert result.autograded is None
    assert not result.verdicts


def test_a_notebook_of_100_mb_is_refused_unread(tmp_path, engine, master):
    from autograder.grading.submission import Job

    path = tmp_path / "small.ipynb"
    with path.open("wb") as file:
        file.truncate(100 * 2**20)
    result = engine.grade(Job("ada", "small", "small", path), master)
    assert result.status == "unreadable"
    assert "has 100 MB, more than the 25 MB" in result.problems[0]


def test_a_repair_reaches_student_and_instructor_and_shows_no_text_of_the_student(master, grade):
    made = copy.deepcopy(answered(master))
    made["cells"][1]["metadata"]["nbgrader"]["grade_id"] = "<script>"
    result = grade(made)
    top = reads_as_nbgrader(result.autograded, as_version=4).cells[0]
    assert top.cell_type == "markdown"
    assert all(sentence in top.source.replace("&quot;", '"') for sentence in
               (repair.student for repair in result.repairs))  # fmt: skip
    assert "<script>" not in result.autograded
