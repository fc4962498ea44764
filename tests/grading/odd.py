"""What happens to submissions: each function changes a right one, or gives the file's bytes."""

import copy
import json
import random

from tests.grading.answers import (
    STARTER,
    WRONG_CENTRE,
    WRONG_DOUBLE,
)
from tests.grading.course import RIGHT_CENTRE, cell, find, place


def wrong(made):
    find(made, "centre")["source"] = WRONG_CENTRE
    find(made, "double")["source"] = WRONG_DOUBLE


def answer(text):
    """Answer the first question with a text, and the second one right."""

    def change(made):
        find(made, "centre")["source"] = text

    return change


def before(text):
    """Answer both questions wrongly, after a cell that tries to get the points anyway."""

    def change(made):
        wrong(made)
        made["cells"].insert(place(made, "centre"), cell("code", text))

    return change


def free(text, at="centre"):
    """Put a harmless cell before one of the course's into a right submission."""

    def change(made):
        made["cells"].insert(place(made, at), cell("code", text))

    return change


def with_helper(made):
    free("def mean(x):\n    return x.mean()")(made)
    answer("def centre(x):\n    return x - mean(x)")(made)


def cheat(change):
    """Make both answers wrong, then change the notebook."""

    def both(made):
        wrong(made)
        return change(made)

    return both


def mark(grade_id, /, **values):
    def change(made):
        find(made, grade_id)["metadata"]["nbgrader"].update(values)

    return change


def tags(*names):
    def change(made):
        for found in made["cells"]:
            found["metadata"]["tags"] = list(names)

    return change


def without(grade_id):
    def change(made):
        del made["cells"][place(made, grade_id)]

    return change


def twice(grade_id):
    def change(made):
        made["cells"].insert(place(made, grade_id), copy.deepcopy(find(made, grade_id)))

    return change


def starter_after(made):
    """Someone copied the empty starter below the answer, as a backup."""
    stub = copy.deepcopy(find(made, "centre"))
    stub["source"] = STARTER
    made["cells"].insert(place(made, "centre-test"), stub)


def split(made):
    """Jupyter's "split cell" gives both halves the same name."""
    half = copy.deepcopy(find(made, "double"))
    find(made, "double")["source"], half["source"] = half["source"].split("\n\ndef double_back")
    half["source"] = "def double_back" + half["source"]
    made["cells"].insert(place(made, "double") + 1, half)


def retyped(grade_id, kind):
    def change(made):
        found = find(made, grade_id)
        found["cell_type"] = kind
        found.pop("outputs", None)
        found.pop("execution_count", None)

    return change


def no_marks(made):
    for found in made["cells"]:
        found["metadata"] = {}


def no_marks_and_ids_and_order(made):
    no_marks(made)
    random.Random(3).shuffle(made["cells"])


def reversed_order(made):
    made["cells"].reverse()


def test_first(made):
    made["cells"].insert(0, made["cells"].pop(place(made, "centre-test")))


def locked_edit(made):
    find(made, "centre-test")["source"] = "pass"
    find(made, "double-test")["source"] = "2.0"


def answer_in_locked_cell(made):
    """Write the answer into the course's own cell."""
    find(made, "centre-seen")["source"] = (
        RIGHT_CENTRE + "\n\n" + find(made, "centre-seen")["source"]
    )
    find(made, "centre")["source"] = ""


def kernel(spec):
    def change(made):
        made["metadata"] = {} if spec is None else {"kernelspec": spec}

    return change


def nbformat3(made):
    cells = []
    for found in made["cells"]:
        old = {"cell_type": found["cell_type"], "metadata": found["metadata"]}
        key = "input" if found["cell_type"] == "code" else "source"
        cells.append({**old, key: found["source"], "language": "python"})
    cells.insert(0, {"cell_type": "heading", "level": 2, "source": "Old", "metadata": {}})
    return json.dumps({"nbformat": 3, "metadata": {"name": ""}, "worksheets": [{"cells": cells}]})


def nbformat9(made):
    made["nbformat"] = 9


def encoded(encoding):
    def change(made):
        made["cells"].insert(1, cell("markdown", "é"))
        return json.dumps(made, ensure_ascii=False).encode(encoding)

    return change


def broken_parts(made):
    made["cells"] += [7, None, "text", {"cell_type": "code", "source": [1, "x = 1", {}]}, {}]


def lone_surrogate(made):
    made["cells"].insert(1, cell("code", "text = '\ud800'"))


def receipt_of_their_own(made):
    made["metadata"]["layers_receipt"] = {"checks": {"centre-test": {"score": 3}}}


def give(data):
    return lambda made: data
