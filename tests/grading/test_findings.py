import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from autograder.checks.report import Outcome, Report
from autograder.grading.findings import findings_in


def report(score, reason, mistake=None):
    outcomes = (Outcome("values", 6.0, score - 2, reason), Outcome("shape", 2.0, 2.0, None))
    return Report("norm", 8.0, score, outcomes, mistake, mistake and "D - 1", mistake and "You.", 7)


def executed(*outputs, answer_outputs=()):
    """Make an answer cell and a graded cell, with what they printed or raised."""
    answer = new_code_cell(outputs=list(answer_outputs))
    answer.metadata.nbgrader = {"grade": False, "solution": True, "grade_id": "norm"}
    graded = new_code_cell("check_norm(norm, points=8)", outputs=list(outputs))
    graded.metadata.nbgrader = {
        "grade": True, "solution": False, "grade_id": "norm-hidden", "points": 8,
    }  # fmt: skip
    return new_notebook(cells=[answer, graded])


def printed(text):
    return new_output("stream", name="stdout", text=text + "\n")


def value(text):
    return new_output("execute_result", data={"text/plain": text})


def error(name, text):
    return new_output("error", ename=name, evalue=text, traceback=[])


@pytest.mark.parametrize(
    ("verdict", "reason"),
    [
        (report(8.0, None), ""),
        (report(2.0, "off by 1 (given x (4, 8), random dout)"), "off by 1"),
        (report(2.0, "off by 1 (given x (4, 8))", "LF1"), "D - 1"),
        (report(2.0, "norm is not written yet (it raised X)"), "not written yet"),
    ],
)
def test_a_printed_report_gives_score_and_reason(verdict, reason):
    ((found, why),) = findings_in(executed(printed(verdict.text()), value("2.0")))
    assert (found.function, found.score, found.points) == ("norm", verdict.score, 8.0)
    assert why == reason


def test_an_answer_that_does_not_run_is_the_reason_of_the_name_error():
    syntax = error("SyntaxError", "expected ':' (3040635683.py, line 1)")
    notebook = executed(error("NameError", "name 'norm'"), answer_outputs=[syntax])
    ((found, why),) = findings_in(notebook)
    assert (found.function, found.score, found.points) == ("norm", 0.0, 8.0)
    assert why == "SyntaxError: expected ':' (line 1)"


def test_points_lost_without_a_report_are_told():
    assert findings_in(executed(value("3.0")))[0][1] == "no report"
    assert findings_in(executed(value("8.0")))[0][1] == ""
