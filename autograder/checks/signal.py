"""What is asked of the measurements in a deep network; the scale of weights has its own module."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograder.checks.core import Check, Property
from autograder.checks.signal_net import (
    LAYERS,
    SMALL,
    UNEVEN,
    blame_forward,
    gradients,
    outputs,
    sizes,
    uneven,
    untouched,
)
from autograder.checks.signal_rate import GROWTH, RATE, SPLIT
from autograder.kernels.signal import NORMS, activation_scale, gradient_scale

_NONE = "sizes without a norm"
_SMALL_GIVEN = f"{LAYERS} of size {SMALL}"
ACTIVATIONS = Check(
    "activation_scale",
    "signal",
    (
        Property("output of the last layer", 0.15, outputs, LAYERS),
        Property(_NONE, 0.2, sizes(("none",)), LAYERS),
        Property("sizes with LayerNorm", 0.2, sizes(("layernorm",)), LAYERS),
        Property("sizes with RMSNorm", 0.15, sizes(("rmsnorm",)), LAYERS),
        Property("layers of other widths", 0.1, uneven, "matrices that are not square"),
        Property("small weights, eps", 0.1, sizes(NORMS, SMALL), _SMALL_GIVEN, rtol=1e-4),
        Property("values to 2e-6", 0.05, sizes(NORMS), LAYERS, rtol=2e-6),
        Property("inputs left alone", 0.05, untouched, LAYERS, needs=_NONE),
    ),
    (activation_scale,),
)
GRADIENTS = Check(
    "gradient_scale",
    "signal",
    (
        Property("dx without a norm", 0.15, gradients("dx", ("none",)), LAYERS),
        Property("dx with LayerNorm", 0.2, gradients("dx", ("layernorm",)), LAYERS),
        Property("dx with RMSNorm", 0.15, gradients("dx", ("rmsnorm",)), LAYERS),
        Property("dweights", 0.15, gradients("dweights"), LAYERS),
        Property("sizes of the gradients", 0.15, gradients("scales"), LAYERS),
        Property(
            "layers of other widths", 0.05, gradients("", ("none", "layernorm"), UNEVEN),
            "matrices that are not square",
        ),
        Property("small weights, eps", 0.05, gradients("", size=SMALL), _SMALL_GIVEN, rtol=1e-4),
        Property("values to 5e-6", 0.1, gradients(""), LAYERS, rtol=5e-6),
    ),
    (activation_scale, gradient_scale),
    on_failure=blame_forward,
)  # fmt: skip
CHECKS = (ACTIVATIONS, GRADIENTS, RATE, SPLIT, GROWTH)


def check_activation_scale(activation_scale: Callable[..., Any], points: float) -> float:
    """Grade the measurement of activations.

    Parameters
    ----------
    activation_scale : callable
        ``activation_scale(x, weights, norm) -> out, scales, cache``.
    points : float
        What a right answer is worth.

    Returns
    -------
    float
        The score, between 0 and `points`.
    """
    return ACTIVATIONS.run((activation_scale,), points)


def check_gradient_scale(
    activation_scale: Callable[..., Any], gradient_scale: Callable[..., Any], points: float
) -> float:
    """Grade the measurement of gradients with the cache of the same student's forward pass.

    Parameters
    ----------
    activation_scale, gradient_scale : callable
        ``gradient_scale(dout, cache) -> dx, dweights, scales``.
    points : float
        What a right answer is worth.

    Returns
    -------
    float
        The score, between 0 and `points`.
    """
    return GRADIENTS.run((activation_scale, gradient_scale), points)


def check_effective_rate(effective_rate: Callable[..., Any], points: float) -> float:
    """Grade ``effective_rate(weight, learning_rate) -> float``; the score is in [0, points]."""
    return RATE.run((effective_rate,), points)


def check_split_gradient(split_gradient: Callable[..., Any], points: float) -> float:
    """Grade ``split_gradient(weight, gradient) -> along, across``; score in [0, points]."""
    return SPLIT.run((split_gradient,), points)


def check_weight_growth(weight_growth: Callable[..., Any], points: float) -> float:
    """Grade ``weight_growth(weight, gradient, learning_rate, weight_decay) -> float``."""
    return GROWTH.run((weight_growth,), points)
