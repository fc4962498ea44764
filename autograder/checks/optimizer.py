"""What is asked of the steps of SGD, Adam and AdamW, and of the learning rate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograder.checks.core import Check, Property
from autograder.checks.optimizer_rate import RATE
from autograder.checks.optimizer_steps import (
    MATRIX,
    SEVERAL,
    fading,
    in_turn,
    left_alone,
    plain_steps,
    steps,
)
from autograder.kernels.optimizer import adam_step, adamw_step, sgd_step

# A step in float32 changes parameters near 1 with an error of 1e-7; the smallest mistake at these
# sizes of gradient is a hundred times the limit.
LIMIT = 1e-5
# Uneven, so that a mean over the past differs from the last gradient.
SIZES = (1.0, 0.3, 2.0, 1.0, 0.5)
TINY = (1e-7, 2e-7, 1e-7)
DEEP = {"kernel": (3, 2, 4), "weight": (4, 3)}

_PLAIN = "new values"
SGD = Check(
    "sgd_step",
    "optimizer",
    (
        Property(_PLAIN, 0.7, plain_steps(MATRIX, 2), "a matrix (5, 4), two steps", rtol=LIMIT),
        Property(
            "several arrays", 0.2, plain_steps(SEVERAL, 2),
            "arrays (4, 6), (6,), (3,), two steps", rtol=LIMIT,
        ),
        Property(
            "inputs left alone", 0.1, left_alone(0.3), "arrays (4, 6), (6,), (3,)", needs=_PLAIN
        ),
    ),
    (sgd_step,),
)  # fmt: skip

_SEVERAL_STEPS = "several steps"
ADAM = Check(
    "adam_step",
    "optimizer",
    (
        Property(
            "first step", 0.15, steps(MATRIX, SIZES[:1], (0.1,)), "a matrix (5, 4)", rtol=LIMIT
        ),
        Property(
            _SEVERAL_STEPS, 0.3, steps(MATRIX, SIZES, (0.1,)),
            "a matrix (5, 4), five steps", rtol=LIMIT,
        ),
        Property(
            "several arrays", 0.15, steps(SEVERAL, SIZES[:3], (0.1,)),
            "arrays (4, 6), (6,), (3,), three steps", rtol=LIMIT,
        ),
        Property(
            "other betas and eps", 0.1,
            steps(MATRIX, SIZES[:3], (0.1,), beta1=0.6, beta2=0.9, eps=0.03),
            "beta1 = 0.6, beta2 = 0.9, eps = 0.03", rtol=LIMIT,
        ),
        Property(
            "tiny gradients, eps", 0.15, steps(MATRIX, TINY, (0.1,)),
            "a matrix (5, 4) with gradients near 1e-7, three steps", rtol=LIMIT,
        ),
        Property(
            "gradients of 0", 0.05, fading((0.1,)),
            "a matrix whose gradient is always 0, another whose gradient becomes 0", rtol=LIMIT,
            needs=_SEVERAL_STEPS,
        ),
        Property(
            "two models in turn", 0.05, in_turn((0.1,)), "two matrices (5, 4), each its own state",
            rtol=LIMIT, needs=_SEVERAL_STEPS,
        ),
        Property(
            "inputs left alone", 0.05, left_alone(None, 0.1), "arrays (4, 6), (6,), (3,)",
            needs=_SEVERAL_STEPS,
        ),
    ),
    (adam_step,),
)  # fmt: skip

_MATRIX = "a matrix, several steps"
ADAMW = Check(
    "adamw_step",
    "optimizer",
    (
        Property(
            _MATRIX, 0.3, steps(MATRIX, SIZES, (0.1, 0.5)),
            "a matrix (5, 4), five steps, weight_decay = 0.5", rtol=LIMIT,
        ),
        Property(
            "vectors do not decay", 0.2,
            steps(SEVERAL, SIZES[:3], (0.1, 0.5), ("block.bias", "norm.weight")),
            "vectors (6,) and (3,) beside a matrix, three steps, weight_decay = 0.5", rtol=LIMIT,
        ),
        Property(
            "decay without a gradient", 0.15, fading((0.1, 0.5)),
            "a matrix whose gradient is always 0, another whose gradient becomes 0", rtol=LIMIT,
            needs=_MATRIX,
        ),
        Property(
            "any number of axes from two", 0.1, steps(DEEP, SIZES[:3], (0.1, 0.5)),
            "arrays (3, 2, 4) and (4, 3), three steps", rtol=LIMIT,
        ),
        Property(
            "tiny gradients, eps", 0.1, steps(MATRIX, TINY, (0.1, 0.5)),
            "a matrix (5, 4) with gradients near 1e-7, three steps", rtol=LIMIT,
        ),
        Property(
            "other betas and eps", 0.1,
            steps(MATRIX, SIZES[:3], (0.1, 0.2), beta1=0.6, beta2=0.9, eps=0.03),
            "beta1 = 0.6, beta2 = 0.9, eps = 0.03, weight_decay = 0.2", rtol=LIMIT,
        ),
        Property(
            "inputs left alone", 0.05, left_alone(None, 0.1, 0.5), "arrays (4, 6), (6,), (3,)",
            needs=_MATRIX,
        ),
    ),
    (adamw_step,),
)  # fmt: skip

CHECKS = (SGD, ADAM, ADAMW, RATE)


def check_sgd_step(sgd_step: Callable[..., Any], points: float) -> float:
    """Grade a step of gradient descent.

    Parameters
    ----------
    sgd_step : callable
        ``sgd_step(params, grads, learning_rate) -> params``.
    points : float
        What a right answer is worth.

    Returns
    -------
    float
        The score, between 0 and `points`.
    """
    return SGD.run((sgd_step,), points)


def check_adam_step(adam_step: Callable[..., Any], points: float) -> float:
    """Grade a step of Adam, several times in a row with the state that it returns.

    Parameters
    ----------
    adam_step : callable
        ``adam_step(params, grads, state, learning_rate, beta1=0.9, beta2=0.999, eps=1e-8)
        -> params, state``.
    points : float
        What a right answer is worth.

    Returns
    -------
    float
        The score, between 0 and `points`.
    """
    return ADAM.run((adam_step,), points)


def check_adamw_step(adamw_step: Callable[..., Any], points: float) -> float:
    """Grade a step of AdamW, several times in a row with the state that it returns.

    Parameters
    ----------
    adamw_step : callable
        ``adamw_step(params, grads, state, learning_rate, weight_decay, beta1=0.9, beta2=0.999,
        eps=1e-8) -> params, state``.
    points : float
        What a right answer is worth.

    Returns
    -------
    float
        The score, between 0 and `points`.
    """
    return ADAMW.run((adamw_step,), points)


def check_learning_rate_at(learning_rate_at: Callable[..., Any], points: float) -> float:
    """Grade a schedule of the learning rate.

    Parameters
    ----------
    learning_rate_at : callable
        ``learning_rate_at(step, peak, warmup_steps, total_steps, floor) -> float``.
    points : float
        What a right answer is worth.

    Returns
    -------
    float
        The score, between 0 and `points`.
    """
    return RATE.run((learning_rate_at,), points)
