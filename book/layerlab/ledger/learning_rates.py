"""Claims about which learning rates train a deep net, read from the stored grid."""

from collections.abc import Callable

import numpy as np

from layerlab.experiments import stored
from layerlab.experiments.learning_rate_grid import RATES, measure
from layerlab.ledger.claim import Bounds, Claim, Numbers, about, between, near
from layerlab.ledger.formulas import Floats

TINY, HE = 0.01, 0.0
DATA = ("questions", "clouds")


def medians(
    std: float, norm: str, optimizer: str, biased: bool = True, eps: float = 1e-8
) -> Floats:
    """Give the median final loss of three splits, shape (2, rates): questions, then clouds."""
    grid = stored("learning_rate_grid")
    cell = {"std": std, "norm": norm, "optimizer": optimizer, "biased": biased, "adam_eps": eps}
    rows = [[grid.row(data=data, rate=rate, **cell) for rate in RATES[optimizer]] for data in DATA]
    return np.array([[np.median(row["loss"][-1]) for row in line] for line in rows])


def _at(
    places: slice, std: float, norm: str, optimizer: str, biased: bool = True, eps: float = 1e-8
) -> Callable[[], Floats]:
    """Make a function that gives the medians of some of the rates."""
    return lambda: medians(std, norm, optimizer, biased, eps)[:, places]


def _best(std: float, optimizer: str) -> float:
    """Rate with the lowest loss on the questions, with LayerNorm."""
    return RATES[optimizer][int(np.argmin(medians(std, "layernorm", optimizer)[0]))]


def _shift() -> Numbers:
    """Best rate of He's start over that of the tiny start, for gradient descent and Adam."""
    descent, adam = (_best(HE, name) / _best(TINY, name) for name in ("sgd", "adam"))
    return descent, adam


def _short() -> Floats:
    """Medians after 300 steps on clouds, trained here: no norm, LayerNorm, He with LayerNorm."""
    runs = ((TINY, "none", 0.1), (TINY, "layernorm", 1e-3), (HE, "layernorm", 0.1))
    cell = {"data": "clouds", "optimizer": "sgd", "steps": 300, "biased": True, "adam_eps": 1e-8}
    losses = [
        measure(cell | {"std": std, "norm": norm, "rate": rate}, 0)["loss"][-1]
        for std, norm, rate in runs
    ]
    return np.median(losses, axis=1)


def _both(*bounds: Bounds) -> Bounds:
    """Bounds of each rate, for the questions and again for the clouds."""
    return tuple(bound for pairs in bounds for bound in pairs) * 2


def _shows(rates: int) -> str:
    numbers = ", ".join(["{:.3f}"] * rates)
    return f"questions {numbers}; clouds {numbers}"


STUCK, TRAINED = between(1.3, 1.45), between(0, 0.15)
ALL = slice(None)
SGD = "gradient descent with rates 1e-4, 0.001, 0.01, 0.1"

ROWS = (
    Claim(
        "1e-1", "post",
        "Ten hidden layers, start 0.01, no norm, gradient descent: the loss stays at log 4.",
        "1.386 to 1.392 at every rate", "holds", _at(ALL, TINY, "none", "sgd"), STUCK * 10,
        _shows(5) + " (rates 1e-4 to 1)",
        remark="Stored results, here and below: medians of three splits after 1,000 steps. The "
        "questions and the clouds are not the post's data.",
    ),
    Claim(
        "1e-2", "post", "Nor does any rate of Adam move it.", "1.386 to 1.387", "corrected",
        _at(ALL, TINY, "none", "adam"),
        _both(STUCK, between(0.05, 1.2), between(0.02, 1.45), STUCK),
        _shows(4) + " (rates 1e-5 to 0.01)", refutes=STUCK * 8,
        remark="At 1e-4 it gets away. The biases of the hidden layers have gradients above Adam's "
        "eps. Adam moves each by about the rate per step, and the signal comes back through them.",
    ),
    Claim(
        "1e-3", "course", "Without biases in the hidden layers Adam stays at log 4 too.", "1.386",
        "holds", _at(ALL, TINY, "none", "adam", biased=False), STUCK * 8,
        _shows(4) + " (rates 1e-5 to 0.01)",
    ),
    Claim(
        "1e-4", "course", "With biases, but an eps of 1e-6, it stays as well.", "1.386",
        "holds", _at(ALL, TINY, "none", "adam", eps=1e-6), STUCK * 8,
        _shows(4) + " (rates 1e-5 to 0.01)",
        remark="An eps above the gradients of the biases keeps Adam's steps small.",
    ),
    Claim(
        "1e-5", "post", f"Start 0.01 with LayerNorm, {SGD}.", "0.872, 0.069, 1.387, 1.387",
        "holds", _at(slice(0, 4), TINY, "layernorm", "sgd"),
        _both(near(0.872, within=0.15), TRAINED, between(0.9, 1.45), STUCK), _shows(4),
    ),
    Claim(
        "1e-6", "post", "The same with Adam and rates 1e-5, 1e-4, 0.001, 0.01.",
        "0.808, 0.072, 1.386, 1.387", "holds if", _at(ALL, TINY, "layernorm", "adam"),
        _both(near(0.808, within=0.15), TRAINED, between(0.2, 1.45), STUCK), _shows(4),
        refutes=_both(near(0.808, within=0.15), TRAINED, STUCK, STUCK),
        remark="At 0.001 the questions are stuck and the clouds are not quite.",
    ),
    Claim(
        "1e-7", "post", "RMSNorm, gradient descent with rates 1e-4, 0.001, 0.01.",
        "0.798, 0.062, 1.386", "holds", _at(slice(0, 3), TINY, "rmsnorm", "sgd"),
        _both(near(0.798, within=0.15), TRAINED, between(1.1, 1.45)), _shows(3),
    ),
    Claim(
        "1e-8", "post", "RMSNorm, Adam with rates 1e-5, 1e-4, 0.001.", "0.722, 0.055, 1.196",
        "holds", _at(slice(0, 3), TINY, "rmsnorm", "adam"),
        _both(near(0.722, within=0.15), TRAINED, between(0.8, 1.45)), _shows(3),
    ),
    Claim(
        "1e-9", "post",
        "He's start without a norm, gradient descent with rates 0.001, 0.01, 0.1, 1.",
        "1.286, 0.002, 0.000, infinite", "holds", _at(slice(1, 5), HE, "none", "sgd"),
        _both(between(0.3, 1.4), between(0, 0.02), between(0, 0.01), between(1.3, 100)), _shows(4),
        remark="100 stands for a loss that left all bounds.",
    ),
    Claim(
        "1e-10", "post", "He's start with LayerNorm, the same rates.",
        "0.226, 0.006, 0.001, 1.392", "holds", _at(slice(1, 5), HE, "layernorm", "sgd"),
        _both(between(0.1, 0.7), between(0, 0.03), between(0, 0.01), between(0.5, 1.6)), _shows(4),
    ),
    Claim(
        "1e-11", "post", "The same with Adam and rates 1e-5, 1e-4, 0.001, 0.01.",
        "0.803, 0.010, 0.000, 0.506", "holds", _at(ALL, HE, "layernorm", "adam"),
        _both(near(0.803, within=0.15), between(0, 0.03), between(0, 0.01), between(0, 0.8)),
        _shows(4),
    ),
    Claim(
        "1e-12", "post",
        "The tiny start needs a smaller rate than He's, by 100 with gradient descent and by 10 "
        "with Adam.",
        "100 and 10", "holds", _shift, about(100, 10, share=1e-9), "{:.0f} and {:.0f}",
        remark="Best rates of rows 1e-5, 1e-6, 1e-10 and 1e-11. The gradient is inverse to the "
        "weights: row 1c-4.",
    ),
    Claim(
        "1e-13", "course",
        "A shorter run shows the same: 0.01 without a norm at rate 0.1, 0.01 with LayerNorm at "
        "0.001, He with LayerNorm at 0.1.",
        "above 1.3, below 0.6, below 0.05", "holds", _short,
        between(1.3, 1.45) + between(0, 0.6) + between(0, 0.05), "{:.3f}, {:.3f}, {:.3f}",
        remark="300 steps on clouds, trained when this page was built.",
    ),
)  # fmt: skip
