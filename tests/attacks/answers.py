"""Answers of honest students, right and wrong, and the source of a small exercise."""

from typing import Any

FORWARD = """\
def layernorm_forward(x, gamma, beta, eps=1e-5):
    centred = x - x.mean(-1, keepdims=True)
    rstd = 1 / np.sqrt((centred * centred).mean(-1, keepdims=True) + eps)
    return gamma * (centred * rstd) + beta, (centred * rstd, rstd, gamma)"""
BACKWARD = """\
def layernorm_backward(dout, cache):
    x_hat, rstd, gamma = cache
    rows = (dout * x_hat).reshape(-1, dout.shape[-1])
    g = dout * gamma
    dx = g - g.mean(-1, keepdims=True) - x_hat * (g * x_hat).mean(-1, keepdims=True)
    return rstd * dx, rows.sum(0), dout.reshape(-1, dout.shape[-1]).sum(0)"""
NO_FORWARD = """\
def layernorm_forward(x, gamma, beta, eps=1e-5):
    raise NotImplementedError"""
NO_BACKWARD = """\
def layernorm_backward(dout, cache):
    raise NotImplementedError"""
ZEROS = """\
def layernorm_forward(x, gamma, beta, eps=1e-5):
    return np.zeros_like(x), gamma"""
ZEROS_BACK = """\
def layernorm_backward(dout, cache):
    return np.zeros_like(dout), np.zeros(dout.shape[-1]), np.zeros(dout.shape[-1])"""
DROPOUT = """\
def dropout_forward(x, p, training, rng):
    if not training:
        return x, (None, p)
    keep = rng.random(x.shape) >= p
    return (x * keep / (1 - p)).astype(x.dtype), (keep, p)"""
DROPOUT_BACK = """\
def dropout_backward(dout, cache):
    keep, p = cache
    return dout if keep is None else dout * keep / (1 - p)"""
GUESS = "def guess():\n    return 1.0"


def code(source: str) -> dict[str, Any]:
    """Make a code cell that has no name."""
    return {"cell_type": "code", "metadata": {}, "source": source, "outputs": [],
            "execution_count": None, "id": f"own-{abs(hash(source)) % 10**12}"}  # fmt: skip


def guess_source(marker: str, expected: float) -> str:
    """Write an exercise whose hidden test holds the number that it expects."""
    mark = "schema_version: 3, solution: {}, task: false"
    return f"""\
---
kernelspec:
  display_name: Python 3
  language: python
  name: python3
---

# Guess

```{{code-cell}} ipython3
---
nbgrader: {{grade: false, grade_id: guess, locked: false, {mark.format("true")}}}
---
def guess():
    ### BEGIN SOLUTION
    return {expected!r}
    ### END SOLUTION
```

```{{code-cell}} ipython3
---
nbgrader: {{grade: true, grade_id: guess-hidden, locked: true, points: 20, {mark.format("false")}}}
---
# Hidden tests run here when your notebook is graded.
### BEGIN HIDDEN TESTS
from numpy.testing import assert_allclose
def check_guess(function, points):
    assert_allclose(function(), {expected!r}, err_msg="{marker}")
    return points
check_guess(guess, points=20)
### END HIDDEN TESTS
```
"""
