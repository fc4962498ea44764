"""Claims about dropout and about comparing trained networks."""

from itertools import product

import numpy as np

from layerlab.ledger.claim import Claim, Numbers, below, between, exactly, near
from layerlab.ledger.formulas import Floats, softmax

P = 0.3
DRAWS = 1_000_000


def _by_hand() -> Floats:
    return np.ones(4) * np.array([1, 0, 1, 1]) / (1 - 0.5)


def _average() -> Numbers:
    """Mean of dropped ones, and its distance from 1 in standard errors."""
    kept = np.random.default_rng(0).random(DRAWS) >= P
    mean = float(kept.mean() / (1 - P))
    return mean, abs(mean - 1) / np.sqrt(P / (1 - P) / DRAWS)


def _backward() -> float:
    """Largest difference between the mask's backward pass and the slopes of the forward pass."""
    rng = np.random.default_rng(1)
    x, dout, kept = rng.normal(size=20), rng.normal(size=20), rng.random(20) >= 0.5
    scaled = kept / (1 - 0.5)
    # The output is linear in x, so a whole step measures the slope without any error.
    slopes = ((x + 1) * scaled - x * scaled) * dout
    return float(np.abs(dout * scaled - slopes).max())


def _masks() -> tuple[Floats, Floats]:
    """All masks of six units, scaled, and their probabilities."""
    masks = np.array(list(product((0.0, 1.0), repeat=6)))
    kept = masks.sum(1)
    return masks / (1 - P), (1 - P) ** kept * P ** (6 - kept)


def _linear() -> float:
    rng = np.random.default_rng(2)
    x, w = rng.normal(size=6), rng.normal(size=(6, 3))
    masks, chances = _masks()
    return float(np.abs(chances @ ((masks * x) @ w) - x @ w).max())


def _softmax() -> float:
    """Full network against the weighted geometric mean of all thinned ones, renormalized."""
    rng = np.random.default_rng(2)
    x, w = rng.normal(size=6), rng.normal(size=(6, 3))
    masks, chances = _masks()
    geometric = np.exp(chances @ np.log(softmax((masks * x) @ w)))
    return float(np.abs(geometric / geometric.sum() - softmax(x @ w)).max())


def _deeper() -> float:
    """Do so with a hidden layer of ReLU; the difference is relative to the largest output."""
    rng = np.random.default_rng(2)
    x, w, w_out = rng.normal(size=6), rng.normal(size=(6, 8)), rng.normal(size=(8, 3))
    masks, chances = _masks()
    mean = chances @ (np.maximum((masks * x) @ w, 0) @ w_out)
    full = np.maximum(x @ w, 0) @ w_out
    return float(np.abs(mean - full).max() / np.abs(full).max())


def _factors() -> Floats:
    """Corrected factor of a standard error over 20 splits of 120 and 40, and the plain one."""
    return np.sqrt([1 / 20 + 40 / 120, 1 / 20])


def _differences() -> Floats:
    """Subtract printed values: cross-entropy without and with decay; and the ratio of the gaps."""
    return np.array([1.661 - 1.115, 0.781 - 0.809, 6.93 / 3.85])


ROWS = (
    Claim(
        "19",
        "notes",
        "Ones with p = 0.5 and the mask (1, 0, 1, 1).",
        "(2, 0, 2, 2)",
        "holds",
        _by_hand,
        exactly(2, 0, 2, 2),
        "({:.0f}, {:.0f}, {:.0f}, {:.0f})",
    ),
    Claim(
        "20",
        "notes, post",
        "The mean of the output over masks is the input.",
        "1",
        "holds",
        _average,
        between(0.99, 1.01) + below(5),
        "{:.6f} over a million draws with p = 0.3, {:.1f} standard errors from 1",
    ),
    Claim(
        "21",
        "notes, post",
        "The backward pass uses the same mask and the same scale.",
        "a formula",
        "holds",
        _backward,
        below(1e-14),
        "differs from the slopes by {:.0e}",
    ),
    Claim(
        "22",
        "post",
        "For one linear layer the full network is the mean of all thinned ones.",
        "exact",
        "holds",
        _linear,
        below(1e-12),
        "difference {:.0e} over all 64 masks of six units",
    ),
    Claim(
        "23",
        "post",
        "With a softmax on top it is their renormalized geometric mean.",
        "exact",
        "holds",
        _softmax,
        below(1e-12),
        "difference {:.0e}",
    ),
    Claim(
        "24",
        "post",
        "Through deeper nonlinear layers this is only approximate.",
        "no number",
        "holds",
        _deeper,
        between(0.02, 5),
        "with 8 ReLU units the two differ by {:.2f} of the largest output",
    ),
    Claim(
        "43",
        "post",
        "A standard error over 20 splits of 120 and 40 examples needs the factor √(1/20 + 40/120).",
        "a formula",
        "holds",
        _factors,
        near(0.6191, 0.2236, within=5e-5),
        "{:.4f}, where independent runs would have {:.4f}",
        remark="The splits share their examples.",
        cites=("nadeau2003",),
    ),
    Claim(
        "44",
        "post",
        "Differences and ratios printed beside the dropout grid.",
        "+0.546, −0.028, gap 1.8 times as wide",
        "holds",
        _differences,
        near(0.546, -0.028, 1.8, within=1e-3),
        "{:+.3f}, {:+.3f}, {:.2f} times",
        remark="Arithmetic with the printed values. The grid itself is measured anew below.",
    ),
    Claim(
        "L5",
        "notes",
        "Dropout trains many thinned networks that share their weights.",
        "the papers' argument",
        "literature",
        remark="Rows 22 to 24 compute how far it goes.",
        cites=("hinton2012", "srivastava2014"),
    ),
    Claim(
        "L6",
        "notes",
        "PaLM was trained without dropout, and fine-tuned with 0.1.",
        "0 and 0.1",
        "literature",
        cites=("chowdhery2022",),
    ),
)
