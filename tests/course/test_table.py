from pathlib import Path

from autograder.course.result import Result
from autograder.course.summary import summary
from autograder.course.table import as_json, findings_list, grade_table
from autograder.grading.findings import Finding


def finding(function, score, points, mistake=None):
    return Finding(function, score, points, mistake, None, ())


RESULT = Result(
    layers=["embedding", "dropout"],
    students=["ada", "barbara", "cyd"],
    max_scores={"embedding": 20.0, "dropout": 20.0},
    scores={("ada", "embedding"): 20.0, ("ada", "dropout"): 12.5, ("barbara", "dropout"): 0.0},
    unusable={("barbara", "embedding"): "broken"},
    findings={
        ("ada", "dropout"): [
            (finding("dropout_forward", 2.5, 10, "DF3"), "keeps with probability p"),
            (finding("dropout_backward", 10, 10), ""),
        ],
        ("barbara", "dropout"): [
            (finding("dropout_forward", 0, 10), "not written yet"),
            (finding("dropout_backward", 0, 10), "not written yet"),
        ],
    },
    problems=["b.ipynb: broken"],
)


def test_the_table_lines_up_and_adds_up():
    assert grade_table(RESULT).splitlines() == [
        "student  embedding /20  dropout /20  total /40",
        "----------------------------------------------",
        "ada                 20         12.5       32.5",
        "barbara         broken            0          0",
        "cyd                  -            -          0",
    ]


def test_findings_take_one_line_per_student():
    assert findings_list(RESULT).splitlines() == [
        "ada      dropout_forward 2.5/10: keeps with probability p",
        "barbara  dropout_forward 0/10, dropout_backward 0/10: not written yet; embedding: broken",
        "cyd      nothing handed in",
    ]


def test_problems_come_last_where_a_terminal_leaves_them_in_view():
    text = summary(RESULT, Path("grades.csv"))
    assert text.endswith("1 problem(s) to look at\nb.ipynb: broken")


def test_json_tells_the_same():
    ada = as_json(RESULT)["students"]["ada"]
    assert ada["scores"] == {"embedding": 20.0, "dropout": 12.5}
    assert ada["findings"] == [
        {"layer": "dropout", "function": "dropout_forward", "score": 2.5, "points": 10,
         "mistake": "DF3", "reason": "keeps with probability p"}
    ]  # fmt: skip


def test_a_name_cannot_write_lines_of_its_own_or_move_the_cursor():
    name = "eve\n\x1b[2Jada  20  20\u2028\u202e"
    forged = Result(
        ["dropout"], [name], {"dropout": 20.0}, {(name, "dropout"): 3.0},
        problems=[f"{name}: broken\nada: fine"],
    )  # fmt: skip
    text = summary(forged, Path("grades.csv"))
    lines = text.splitlines()
    assert [line for line in lines if line.startswith("ada")] == []
    assert "\x1b" not in text
    assert any(line.startswith("eve??[2Jada") for line in lines)
