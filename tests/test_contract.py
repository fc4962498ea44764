"""What every exercise owes: a proven check, and a statement that tells the truth about it."""

import json
import re
from pathlib import Path

import jupytext
import pytest

from autograder.checks import all_checks
from autograder.cli import main
from autograder.course.audit import audit_course, passed
from autograder.course.paths import Course
from autograder.mistakes import mistakes_of

ROOT = Path(__file__).parent.parent
CHECKS = all_checks()
CALL = re.compile(r"check_(?P<function>\w+)\((?P<takes>.*), points=(?P<points>\d+)\)")
ROW = re.compile(r"^\| (?P<property>[^|]+?) \| (?P<points>[\d.]+) \|$", re.MULTILINE)


def hidden_cells(layer):
    """Points and source of the graded cells of a layer's source, by the function they grade."""
    notebook = jupytext.read(ROOT / "solutions" / layer / f"{layer}.md")
    graded = [cell for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("grade")]
    calls = [(cell, CALL.search(cell.source)) for cell in graded]
    return {call["function"]: (cell.metadata["nbgrader"]["points"], call) for cell, call in calls}


def statement(layer, function):
    """Give the markdown between the cell graded before `function` and the one that grades it."""
    text = (ROOT / "solutions" / layer / f"{layer}.md").read_text()
    before = text.split(f"check_{function}(")[0]
    return before.split("### END HIDDEN TESTS")[-1]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.function)
def test_the_hidden_cell_calls_the_check_for_the_cells_points(check):
    points, call = hidden_cells(check.layer)[check.function]
    assert tuple(call["takes"].split(", ")) == check.takes
    assert float(call["points"]) == points


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.function)
def test_the_statement_lists_every_property_with_its_points(check):
    points, _ = hidden_cells(check.layer)[check.function]
    listed = {row["property"]: float(row["points"])
              for row in ROW.finditer(statement(check.layer, check.function))}  # fmt: skip
    assert listed == {prop.name: round(prop.weight * points, 2) for prop in check.properties}


def test_every_notebook_is_worth_20_points():
    layers = {check.layer for check in CHECKS}
    totals = {layer: sum(points for points, _ in hidden_cells(layer).values()) for layer in layers}
    assert totals == dict.fromkeys(layers, 20)
    assert len(CHECKS) == sum(len(hidden_cells(layer)) for layer in layers)


@pytest.mark.parametrize("layer", sorted({check.layer for check in CHECKS}))
def test_every_known_mistake_loses_points_and_every_right_variant_keeps_them(layer):
    rows = audit_course(Course(ROOT), [layer], seeds=2, reference_seeds=25)
    assert passed(rows), "\n".join(note for row in rows for note in row.notes)
    assert all(row.mistakes >= 4 and row.variants >= 2 for row in rows)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.function)
def test_every_mistake_tells_the_student_something(check):
    for mistake in mistakes_of(check.function, check.layer):
        assert len(mistake.sentence.split()) >= 5, mistake.id
        assert mistake.sentence.endswith("."), mistake.id
        assert mistake.id not in mistake.equivalent


def test_audit_prints_json_of_the_agreed_shape(capsys):
    assert main(["--root", str(ROOT), "audit", "--json", "--layer", "layernorm",
                 "--seeds", "1", "--reference-seeds", "1"]) == 0  # fmt: skip
    rows = json.loads(capsys.readouterr().out)["functions"]
    keys = {"name", "mistakes", "killed", "named", "variants", "accepted", "stub"}
    assert [row["name"] for row in rows] == ["layernorm_forward", "layernorm_backward"]
    assert all(keys <= row.keys() for row in rows)
