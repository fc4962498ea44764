"""Repair keeps answers and their order, whatever happened to the cells around them."""

import copy
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.grading.document import UnreadableError, read_document
from autograder.grading.repair import repair
from tests.grading.course import (
    RIGHT_CENTRE,
    RIGHT_DOUBLE,
    answered,
    cell,
    find,
    master_of,
    place,
    raw,
    source,
)

MASTER = master_of(source())
NAMED = [known.grade_id for known in MASTER.cells if known.grade_id]


def names(repaired):
    marks = [c["metadata"].get("nbgrader", {}).get("grade_id") for c in repaired.notebook["cells"]]
    return [name for name in marks if name]


def source_of(repaired, name):
    return find(repaired.notebook, name)["source"]


@st.composite
def mangled(draw):
    """Draw a right submission whose cells were shuffled, doubled, deleted, and lost their marks."""
    made = answered(MASTER)
    cells = draw(st.permutations(made["cells"]))
    doubled = draw(st.lists(st.sampled_from(cells), max_size=4))
    cells = [copy.deepcopy(c) for c in draw(st.permutations([*cells, *doubled]))]
    answers = ("centre", "double")
    kept = [c for c in cells if _name(c) in answers or draw(st.booleans())]
    for c in kept:
        if draw(st.integers(0, 3)) == 0:
            c["metadata"] = {}
        if draw(st.integers(0, 5)) == 0:
            c["cell_type"] = draw(st.sampled_from(["code", "markdown", "raw"]))
    return {**made, "cells": kept}


def _name(c):
    return c["metadata"].get("nbgrader", {}).get("grade_id")


@given(mangled())
def test_answers_survive_any_shuffling_doubling_and_loss_of_marks(made):
    repaired = repair(raw(made), MASTER)
    assert names(repaired) == NAMED
    assert source_of(repaired, "centre") == RIGHT_CENTRE
    assert source_of(repaired, "double") == RIGHT_DOUBLE
    for known in MASTER.cells:
        if known.locked:
            assert source_of(repaired, known.grade_id) == known.source
    ids = [c["id"] for c in repaired.notebook["cells"]]
    assert len(set(ids)) == len(ids)


@settings(max_examples=12)
@given(made=mangled())
def test_a_mangled_right_submission_has_full_marks(made, engine, master):
    from pathlib import Path

    from autograder.grading.submission import Job

    result = engine.grade_bytes(Job("ada", "small", "small", Path("s.ipynb")), raw(made), master)
    assert result.score == 5, [(v.grade_id, v.reason) for v in result.verdicts.values()]


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(
        st.sampled_from(
            ["cells", "source", "metadata", "nbgrader", "grade_id", "cell_type", "tags", "id",
             "worksheets", "input", "attachments", "level", "points", "nbformat"]
        ),
        inner, max_size=6,
    ),
    max_leaves=30,
)  # fmt: skip


@given(st.data())
def test_no_metadata_or_part_can_make_repair_fail(data):
    made = answered(MASTER)
    for c in made["cells"]:
        for key in data.draw(st.lists(st.sampled_from(sorted({*c, "attachments"})), max_size=2)):
            c[key] = data.draw(anything)
        if isinstance(c.get("metadata"), dict) and isinstance(c["metadata"].get("nbgrader"), dict):
            key = data.draw(st.sampled_from(["grade_id", "points", "grade", "schema_version", "x"]))
            c["metadata"]["nbgrader"][key] = data.draw(anything)
    made["cells"].append(data.draw(anything))
    repaired = repair(raw(made), MASTER)
    assert names(repaired) == NAMED
    marks = [find(repaired.notebook, name)["metadata"]["nbgrader"] for name in NAMED]
    assert marks == [known.metadata["nbgrader"] for known in MASTER.cells if known.grade_id]


@given(st.binary(max_size=200) | anything.map(lambda v: json.dumps(v).encode()))
def test_any_bytes_are_a_notebook_or_refused(data):
    try:
        cells = read_document(data).cells
    except UnreadableError:
        return
    assert all(isinstance(c.source, str) for c in cells)


def test_a_sound_submission_is_left_alone():
    made = answered(MASTER)
    made["cells"].insert(3, cell("code", "mine = 1"))
    repaired = repair(raw(made), MASTER)
    assert not repaired.repairs
    texts = [c["source"] for c in repaired.notebook["cells"]]
    hidden = {known.source for known in MASTER.cells if known.is_test}
    public = [text for text in texts if text not in hidden]
    assert public == [c["source"] for c in made["cells"] if _name(c) not in
                      ("centre-test", "double-test")]  # fmt: skip


@pytest.mark.parametrize("moved", [False, True])
def test_a_helper_of_the_students_stays_before_the_test_that_needs_it(moved):
    made = answered(MASTER)
    made["cells"].insert(place(made, "centre"), cell("code", "def helper(): pass"))
    if moved:
        made["cells"].insert(0, made["cells"].pop(place(made, "double-test")))
    cells = repair(raw(made), MASTER).notebook["cells"]
    texts = [c["source"] for c in cells]
    assert texts.index("def helper(): pass") < place({"cells": cells}, "centre-test")
    assert place({"cells": cells}, "setup") < texts.index("def helper(): pass")


def test_of_two_different_answers_the_last_counts_and_the_first_is_kept():
    made = answered(MASTER)
    second = copy.deepcopy(find(made, "centre"))
    second["source"] = "def centre(x):\n    return x - 1"
    made["cells"].insert(place(made, "centre") + 1, second)
    repaired = repair(raw(made), MASTER)
    assert source_of(repaired, "centre") == second["source"]
    assert RIGHT_CENTRE in [c["source"] for c in repaired.notebook["cells"]]


def test_an_answer_in_words_that_lost_its_name_is_found_by_its_place():
    made = answered(MASTER)
    find(made, "why")["source"] = "Since the mean is linear."
    made["cells"][place(made, "why")]["metadata"] = {}
    repaired = repair(raw(made), MASTER)
    assert source_of(repaired, "why") == "Since the mean is linear."
    assert [(r.kind, r.grade_id) for r in repaired.repairs] == [("identity", "why")]
    assert "position" in repaired.repairs[0].instructor


def test_pictures_in_an_answer_in_words_are_kept():
    made = answered(MASTER)
    find(made, "why")["attachments"] = {"a.png": {"image/png": "aGk="}}
    repaired = repair(raw(made), MASTER)
    assert find(repaired.notebook, "why")["attachments"] == {"a.png": {"image/png": "aGk="}}
