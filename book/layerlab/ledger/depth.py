"""Claims about how deep a network may be, read from the stored experiment."""

import numpy as np

from layerlab.experiments import stored
from layerlab.ledger.claim import Claim, below, between
from layerlab.ledger.formulas import Floats

RATES = (1e-3, 1e-2, 1e-1)


def best(depth: int, gain: float) -> Floats:
    """Give the lowest median loss over three rates: no norm, LayerNorm, RMSNorm.

    Parameters
    ----------
    depth : int
        Number of hidden layers.
    gain : float
        Factor on He's standard deviation.
    """
    results = stored("depth_instability")
    rows = [
        [results.row(depth=depth, gain=gain, norm=norm, rate=rate) for rate in RATES]
        for norm in ("none", "layernorm", "rmsnorm")
    ]
    return np.array([min(np.median(row["loss"]) for row in line) for line in rows])


SHOWS = "{:.3f} without a norm, {:.3f} with LayerNorm, {:.3f} with RMSNorm"

ROWS = (
    Claim(
        "1g-1",
        "gpt",
        "Without norms the values keep growing from layer to layer, until training fails.",
        "no number",
        "holds if",
        lambda: np.concatenate([best(20, 2.0), best(20, 1.0)[:1]]),
        between(1.3, 100) + below(0.1, 2) + below(0.1),
        "20 layers, twice He's start: " + SHOWS + "; He's own start without a norm: {:.3f}",
        refutes=between(1.3, 100) + below(0.1, 2) + between(1.3, 100),
        remark="If the start is off, and the network deep. Stored results: best of three rates "
        "after 500 steps. 100 stands for a loss that left all bounds.",
    ),
    Claim(
        "1g-2",
        "course",
        "With half of He's start the signal fades instead, and 20 layers without a norm are stuck.",
        "log 4 without a norm",
        "holds",
        lambda: best(20, 0.5),
        between(1.3, 1.45) + below(0.1, 2),
        SHOWS,
    ),
    Claim(
        "1g-3",
        "course",
        "At He's start a norm does not help ten layers: they train without one.",
        "no difference",
        "holds",
        lambda: best(10, 1.0),
        below(0.05, 3),
        SHOWS,
    ),
)
