"""Claims about the size of the first weights."""

from functools import cache

import numpy as np

from layerlab.activation_scale import draws, measure
from layerlab.activations import ACTIVATIONS
from layerlab.ledger.claim import Claim, Numbers, about, between, exactly, near
from layerlab.ledger.formulas import Floats, rms

HE = 0.0625
SEEDS = 20
STEPS = 10


def _one_layer() -> Floats:
    """Var(y) over n_in Var(w) mean(x**2) for three numbers of inputs."""
    rng, ratios = np.random.default_rng(0), []
    for n in (64, 512, 2048):
        w, x = 0.3 * rng.normal(size=(n, 400)), rng.normal(size=(500, n))
        ratios.append((x @ w).var() / (n * 0.3**2 * (x**2).mean()))
    return np.array(ratios)


@cache
def _ends() -> Floats:
    """Send one input through ten ReLU layers: standard deviation of the outputs, by seed and start.

    The starts are 1, He's and 0.01, with the same draws.
    """
    stds = np.array([[1.0], [HE], [0.01]])
    ends = []
    for seed in range(SEEDS):
        rng = np.random.default_rng(seed)
        h = np.tile(rng.normal(size=512), (3, 1))
        for _ in range(STEPS):
            h = np.maximum(stds * (h @ rng.normal(size=(512, 512))), 0)
        ends.append(h.std(1))
    return np.array(ends)


def _end(start: int) -> Floats:
    sizes = _ends()[:, start]
    return np.array([np.median(sizes), sizes.min(), sizes.max()])


def _ratios() -> Numbers:
    """With the same draws: 1 over He, 0.01 over He by its tenth power; and as claimed."""
    one, he, small = _ends()[0]
    return one / he, small / he / 0.16**STEPS, 8e11 / 0.9


def _relu_moments() -> Numbers:
    cut = np.maximum(np.random.default_rng(1).normal(size=1_000_000), 0)
    return float((cut**2).mean()), float(cut.var())


def _relu_size() -> Numbers:
    square, var = _relu_moments()
    return float(np.sqrt(square)), float(np.sqrt(var))


def _fifty() -> Floats:
    """Sizes after 50 layers: tanh with Xavier and He, ReLU with He and Xavier."""
    x, weights = draws(50, 512, 16, np.random.default_rng(0))
    xavier, he = np.sqrt(1 / 512), np.sqrt(2 / 512)
    settings = (("tanh", xavier), ("tanh", he), ("relu", he), ("relu", xavier))
    return np.array(
        [
            measure(x, weights, None, 50, 512, std, ACTIVATIONS.index(name), 0)[0][-1]
            for name, std in settings
        ]
    )


def _sums() -> Floats:
    """Size of a sum of 2L unit terms for L = 2, 12, 48, scaled by 1 / sqrt(2L)."""
    rng = np.random.default_rng(0)
    return np.array(
        [rms(rng.normal(size=(2 * L, 4096)).sum(0)) / np.sqrt(2 * L) for L in (2, 12, 48)]
    )


def _stream(blocks: int, scaled: bool) -> float:
    """Size of a residual stream after 2 * blocks random pre-norm layers."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(32, 128))
    for _ in range(2 * blocks):
        w = rng.normal(size=(128, 128)) / np.sqrt(128)
        update = x / np.sqrt((x**2).mean(-1, keepdims=True)) @ w
        x = x + update / (np.sqrt(2 * blocks) if scaled else 1)
    return rms(x)


def _streams() -> Floats:
    return np.array([_stream(blocks, scaled) for scaled in (False, True) for blocks in (2, 12, 48)])


RANGE = "median {:.1e}, from {:.1e} to {:.1e} over 20 draws"

ROWS = (
    Claim(
        "25",
        "notes",
        "Var(y) = n Var(w) Var(x) for n inputs.",
        "ratio 1",
        "holds",
        _one_layer,
        about(1, 1, 1, share=0.02),
        "ratio {:.3f}, {:.3f} and {:.3f} for 64, 512 and 2,048 inputs",
    ),
    Claim(
        "26", "notes", "1.5 to the 50th power.", "6 · 10⁸", "holds",
        lambda: 1.5**50, about(6e8, share=0.1), "{:.2e}",
    ),
    Claim(
        "27", "notes", "0.5 to the 50th power is almost nothing.", "almost 0", "holds",
        lambda: 0.5**50, between(0, 1e-14), "{:.1e}",
    ),
    Claim(
        "28", "notes", "He's standard deviation for 512 inputs, √(2/512).", "0.0625", "holds",
        lambda: np.sqrt(2 / 512), exactly(HE), "{}",
    ),
    Claim(
        "29",
        "notes",
        "Ten ReLU layers of 512 units, weights of standard deviation 1: that of the output.",
        "8 · 10¹¹",
        "holds if",
        lambda: _end(0),
        between(4.5e11, 1.8e12, 3),
        RANGE,
        remark="One draw of many: within a factor of 2 of 9 · 10¹¹.",
    ),
    Claim(
        "30",
        "notes",
        "The same with standard deviation 0.01.",
        "8 · 10⁻⁹",
        "holds if",
        lambda: _end(2),
        between(4.5e-9, 1.8e-8, 3),
        RANGE,
        remark="As row 29: within a factor of 2 of 9 · 10⁻⁹.",
    ),
    Claim(
        "31",
        "notes",
        "The same with He's 0.0625.",
        "0.9",
        "holds if",
        lambda: _end(1),
        between(0.5, 1.2, 3),
        "median {:.2f}, from {:.2f} to {:.2f} over 20 draws",
        remark="As row 29; theory expects 0.83.",
    ),
    Claim(
        "32",
        "notes",
        "The three sizes of rows 29 to 31 describe the same network.",
        "8 · 10¹¹, 8 · 10⁻⁹ and 0.9",
        "corrected",
        _ratios,
        about(16.0**10, 1, share=1e-5) + about(8.9e11, share=0.01),
        "with the same draws 1 over He is {:.4e}, which is 16¹⁰; 0.01 over He is {:.6f} times "
        "0.16¹⁰; the claimed values are {:.1e} apart",
        refutes=about(16.0**10, 1, 16.0**10, share=0.1),
        remark="ReLU passes factors through, so the ratio is exact. 8 · 10¹¹ belongs to 0.73.",
    ),
    Claim(
        "33",
        "notes",
        "ReLU halves the variance.",
        "1/2",
        "corrected",
        _relu_moments,
        near(0.5, 0.341, within=5e-3),
        "mean square {:.3f}, variance {:.3f}",
        refutes=between(0, 1) + near(0.5, within=0.05),
        remark="It halves the mean of the squares, which is what the next layer multiplies.",
        cites=("he2015",),
    ),
    Claim(
        "34",
        "notes",
        "Xavier's 2/(n_in + n_out) is for tanh, He's 2/n_in for ReLU.",
        "two rules",
        "holds",
        _fifty,
        between(0.08, 0.12) + between(0.5, 0.62) + between(0.3, 2.5) + between(1e-9, 1e-7),
        "after 50 layers: tanh with Xavier {:.2f}, with He {:.2f}; ReLU with He {:.2f}, "
        "with Xavier {:.1e}",
        cites=("glorot2010", "he2015"),
    ),
    Claim(
        "35a",
        "notes",
        "2L layers are added to the residual vector, so GPT-2 divides their start by √(2L).",
        "√(2L)",
        "holds",
        _sums,
        about(1, 1, 1, share=0.1),
        "the sum of 2L terms of size 1 over √(2L) is {:.2f}, {:.2f} and {:.2f} for L = 2, 12, 48",
        cites=("radford2019",),
    ),
    Claim(
        "35b",
        "notes",
        "With that factor the size does not depend on the depth.",
        "no number",
        "holds",
        _streams,
        about(np.sqrt(5), 5, np.sqrt(97), 1.42, 1.42, 1.42, share=0.1),
        "random blocks, L = 2, 12, 48: {:.2f}, {:.2f}, {:.2f} without, {:.2f}, {:.2f}, {:.2f} with",
    ),
    Claim(
        "36",
        "notes, post",
        "nanoGPT: matrices start with 0.02, residual projections with 0.02/√(2L); dropout 0 for "
        "pre-training and 0.1 or more for fine-tuning; no decay for gains and biases.",
        "read in its code",
        "literature",
        remark="Decay is for arrays of two axes or more, so embeddings do decay.",
        cites=("karpathy_nanogpt",),
    ),
    Claim(
        "41",
        "post",
        "The ReLU of a standard normal number has size 0.71.",
        "0.71",
        "holds",
        _relu_size,
        near(0.71, 0.584, within=5e-3),
        "root mean square {:.4f}; the standard deviation is {:.3f}",
        remark="Size means root mean square.",
    ),
)  # fmt: skip
