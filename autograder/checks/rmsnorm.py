"""What is asked of RMSNorm."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograder.checks.compare import Observation
from autograder.checks.core import Functions, Property
from autograder.checks.inputs import Rng, norm_inputs
from autograder.checks.normalization import Normalization
from autograder.kernels.rmsnorm import rmsnorm_backward, rmsnorm_forward

RMSNORM = Normalization("rmsnorm", ("gamma",), (rmsnorm_forward, rmsnorm_backward))


def _zero_row(functions: Functions, rng: Rng) -> Observation:
    data = norm_inputs(rng, (4, 8))
    data.x[1] = 0.0
    return {"out with a row of zeros": RMSNORM.out(functions[0], data)}


FORWARD = RMSNORM.forward_check(
    Property("a row of zeros", 0.05, _zero_row, "x (4, 8), one row of zeros")
)
BACKWARD = RMSNORM.backward_check({"dx": 0.5, "dgamma": 0.15})
CHECKS = (FORWARD, BACKWARD)


def check_rmsnorm_forward(rmsnorm_forward: Callable[..., Any], points: float) -> float:
    """Grade an RMSNorm forward pass.

    Parameters
    ----------
    rmsnorm_forward : callable
        ``rmsnorm_forward(x, gamma, eps=1e-5) -> out, cache``.
    points : float
        What a right answer is worth.

    Returns
    -------
    float
        The score, between 0 and `points`.
    """
    return FORWARD.run((rmsnorm_forward,), points)


def check_rmsnorm_backward(
    rmsnorm_forward: Callable[..., Any], rmsnorm_backward: Callable[..., Any], points: float
) -> float:
    """Grade an RMSNorm backward pass with the cache of the same student's forward pass.

    Parameters
    ----------
    rmsnorm_forward, rmsnorm_backward : callable
        ``rmsnorm_backward(dout, cache) -> dx, dgamma``.
    points : float
        What a right answer is worth.

    Returns
    -------
    float
        The score, between 0 and `points`.
    """
    return BACKWARD.run((rmsnorm_forward, rmsnorm_backward), points)
