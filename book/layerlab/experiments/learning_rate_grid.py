"""Which learning rates train a ten-layer network, by its start, its norm and its optimizer.

Each cell trains three networks on three splits of the same data. Splits, starts and batches do not
depend on the cell.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from layerlab.deep_net import NORMS, Setting, train
from layerlab.experiments.definition import Cell, Experiment
from layerlab.questions import bag_of_words
from layerlab.small_net import Floats, Ints, clouds

DATA = ("questions", "clouds")
# The tiny start, and He's.
STDS = (0.01, 0.0)
RATES = {"sgd": (1e-4, 1e-3, 1e-2, 1e-1, 1.0), "adam": (1e-5, 1e-4, 1e-3, 1e-2)}
DEPTH, STEPS, SPLITS, SHORT = 10, 1_000, 3, 300
LOOKS = (30, 100, SHORT, STEPS)


def splits(data: str, rng: np.random.Generator, count: int = SPLITS) -> tuple[Floats, Ints]:
    """Give the data in `count` random orders, shapes (count, 200, D) and (count, 200).

    Parameters
    ----------
    data : {"questions", "clouds"}
        Bags of words, or Gaussian clouds of four classes.
    rng : numpy.random.Generator
        Source of the clouds and the orders.
    count : int
        Number of orders.
    """
    x, labels = bag_of_words() if data == "questions" else clouds(rng)
    orders = np.stack([rng.permutation(len(labels)) for _ in range(count)])
    return x[orders], labels[orders]


def measure(cell: Cell, seed: int) -> Mapping[str, Any]:
    """Train one network on each split.

    Returns
    -------
    dict
        ``looks``, the steps at which was looked, and for ``loss`` a list per look with the mean
        training cross-entropy of each split.
    """
    x, labels = splits(cell["data"], np.random.default_rng(seed))
    named = ("std", "norm", "optimizer", "rate", "biased", "adam_eps")
    setting = Setting(depth=DEPTH, **{name: cell[name] for name in named})
    stops = tuple(look for look in LOOKS if look <= cell["steps"])
    losses = train(x, labels, setting, stops, seed)
    return {"looks": stops, "loss": [np.round(loss, 4).tolist() for loss in losses]}


def _cell(
    data: str, std: float, norm: str, optimizer: str, rate: float, steps: int = STEPS,
    biased: bool = True, adam_eps: float = 1e-8,
) -> Cell:  # fmt: skip
    return {
        "data": data, "std": std, "norm": norm, "optimizer": optimizer, "rate": rate,
        "steps": steps, "biased": biased, "adam_eps": adam_eps,
    }  # fmt: skip


def _cells() -> list[Cell]:
    grid = [
        _cell(data, std, norm, optimizer, rate)
        for data in DATA
        for std in STDS
        for norm in NORMS
        for optimizer, rates in RATES.items()
        for rate in rates
    ]
    # What lets Adam out of the tiny start without a norm: hidden biases, and a small eps.
    escapes = [
        _cell(data, 0.01, "none", "adam", rate, biased=biased, adam_eps=adam_eps)
        for data in DATA
        for rate in RATES["adam"]
        for biased, adam_eps in ((False, 1e-8), (True, 1e-6))
    ]
    return grid + escapes


EXPERIMENT = Experiment(
    name="learning_rate_grid",
    cells=tuple(_cells()),
    measure=measure,
    seed=0,
    small=(
        _cell("clouds", 0.01, "none", "sgd", 0.1, steps=30),
        _cell("clouds", 0.01, "layernorm", "sgd", 1e-3, steps=30),
        _cell("questions", 0.0, "rmsnorm", "adam", 1e-3, steps=30),
    ),
)
