"""How deep a network may be before its start decides: with and without a norm.

Each cell trains three networks on three splits of the clouds, for a depth, a factor on He's
standard deviation, a norm and a learning rate.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from layerlab.deep_net import NORMS, Setting, train
from layerlab.experiments.definition import Cell, Experiment
from layerlab.experiments.learning_rate_grid import splits

DEPTHS = (2, 5, 10, 20, 40)
GAINS = (0.5, 1.0, 2.0)
RATES = (1e-3, 1e-2, 1e-1)
STEPS = 500


def measure(cell: Cell, seed: int) -> Mapping[str, Any]:
    """Train one network on each split.

    Returns
    -------
    dict
        ``loss``, the mean training cross-entropy of each split after the last step.
    """
    x, labels = splits("clouds", np.random.default_rng(seed))
    setting = Setting(
        depth=cell["depth"], std=0.0, norm=cell["norm"], optimizer="sgd",
        rate=cell["rate"], gain=cell["gain"],
    )  # fmt: skip
    return {"loss": np.round(train(x, labels, setting, (cell["steps"],), seed)[0], 4).tolist()}


def _cell(depth: int, gain: float, norm: str, rate: float, steps: int = STEPS) -> Cell:
    return {"depth": depth, "gain": gain, "norm": norm, "rate": rate, "steps": steps}


EXPERIMENT = Experiment(
    name="depth_instability",
    cells=tuple(
        _cell(depth, gain, norm, rate)
        for depth in DEPTHS
        for gain in GAINS
        for norm in NORMS
        for rate in RATES
    ),
    measure=measure,
    seed=0,
    small=(
        _cell(5, 1.0, "none", 1e-2, steps=30),
        _cell(5, 2.0, "layernorm", 1e-2, steps=30),
    ),
)
