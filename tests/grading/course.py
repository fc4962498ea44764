"""A small course for the tests of grading: two questions by program, one by hand, one helper."""

import copy
import json

from autograder.grading.master import master_from_source

MARK = {"schema_version": 3, "grade": False, "solution": False, "locked": False, "task": False}
SETUP = """\
import numpy as np

def spread(x):
    return float(np.max(x) - np.min(x))"""
CENTRE = '''\
def centre(x):
    """Take the mean away."""
    ### BEGIN SOLUTION
    return x - x.mean()
    ### END SOLUTION'''
SEEN = "assert centre(np.array([1.0, 3.0])).tolist() == [-1.0, 1.0], 'centre([1, 3]) is [-1, 1]'"
CENTRE_TEST = """\
x = np.arange(12.0).reshape(3, 4)
assert centre(x).shape == (3, 4), "the shape must stay"
### BEGIN HIDDEN TESTS
np.testing.assert_allclose(centre(x), x - 5.5)
assert spread(centre(x)) == 11.0
### END HIDDEN TESTS"""
DOUBLE = '''\
def double(x):
    """Return 2 * x and what the way back needs."""
    ### BEGIN SOLUTION
    return 2 * x, {"size": x.size}
    ### END SOLUTION

def double_back(dout, cache):
    ### BEGIN SOLUTION
    assert cache["size"] == dout.size
    return 2 * dout
    ### END SOLUTION'''
DOUBLE_TEST = """\
# Hidden tests run here.
### BEGIN HIDDEN TESTS
out, cache = double(x)
points = 1.5 * bool(np.array_equal(out, 2 * x))
points += 0.5 * bool(np.array_equal(double_back(x, cache), 2 * x))
points
### END HIDDEN TESTS"""

RIGHT_CENTRE = "def centre(x):\n    return x - np.mean(x)"
RIGHT_DOUBLE = (
    "class Cache:\n    pass\n\ndef double(x):\n    return x + x, Cache()\n\n"
    "def double_back(dout, cache):\n    assert isinstance(cache, Cache)\n    return dout + dout"
)


def cell(kind, source, grade_id=None, **mark):
    """Make one cell, with nbgrader's marks if it has a name."""
    made = {"cell_type": kind, "metadata": {}, "source": source}
    if kind == "code":
        made |= {"execution_count": None, "outputs": []}
    if grade_id:
        made["metadata"]["nbgrader"] = {**MARK, "grade_id": grade_id, **mark}
    return made


def notebook(*cells):
    """Make a notebook as a dictionary."""
    spec = {"display_name": "Python 3", "language": "python", "name": "python3"}
    numbered = [{**made, "id": f"c{number}"} for number, made in enumerate(cells)]
    return {"cells": numbered, "metadata": {"kernelspec": spec}, "nbformat": 4, "nbformat_minor": 5}


def source():
    """Make the instructor's notebook of the small course."""
    return notebook(
        cell("markdown", "# Centre and double"),
        cell("code", SETUP, "setup", locked=True),
        cell("code", CENTRE, "centre", solution=True),
        cell("code", SEEN, "centre-seen", locked=True),
        cell("code", CENTRE_TEST, "centre-test", grade=True, locked=True, points=3),
        cell("code", DOUBLE, "double", solution=True),
        cell("code", DOUBLE_TEST, "double-test", grade=True, locked=True, points=2),
        cell("markdown", "Because.", "why", grade=True, solution=True, points=1),
    )


def raw(made):
    """Give a notebook as the bytes of a file."""
    return json.dumps(made).encode()


def master_of(made, name="small", **options):
    """Build a master from an instructor's notebook."""
    return master_from_source(raw(made), "small", name, **options)


def released(master):
    """Make the student notebook of a master."""
    cells = [
        {**cell(known.kind, known.released), "metadata": copy.deepcopy(dict(known.metadata))}
        for known in master.cells
    ]
    return notebook(*cells)


def answered(master, centre=RIGHT_CENTRE, double=RIGHT_DOUBLE):
    """Make a submission: the release with answers; None leaves a starter as it was."""
    made = released(master)
    for name, answer in (("centre", centre), ("double", double)):
        if answer is not None:
            find(made, name)["source"] = answer
    return made


def find(made, grade_id):
    """Find a cell of a notebook by its name."""
    return made["cells"][place(made, grade_id)]


def place(made, grade_id):
    """Find the place of a cell by its name."""
    names = [c["metadata"].get("nbgrader", {}).get("grade_id") for c in made["cells"]]
    return names.index(grade_id)
