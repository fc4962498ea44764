"""Claims about dropout against weight decay, read from the stored grid of ten splits."""

from functools import cache
from typing import Any

import numpy as np

from layerlab.experiments import stored
from layerlab.ledger.claim import Bounds, Claim, between, exactly, near
from layerlab.ledger.formulas import Floats

DECAYS, RATES = (0.0, 0.3, 1.0, 3.0, 10.0), (0.0, 0.1, 0.3, 0.5, 0.7)
UP, DOWN = (1e-4, 9.0), (-9.0, -1e-4)


def corrected_error(differences: Floats, train: int = 120, held_out: int = 80) -> float:
    """Compute the standard error of a mean over splits that share examples (Nadeau, Bengio)."""
    factor = np.sqrt(1 / len(differences) + held_out / train)
    return float(differences.std(ddof=1) * factor)


@cache
def _row(data: str, p: float, decay: float, wrong_labels: float = 0.0) -> dict[str, Any]:
    grid = stored("dropout_grid")
    return grid.row(data=data, p=p, decay=decay, wrong_labels=wrong_labels)


def _values(
    data: str, p: float, decay: float, steps: int, what: str, wrong_labels: float = 0.0
) -> Floats:
    """Values of the ten splits after some steps."""
    row = _row(data, p, decay, wrong_labels)
    return np.array(row[what][row["looks"].index(steps)])


def _difference(data: str, p: float, decay: float, steps: int, wrong_labels: float = 0.0) -> Floats:
    """Cross-entropy with dropout minus that without, by split."""
    with_p, without = (
        _values(data, rate, decay, steps, "cross_entropy", wrong_labels) for rate in (p, 0.0)
    )
    return with_p - without


def _along_rates(decay: float) -> Floats:
    """Mean changes for p = 0.1, 0.3, 0.5, 0.7 on clouds, and the error of that for 0.5."""
    differences = [_difference("clouds", p, decay, 3_000) for p in RATES[1:]]
    return np.array([*(d.mean() for d in differences), corrected_error(differences[2])])


def _long(data: str) -> Floats:
    """Mean changes for p = 0.5 after 12,000 steps, at decays 0, 1, 3 and 10."""
    return np.array([_difference(data, 0.5, decay, 12_000).mean() for decay in (0, 1, 3, 10)])


def _pair(data: str, decay: float, steps: int, what: str) -> Floats:
    """Mean over the splits without dropout and with p = 0.5."""
    return np.array([_values(data, p, decay, steps, what).mean() for p in (0.0, 0.5)])


def _with_error(data: str, decay: float, steps: int, wrong_labels: float = 0.0) -> Floats:
    """Mean change for p = 0.5, its error, and how many of ten splits are worse."""
    change = _difference(data, 0.5, decay, steps, wrong_labels)
    return np.array([change.mean(), corrected_error(change), (change > 0).sum()])


def _both(decay: float, steps: int, wrong_labels: float = 0.0) -> Floats:
    """Give the same for clouds and questions."""
    return np.concatenate(
        [_with_error(data, decay, steps, wrong_labels) for data in ("clouds", "questions")]
    )


def _both_pairs(what: str) -> Floats:
    """Means without decay after 3,000 steps, for clouds and questions."""
    return np.concatenate([_pair(data, 0.0, 3_000, what) for data in ("clouds", "questions")])


def _accuracy() -> Floats:
    """Change in percent, its error and their ratio, for decays 0 and 3 and both data sets."""
    numbers: list[float] = []
    for decay in (0.0, 3.0):
        for data in ("clouds", "questions"):
            with_half, without = (_values(data, p, decay, 3_000, "accuracy") for p in (0.5, 0.0))
            change = 100 * (with_half - without)
            error = corrected_error(change)
            numbers += [change.mean(), error, abs(change.mean()) / error]
    return np.array(numbers)


def _collapse() -> Floats:
    return np.array([_values("clouds", p, 10.0, 3_000, "accuracy").mean() for p in (0.0, 0.7)])


def _share() -> Floats:
    """Best cross-entropy of all cells minus the best without dropout, by length and data."""
    shares = []
    for steps, decays, rates in (
        (3_000, (*DECAYS, 6.0), RATES),
        (12_000, (0.0, 1.0, 3.0, 10.0), (0, 0.5)),
    ):
        for data in ("clouds", "questions"):
            means = np.array(
                [
                    [_values(data, p, decay, steps, "cross_entropy").mean() for decay in decays]
                    for p in rates
                ]
            )
            shares.append(means.min() - means[0].min())
    return np.array(shares)


def _grid(decay: float, claimed: str, bounds: Bounds, remark: str = "") -> Claim:
    return Claim(
        f"1f-decay-{decay:g}".replace(".", ""),
        "post",
        f"Decay {decay:g}, 3,000 steps: change of the cross-entropy for p = 0.1, 0.3, 0.5, 0.7.",
        claimed,
        "holds",
        lambda: _along_rates(decay),
        bounds + between(0, 0.5),
        "{:+.3f}, {:+.3f}, {:+.3f}, {:+.3f} (clouds; the third ± {:.3f})",
        remark=remark,
    )


CHANGE = "{:+.3f} ± {:.3f}, {:.0f} of 10 splits worse"
TWO = f"clouds {CHANGE}; questions {CHANGE}"
TRIPLE = between(-99, 99, 2)
WORSE, BETTER = (UP, *between(0, 1), *between(9, 10)), (DOWN, *between(0, 1), *between(0, 2))

ROWS = (
    Claim(
        "1f-1", "post",
        "Trained long without decay, dropout of 0.5 worsens the cross-entropy of held-out "
        "examples.",
        "+0.546 ± 0.132", "holds if", lambda: _both(0.0, 3_000), WORSE * 2, TWO,
        remark="On hard data of few classes, and after enough steps (rows 1f-2 and 1f-8). Stored "
        "results of ten splits, here and below: 120 examples for training, 80 held out, 3,000 "
        "steps unless said otherwise. The data differ from the post's, so signs and sizes are "
        "compared, not digits.",
        cites=("nadeau2003",),
    ),
    Claim(
        "1f-2", "post", "It does so after any training.", "worse", "corrected",
        lambda: _both(0.0, 500), BETTER * 2, TWO + " (500 steps)", refutes=WORSE * 2,
        remark="Early on dropout helps. It takes thousands of steps until it does harm.",
    ),
    Claim(
        "1f-3", "post", "Dropout alone widens the gap between the two largest logits.",
        "3.85 to 6.93", "holds", lambda: _both_pairs("gap"),
        (between(3, 7) + between(5, 14)) * 2,
        "clouds {:.2f} to {:.2f}, questions {:.2f} to {:.2f}",
    ),
    Claim(
        "1f-4", "post", "It makes wrong answers surer.", "0.752 to 0.860", "holds",
        lambda: _both_pairs("sure_when_wrong"), near(0.8, 0.88, 0.82, 0.88, within=0.06),
        "clouds {:.3f} to {:.3f}, questions {:.3f} to {:.3f}",
    ),
    Claim(
        "1f-5", "post", "With decay 3 dropout of 0.5 lowers the cross-entropy.",
        "−0.028 ± 0.025", "holds", lambda: _both(3.0, 3_000), BETTER * 2, TWO,
    ),
    Claim(
        "1f-6", "post", "12,000 steps: the change for p = 0.5 at decay 0, 1, 3 and 10.",
        "+1.380, −0.167, −0.236, +0.164", "holds",
        lambda: np.append(_long("questions"), _long("clouds")), (UP, DOWN, DOWN, UP) * 2,
        "questions {:+.2f}, {:+.2f}, {:+.2f}, {:+.2f}; clouds {:+.2f}, {:+.2f}, {:+.2f}, {:+.2f}",
    ),
    _grid(0, "+0.113, +0.347, +0.546, +0.397", (UP,) * 4),
    _grid(0.3, "−0.003, +0.021, +0.065, +0.062", (*near(0, within=0.1), UP, UP, UP)),
    _grid(1, "−0.011, −0.014, −0.033, −0.070", (*near(0, within=0.1), DOWN, DOWN, DOWN)),
    _grid(3, "−0.003, −0.010, −0.028, −0.004", (DOWN,) * 4),
    _grid(10, "+0.022, +0.081, +0.164, +0.306", (UP,) * 4, "Too much of both underfits."),
    Claim(
        "1f-7", "post", "p = 0.7 with decay 10 loses the accuracy.", "0.670 to 0.443", "holds",
        _collapse, between(0.6, 0.9) + between(0.15, 0.5), "{:.3f} to {:.3f} (clouds)",
    ),
    Claim(
        "1f-8", "course", "Where the classes are far apart dropout alone does no harm.",
        "no effect", "holds", lambda: _with_error("far clouds", 0.0, 3_000),
        between(-0.3, 0.05) + between(0, 0.3) + between(0, 5), CHANGE,
    ),
    Claim(
        "1f-9", "course", "With a fifth of the training labels wrong dropout alone helps.",
        "lower", "corrected", lambda: _both(0.0, 3_000, 0.2), WORSE * 2, TWO, refutes=BETTER * 2,
        remark="We found it to help on ten classes of digits. On four classes it does not.",
    ),
    Claim(
        "1f-10", "post", "The accuracy does not change beyond its error.", "no change", "holds",
        _accuracy, (TRIPLE + between(0, 2)) * 4,
        "without decay {0:+.1f} ± {1:.1f} % (clouds) and {3:+.1f} ± {4:.1f} % (questions), "
        "with decay 3 {6:+.1f} ± {7:.1f} % and {9:+.1f} ± {10:.1f} %",
        remark="Nowhere by two errors.",
    ),
    Claim(
        "1f-11", "post", "What dropout adds beyond the best decay.",
        "−0.022, −0.285, −0.191, −0.395", "corrected", _share,
        exactly(0) + between(-0.15, 0) + exactly(0, 0),
        "3,000 steps: clouds {:.3f}, questions {:.3f}; 12,000 steps, p = 0.5: {:.3f}, {:.3f}",
        refutes=between(-9, -0.02, 4),
        remark="It depends on how fine the grid of decays is. The post's goes from 3 to 10, ours "
        "has 6 between them. State the gain at the same decay, as row 1f-6 does.",
    ),
)  # fmt: skip
