"""What is asked of LayerNorm."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograder.checks.compare import Observation
from autograder.checks.core import Functions, Property
from autograder.checks.inputs import NormInputs, Rng, norm_inputs
from autograder.checks.normalization import Normalization
from autograder.kernels.layernorm import layernorm_backward, layernorm_forward

LAYERNORM = Normalization("layernorm", ("gamma", "beta"), (layernorm_forward, layernorm_backward))


def _hard_rows(functions: Functions, rng: Rng) -> Observation:
    data = norm_inputs(rng, (4, 8))
    data.x[1] = data.x[1, 0]
    far = norm_inputs(rng, (64, 8))
    far = NormInputs(*(part.astype(np.float32) for part in far))
    far = far._replace(x=far.x + np.float32(1e4))
    return {
        "out with a constant row": LAYERNORM.out(functions[0], data),
        "every entry finite": bool(np.isfinite(LAYERNORM.out(functions[0], far)).all()),
    }


FORWARD = LAYERNORM.forward_check(
    Property("hard rows", 0.05, _hard_rows, "a constant row; float32 x near 1e4")
)
BACKWARD = LAYERNORM.backward_check({"dx": 0.4, "dgamma": 0.15, "dbeta": 0.1})
CHECKS = (FORWARD, BACKWARD)


def check_layernorm_forward(layernorm_forward: Callable[..., Any], points: float) -> float:
    """Grade a LayerNorm forward pass.

    Parameters
    ----------
    layernorm_forward : callable
        ``layernorm_forward(x, gamma, beta, eps=1e-5) -> out, cache``.
    points : float
        What a right answer is worth.

    Returns
    -------
    float
        The score, between 0 and `points`.
    """
    return FORWARD.run((layernorm_forward,), points)


def check_layernorm_backward(
    layernorm_forward: Callable[..., Any], layernorm_backward: Callable[..., Any], points: float
) -> float:
    """Grade a LayerNorm backward pass with the cache of the same student's forward pass.

    Parameters
    ----------
    layernorm_forward, layernorm_backward : callable
        ``layernorm_backward(dout, cache) -> dx, dgamma, dbeta``.
    points : float
        What a right answer is worth.

    Returns
    -------
    float
        The score, between 0 and `points`.
    """
    return BACKWARD.run((layernorm_forward, layernorm_backward), points)
