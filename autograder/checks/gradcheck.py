"""What is asked of a gradient checker and of its two parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograder.checks.gradcheck_numeric import ERROR, NUMERIC
from autograder.checks.gradcheck_planted import PLANTED

CHECKS = (NUMERIC, ERROR, PLANTED)


def check_numerical_gradient(numerical_gradient: Callable[..., Any], points: float) -> float:
    """Grade a gradient measured by central differences.

    Parameters
    ----------
    numerical_gradient : callable
        ``numerical_gradient(function, x, dout, step=1e-5) -> dx``.
    points : float
        What a right answer is worth.

    Returns
    -------
    float
        The score, between 0 and `points`.
    """
    return NUMERIC.run((numerical_gradient,), points)


def check_gradient_error(gradient_error: Callable[..., Any], points: float) -> float:
    """Grade the error that compares a gradient with the measured one.

    Parameters
    ----------
    gradient_error : callable
        ``gradient_error(analytic, numeric) -> float``.
    points : float
        What a right answer is worth.

    Returns
    -------
    float
        The score, between 0 and `points`.
    """
    return ERROR.run((gradient_error,), points)


def check_gradcheck(gradcheck: Callable[..., Any], points: float) -> float:
    """Grade a gradient checker by right and wrong backward passes.

    Parameters
    ----------
    gradcheck : callable
        ``gradcheck(forward, backward, x, rng, step=1e-5) -> float``.
    points : float
        What a right answer is worth.

    Returns
    -------
    float
        The score, between 0 and `points`.
    """
    return PLANTED.run((gradcheck,), points)
