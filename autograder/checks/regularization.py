"""What is asked of the functions on regularization; the random split has a module of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograder.checks.compare import Observation
from autograder.checks.core import Check, Functions, Property
from autograder.checks.inputs import Array, Rng
from autograder.checks.observe import RefusedError, array, call, leaves_alone, unpack
from autograder.checks.regularization_split import SPLIT
from autograder.checks.regularization_step import STEP
from autograder.kernels.regularization import paired_difference, thinned_means, top2_gap

Case = tuple[Array, Array, float]


def _layer(rng: Rng, units: int, outputs: int, p: float) -> Case:
    """Draw a layer whose outputs have both signs for some masks, so that the ReLU matters."""
    x = rng.choice([-1.0, 1.0], size=units) * rng.uniform(0.5, 1.5, size=units)
    return x, rng.standard_normal((units, outputs)), p


def _means(functions: Functions, case: Case) -> tuple[Array, Array]:
    x, w, p = case
    names = ("linear_mean", "relu_mean")
    linear, relu = unpack(call(functions[0], x.copy(), w.copy(), p), names)
    return array(linear, names[0]), array(relu, names[1])


def _linear(functions: Functions, rng: Rng) -> Observation:
    return {
        f"linear_mean with p={p}": _means(functions, _layer(rng, 5, 4, p))[0] for p in (0.3, 0.8)
    }


def _relu(functions: Functions, rng: Rng) -> Observation:
    return {f"relu_mean with p={p}": _means(functions, _layer(rng, 5, 4, p))[1] for p in (0.3, 0.8)}


def _both(case: Callable[[Rng], Case]) -> Callable[[Functions, Rng], Observation]:
    def observe(functions: Functions, rng: Rng) -> Observation:
        linear, relu = _means(functions, case(rng))
        return {"linear_mean": linear, "relu_mean": relu}

    return observe


def _one_feature(rng: Rng) -> Case:
    x, w, p = _layer(rng, 1, 3, 0.25)
    # One output is positive, one negative: a ReLU that is missing or misplaced shows in one.
    return x, np.abs(w) * [[1.0, -1.0, 1.0]], p


def _means_untouched(functions: Functions, rng: Rng) -> Observation:
    x, w, p = _layer(rng, 4, 3, 0.4)
    return {"x and w unchanged": leaves_alone(functions[0], x, w, p)}


def _drawn(functions: Functions, rng: Rng) -> str | None:
    """Say so where the same input gives another result each time."""
    case = _layer(rng, 5, 4, 0.4)
    try:
        one, other = _means(functions, case), _means(functions, case)
    except RefusedError:
        return None
    if all(np.array_equal(a, b, equal_nan=True) for a, b in zip(one, other)):
        return None
    return (
        "Your function gives another result each time it is called: it draws masks. Nothing is "
        "left to chance here; go through all 2**n masks and weigh each by its probability."
    )


_RELU = "mean after the ReLU"
MEANS = Check(
    "thinned_means",
    "regularization",
    (
        Property("mean of the linear outputs", 0.2, _linear, "x (5,), w (5, 4), p = 0.3 and 0.8"),
        Property(_RELU, 0.4, _relu, "x (5,), w (5, 4), p = 0.3 and 0.8"),
        Property(
            "p = 0", 0.1, _both(lambda rng: _layer(rng, 4, 3, 0.0)), "x (4,), w (4, 3), p = 0",
            needs=_RELU,
        ),
        Property("one feature", 0.1, _both(_one_feature), "x (1,), w (1, 3), p = 0.25"),
        Property(
            "ten features", 0.1, _both(lambda rng: _layer(rng, 10, 2, 0.1)),
            "x (10,), w (10, 2), p = 0.1",
        ),
        Property(
            "x and w left alone", 0.1, _means_untouched, "x (4,), w (4, 3)",
            expected={"x and w unchanged": True}, needs=_RELU,
        ),
    ),
    (thinned_means,),
    on_failure=_drawn,
)  # fmt: skip


def number(value: Any, name: str) -> float:
    """Take one returned number, or refuse it with the reason.

    Raises
    ------
    RefusedError
        If `value` is no real number and no array of one.
    """
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    got = array(value, name)
    if got.size != 1:
        raise RefusedError(f"returned {name} with shape {got.shape}; one number is needed")
    return float(got.reshape(()))


def _gaps(*shapes: tuple[int, ...]) -> Callable[[Functions, Rng], Observation]:
    def observe(functions: Functions, rng: Rng) -> Observation:
        return {
            f"gap for logits {shape}": number(
                call(functions[0], 3 * rng.standard_normal(shape) + 1), "the gap"
            )
            for shape in shapes
        }

    return observe


def _ties(functions: Functions, rng: Rng) -> Observation:
    logits = rng.standard_normal((12, 5))
    for row in range(0, 12, 2):
        # Half of the rows have their largest logit twice.
        first, second = rng.permutation(5)[:2]
        logits[row, [first, second]] = 4.0 + row
    return {"gap": number(call(functions[0], logits), "the gap")}


def _negative(functions: Functions, rng: Rng) -> Observation:
    logits = -20 + 3 * rng.standard_normal((30, 2))
    return {"gap": number(call(functions[0], logits), "the gap")}


def _logits_untouched(functions: Functions, rng: Rng) -> Observation:
    return {"logits unchanged": leaves_alone(functions[0], rng.standard_normal((6, 5)))}


_GAP = "mean over the examples"
GAP = Check(
    "top2_gap",
    "regularization",
    (
        Property(_GAP, 0.4, _gaps((30, 4), (5, 6)), "logits (30, 4) and (5, 6)"),
        Property("any leading axes", 0.2, _gaps((7,), (3, 4, 5)), "logits (7,) and (3, 4, 5)"),
        Property("ties", 0.2, _ties, "logits (12, 5), the largest one twice in every second row"),
        Property("two classes, all negative", 0.1, _negative, "logits (30, 2), around -20"),
        Property(
            "logits left alone", 0.1, _logits_untouched, "logits (6, 5)",
            expected={"logits unchanged": True}, needs=_GAP,
        ),
    ),
    (top2_gap,),
)  # fmt: skip


def _compare(functions: Functions, a: Array, b: Array, sizes: tuple[int, int]) -> tuple[Any, ...]:
    returned = call(functions[0], a.copy(), b.copy(), *sizes)
    names = ("mean", "standard_error")
    return tuple(number(value, name) for value, name in zip(unpack(returned, names), names))


def _mean(functions: Functions, rng: Rng) -> Observation:
    a, b = rng.standard_normal((2, 7)) + [[3.0], [1.5]]
    return {"mean": _compare(functions, a, b, (120, 80))[0]}


def _error(splits: int, sizes: tuple[int, int]) -> Callable[[Functions, Rng], Observation]:
    def observe(functions: Functions, rng: Rng) -> Observation:
        a, b = 5 * rng.standard_normal((2, splits)) + 2
        return {"standard_error": _compare(functions, a, b, sizes)[1]}

    return observe


def _pairs(functions: Functions, rng: Rng) -> Observation:
    # The splits differ much more among themselves than the two methods do on each of them.
    a = 20 * rng.standard_normal(8)
    b = a + 1.0 + 2 * rng.standard_normal(8)
    mean, error = _compare(functions, a, b, (90, 30))
    return {"mean": mean, "standard_error": error}


def _pairs_untouched(functions: Functions, rng: Rng) -> Observation:
    a, b = rng.standard_normal((2, 6))
    return {"a and b unchanged": leaves_alone(functions[0], a, b, 60, 20)}


_ERROR = "standard error"
PAIRED = Check(
    "paired_difference",
    "regularization",
    (
        Property("mean difference", 0.2, _mean, "7 splits"),
        Property(_ERROR, 0.4, _error(9, (120, 80)), "9 splits, n_train = 120, n_val = 80"),
        Property("hard and easy splits", 0.2, _pairs, "8 splits, n_train = 90, n_val = 30"),
        Property("two splits", 0.1, _error(2, (50, 60)), "2 splits, n_train = 50, n_val = 60"),
        Property(
            "a and b left alone", 0.1, _pairs_untouched, "6 splits",
            expected={"a and b unchanged": True}, needs=_ERROR,
        ),
    ),
    (paired_difference,),
)  # fmt: skip

CHECKS = (MEANS, GAP, SPLIT, STEP, PAIRED)


def check_thinned_means(thinned_means: Callable[..., Any], points: float) -> float:
    """Grade ``thinned_means(x, w, p) -> linear_mean, relu_mean``; the score is in [0, points]."""
    return MEANS.run((thinned_means,), points)


def check_top2_gap(top2_gap: Callable[..., Any], points: float) -> float:
    """Grade ``top2_gap(logits) -> gap``; the score is in [0, points]."""
    return GAP.run((top2_gap,), points)


def check_train_split(train_split: Callable[..., Any], points: float) -> float:
    """Grade ``train_split(n, n_train, n_val, rng) -> train, val``; score in [0, points]."""
    return SPLIT.run((train_split,), points)


def check_decayed_step(decayed_step: Callable[..., Any], points: float) -> float:
    """Grade ``decayed_step(params, grads, learning_rate, weight_decay) -> params``."""
    return STEP.run((decayed_step,), points)


def check_paired_difference(paired_difference: Callable[..., Any], points: float) -> float:
    """Grade ``paired_difference(a, b, n_train, n_val) -> mean, standard_error``."""
    return PAIRED.run((paired_difference,), points)
