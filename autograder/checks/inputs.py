"""Inputs that separate right from wrong: random gains, a mean, tiny spreads, odd shapes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

Rng = np.random.Generator
Array = np.ndarray


class NormInputs(NamedTuple):
    """Inputs of a normalization layer: x and dout ``(..., D)``, gamma and beta ``(D,)``."""

    x: Array
    dout: Array
    gamma: Array
    beta: Array


def norm_inputs(rng: Rng, shape: tuple[int, ...], scale: float = 1.0) -> NormInputs:
    """Draw inputs with a mean, uneven rows, and gains and shifts that hide nothing.

    With ``gamma = 1`` six known backward mistakes are invisible, with a mean of 0 three more,
    and with ones for dout the right gradient is 0.

    Parameters
    ----------
    rng : numpy.random.Generator
    shape : tuple of int
        Shape of x, features last.
    scale : float
        Factor on x.
    """
    features = shape[-1]
    spread = rng.uniform(0.5, 2.0, size=(*shape[:-1], 1))
    x = scale * (spread * rng.standard_normal(shape) + rng.uniform(0.5, 1.5))
    sign = rng.choice([-1.0, 1.0], size=features)
    gamma = sign * rng.uniform(0.5, 1.5, size=features)
    beta = rng.uniform(0.3, 1.0, size=features) * rng.choice([-1.0, 1.0], size=features)
    return NormInputs(x, rng.standard_normal(shape), gamma, beta)
