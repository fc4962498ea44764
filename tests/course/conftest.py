"""A course of one tiny exercise, made anew for each test that may change it."""

import shutil
from pathlib import Path

import nbformat
import pytest

from autograder.course.paths import Course

ROOT = Path(__file__).parent.parent.parent

SOURCE = '''\
---
kernelspec:
  display_name: Python 3
  language: python
  name: python3
---

# Doubling

Write a function that doubles an array.

```{code-cell} ipython3
import numpy as np
```

```{code-cell} ipython3
---
nbgrader: {grade: false, grade_id: double, locked: false, schema_version: 3, solution: true}
---
def double(x):
    """Return 2 * x."""
    ### BEGIN SOLUTION
    twice_as_much = np.asarray(x) * 2
    return twice_as_much
    ### END SOLUTION
```

```{code-cell} ipython3
---
nbgrader: {grade: false, grade_id: seen, locked: true, schema_version: 3, solution: false}
---
assert double(2) == 4, "double(2) must be 4"
```

```{code-cell} ipython3
---
nbgrader: {grade: true, grade_id: unseen, locked: true, points: 4,
  schema_version: 3, solution: false}
---
# Hidden tests run here when your notebook is graded.
### BEGIN HIDDEN TESTS
import os
def check_double(function, points):
    assert len(os.environ["LAYERS_COURSE_SECRET"]) == 64, "no course secret"
    return points * (0.75 * (function(2) == 4) + 0.25 * (function(-1.5) == -3))
check_double(double, points=4)
### END HIDDEN TESTS
```
'''


@pytest.fixture
def course(tmp_path):
    """Make a course with the exercise ``double`` and nothing built yet."""
    return make_course(tmp_path / "course")


def make_course(root):
    (root / "solutions" / "double").mkdir(parents=True)
    (root / "solutions" / "double" / "double.md").write_text(SOURCE)
    shutil.copyfile(ROOT / "nbgrader_config.py", root / "nbgrader_config.py")
    return Course(root)


def hand_in(course, folder, student, answer, name="double.ipynb"):
    """Write a submission made from the release, with `answer` in the solution cell."""
    notebook = nbformat.read(course.exercises / "double" / "double.ipynb", as_version=4)
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("solution"):
            cell.source = answer
    path = folder / student / "double" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, path)
    return path
