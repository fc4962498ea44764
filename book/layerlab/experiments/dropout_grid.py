"""Dropout against weight decay on small data: which helps, when, and how sure that is.

Each cell trains one network on every split of the same data. Splits, starts, batches and masks do
not depend on the cell, so that two cells can be compared split by split.
"""

from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np

from layerlab.experiments.definition import Cell, Experiment
from layerlab.questions import bag_of_words
from layerlab.small_net import CLASSES, TRAIN, Floats, Ints, clouds, train

RATES, DECAYS = (0.0, 0.1, 0.3, 0.5, 0.7), (0.0, 0.3, 1.0, 3.0, 10.0)
STEPS, LONG, SPLITS = 3_000, 12_000, 10
# Trained on for longer: without dropout and with p = 0.5.
LONG_RATES, LONG_DECAYS = (0.0, 0.5), (0.0, 1.0, 3.0, 10.0)
# Between two rows of the grid: does a finer search for the decay leave dropout anything to gain?
BETWEEN = 6.0
LOOKS = (100, 200, 500, 1_000, 2_000, STEPS, 6_000, LONG)


def looks(steps: int) -> tuple[int, ...]:
    """Give the steps after which a run of this length is looked at."""
    return (*(look for look in LOOKS if look < steps), steps)


def data(name: str, rng: np.random.Generator) -> tuple[Floats, Ints]:
    """Give examples and labels, shapes (200, D) and (200,).

    Parameters
    ----------
    name : str
        ``"questions"``, ``"clouds"``, or ``"far clouds"``, which overlap less.
    rng : numpy.random.Generator
        Source of the clouds.
    """
    if name == "questions":
        return bag_of_words()
    return clouds(rng, distance={"clouds": 2.0, "far clouds": 3.5}[name])


def mislabel(labels: Ints, share: float, rng: np.random.Generator) -> Ints:
    """Give this share of the labels, shape (R, N), another class each."""
    moved = rng.random(labels.shape) < share
    return np.where(moved, (labels + rng.integers(1, CLASSES, labels.shape)) % CLASSES, labels)


def measure(cell: Cell, seed: int) -> Mapping[str, Any]:
    """Train one network on each split and look at the held-out examples.

    Returns
    -------
    dict
        ``looks``, the steps at which was looked, and for ``cross_entropy``, ``gap``, ``accuracy``
        and ``sure_when_wrong`` a list per look with a number per split.
    """
    rng = np.random.default_rng(seed)
    x, labels = data(cell["data"], rng)
    orders = np.stack([rng.permutation(len(labels)) for _ in range(cell["splits"])])
    x, labels = x[orders], labels[orders]
    if cell["wrong_labels"]:
        labels[:, :TRAIN] = mislabel(labels[:, :TRAIN], cell["wrong_labels"], rng)
    stops = looks(cell["steps"])
    p, decay = (np.full(cell["splits"], cell[name]) for name in ("p", "decay"))
    seen = train(x, labels, p, decay, stops, seed)
    names = ("cross_entropy", "gap", "accuracy", "sure_when_wrong")
    return {"looks": stops} | {
        name: [np.round(getattr(look, name), 4).tolist() for look in seen] for name in names
    }


def _cell(
    data: str, p: float, decay: float, steps: int, splits: int = SPLITS, wrong_labels: float = 0.0
) -> Cell:
    return {
        "data": data, "p": p, "decay": decay, "steps": steps, "splits": splits,
        "wrong_labels": wrong_labels,
    }  # fmt: skip


def _cells() -> list[Cell]:
    grid = []
    for name, p, decay in product(("clouds", "questions"), RATES, DECAYS):
        long = p in LONG_RATES and decay in LONG_DECAYS
        grid.append(_cell(name, p, decay, LONG if long else STEPS))
    finer = [_cell(name, p, BETWEEN, STEPS) for name, p in product(("clouds", "questions"), RATES)]
    easy = [_cell("far clouds", p, 0.0, STEPS) for p in LONG_RATES]
    noisy = [
        _cell(name, p, 0.0, STEPS, wrong_labels=0.2)
        for name, p in product(("clouds", "questions"), LONG_RATES)
    ]
    return grid + finer + easy + noisy


EXPERIMENT = Experiment(
    name="dropout_grid",
    cells=tuple(_cells()),
    measure=measure,
    seed=0,
    small=tuple(
        _cell(name, p, 3.0, 150, splits=3)
        for name, p in product(("clouds", "questions"), LONG_RATES)
    ),
)
