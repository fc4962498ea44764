"""What is asked of BatchNorm."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograder.checks.batchnorm_backward import BACKWARD
from autograder.checks.batchnorm_passes import BATCH, WIDE, Inputs, draw, forward
from autograder.checks.compare import Observation
from autograder.checks.core import Check, Functions, Observe, Property
from autograder.checks.inputs import Rng
from autograder.checks.observe import call
from autograder.kernels.batchnorm import batchnorm_forward

# The smallest batch, as many rows as features, a sequence, and one axis more.
SHAPES = ((2, 6), (4, 4), (3, 2, 4), (2, 2, 3, 5))
# In use a batch may also be a single vector, or hold none.
IN_USE = ((5,), (0, 3), (3, 2, 4))
_RUNNING = ("running_mean", "running_var")


def _training(shape: tuple[int, ...]) -> Observe:
    return lambda functions, rng: {"out": forward(functions[0], draw(rng, shape), True)["out"]}


def _moved(functions: Functions, rng: Rng) -> Observation:
    data = draw(rng, BATCH)
    default = forward(functions[0], data, True)
    third = forward(functions[0], data, True, momentum=0.3)
    # Of a size where an eps that is remembered along with the variance shows.
    tiny = forward(functions[0], draw(rng, BATCH, scale=1e-3), True)
    return {
        f"{name}{where}": returned[name]
        for where, returned in (
            ("", default), (" with momentum=0.3", third), (" for x of size 1e-3", tiny)
        )
        for name in _RUNNING
    }  # fmt: skip


def _in_use(functions: Functions, rng: Rng) -> Observation:
    seen = forward(functions[0], draw(rng, BATCH), False)
    return {
        "out": seen["out"],
        "running_mean (unchanged)": seen["running_mean"],
        "running_var (unchanged)": seen["running_var"],
    }


def _shapes(functions: Functions, rng: Rng) -> Observation:
    seen = {}
    for training, shapes in ((True, SHAPES), (False, IN_USE)):
        for shape in shapes:
            returned = forward(functions[0], draw(rng, shape), training)
            mode = "training" if training else "use"
            for name in ("out", *_RUNNING):
                seen[f"{name} in {mode} for x {shape}"] = returned[name]
    return seen


def _tiny(functions: Functions, rng: Rng) -> Observation:
    data = draw(rng, BATCH, scale=1e-3)
    return {
        f"out in {mode}{'' if eps is None else f' with eps={eps:.0e}'}": forward(
            functions[0], data, training, **({} if eps is None else {"eps": eps})
        )["out"]
        for mode, training in (("training", True), ("use", False))
        for eps in (None, 3e-4)
    }


def _hard_columns(functions: Functions, rng: Rng) -> Observation:
    data = draw(rng, (6, 8))
    data.x[:, 1] = data.x[0, 1]
    far = Inputs(*(part.astype(np.float32) for part in draw(rng, (8, 64))))
    far = far._replace(x=far.x + np.float32(1e4))
    return {
        "out with a constant column": forward(functions[0], data, True)["out"],
        "every entry finite": bool(np.isfinite(forward(functions[0], far, True)["out"]).all()),
    }


def _changed(functions: Functions, data: Inputs, training: bool) -> set[int]:
    """Places of the arrays that a call changed, among the arguments."""
    arguments = data.arguments
    call(functions[0], *arguments, training)
    # Behind a process boundary the function works on copies and reports what it changed.
    reported = set(getattr(functions[0], "changed", ()))
    before = data.arguments
    return {
        place
        for place, array in enumerate(arguments)
        if place in reported or not np.array_equal(array, before[place])
    }


def _untouched(functions: Functions, rng: Rng) -> Observation:
    data = draw(rng, (4, 8))
    changed = _changed(functions, data, True) | _changed(functions, data, False)
    return {
        "x, gamma and beta unchanged": changed.isdisjoint({0, 1, 2}),
        "running_mean and running_var unchanged": changed.isdisjoint({3, 4}),
    }


_FIRST = "training: values on a batch (N, D)"

FORWARD = Check(
    "batchnorm_forward",
    "batchnorm",
    (
        Property(_FIRST, 0.3, _training(BATCH), f"x {BATCH} with random parameters"),
        Property(
            "training: running values", 0.2, _moved, f"x {BATCH}, momentum 0.1 (default) and 0.3",
        ),
        Property(
            "in use: values on a batch", 0.2, _in_use, f"x {BATCH}, training=False"
        ),
        Property(
            "any leading shape", 0.1, _shapes,
            f"x {', '.join(map(str, SHAPES))} in training, {', '.join(map(str, IN_USE))} in use",
        ),
        Property(
            "tiny inputs, eps", 0.1, _tiny, f"x {BATCH} of size 1e-3 in both modes", rtol=1e-4
        ),
        Property("values to 2e-6", 0.05, _training(WIDE), f"x {WIDE} in training", rtol=2e-6),
        Property(
            "hard columns", 0.025, _hard_columns, "a constant column; float32 x near 1e4"
        ),
        Property(
            "inputs left alone", 0.025, _untouched, "x (4, 8) in both modes", needs=_FIRST
        ),
    ),
    (batchnorm_forward,),
)  # fmt: skip

CHECKS = (FORWARD, BACKWARD)


def check_batchnorm_forward(batchnorm_forward: Callable[..., Any], points: float) -> float:
    """Grade a BatchNorm forward pass.

    Parameters
    ----------
    batchnorm_forward : callable
        ``batchnorm_forward(x, gamma, beta, running_mean, running_var, training, momentum=0.1,
        eps=1e-5) -> out, cache, running_mean, running_var``.
    points : float
        What a right answer is worth.

    Returns
    -------
    float
        The score, between 0 and `points`.
    """
    return FORWARD.run((batchnorm_forward,), points)


def check_batchnorm_backward(
    batchnorm_forward: Callable[..., Any], batchnorm_backward: Callable[..., Any], points: float
) -> float:
    """Grade a BatchNorm backward pass with the cache of the same student's forward pass.

    Parameters
    ----------
    batchnorm_forward, batchnorm_backward : callable
        ``batchnorm_backward(dout, cache) -> dx, dgamma, dbeta``.
    points : float
        What a right answer is worth.

    Returns
    -------
    float
        The score, between 0 and `points`.
    """
    return BACKWARD.run((batchnorm_forward, batchnorm_backward), points)
