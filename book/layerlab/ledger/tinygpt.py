"""Claims about the tiny GPT that follow from its definition."""

import math

import numpy as np

from layerlab.gradient_check import numerical_gradient, relative_error
from layerlab.ledger.claim import Claim, Numbers, below, exactly, near
from layerlab.ledger.formulas import Floats

# tinyshakespeare, and how it is cut into windows.
CHARACTERS, SYMBOLS = 1_115_394, 65
CONTEXT, STRIDE, BATCH, WIDTH, BLOCKS = 32, 16, 4, 64, 2
ROOT = math.sqrt(2 / math.pi)


def _windows(characters: int) -> int:
    """Windows of CONTEXT characters and one more to predict."""
    return (characters - CONTEXT - 1) // STRIDE + 1


def _steps() -> Numbers:
    """Windows of training and test part, steps of an epoch, of two, and steps of the test."""
    train = CHARACTERS * 9 // 10
    windows = _windows(train), _windows(CHARACTERS - train)
    steps = windows[0] // BATCH
    return float(windows[0]), float(windows[1]), steps, 2.0 * steps, float(windows[1] // BATCH)


def _parameters() -> Numbers:
    """Count the parameters, and give the number of characters."""
    norm = 2 * WIDTH
    attention = WIDTH * 3 * WIDTH + 3 * WIDTH + WIDTH * WIDTH + WIDTH
    feed_forward = WIDTH * 4 * WIDTH + 4 * WIDTH + 4 * WIDTH * WIDTH + WIDTH
    embeddings = (SYMBOLS + CONTEXT) * WIDTH
    head = norm + WIDTH * SYMBOLS + SYMBOLS
    return embeddings + BLOCKS * (2 * norm + attention + feed_forward) + head, SYMBOLS


def _gelu(x: Floats) -> Floats:
    return np.asarray(0.5 * x * (1 + np.tanh(ROOT * (x + 0.044715 * x**3))))


def _gelu_slope(x: Floats) -> Floats:
    bend = np.tanh(ROOT * (x + 0.044715 * x**3))
    inner = ROOT * (1 + 3 * 0.044715 * x**2)
    return np.asarray(0.5 * (1 + bend) + 0.5 * x * (1 - bend**2) * inner)


def _gelu_error() -> Numbers:
    """Error of the derivative, and the largest distance to the form with erf."""
    x, dout = np.random.default_rng(0).normal(size=(2, 50))
    measured = numerical_gradient(_gelu, x, dout)
    line = np.linspace(-6, 6, 4001)
    exact = np.array([0.5 * v * (1 + math.erf(v / math.sqrt(2))) for v in line])
    return relative_error(dout * _gelu_slope(x), measured), float(np.abs(_gelu(line) - exact).max())


def _clipped() -> Numbers:
    """Loss for a right logit 60 below the other: clipped, true, and slope by clip and by rule."""
    gap = 60.0
    p = math.exp(-gap) / (1 + math.exp(-gap))
    true = math.log1p(math.exp(gap))
    slope = 0.0 if p < 1e-10 else p - 1
    return -math.log(max(p, 1e-10)), true, slope, p - 1


ROWS = (
    Claim(
        "45a",
        "gpt",
        "Windows of 32 characters every 16, batches of 4: training and test windows, steps of one "
        "epoch and of two, steps of the test.",
        "1,742 test steps of (4, 32, 65)",
        "holds",
        _steps,
        exactly(62739, 6970, 15684, 31368, 1742),
        "{:,.0f} and {:,.0f}; {:,.0f} and {:,.0f}; {:,.0f}",
        remark="From the 1,115,394 characters of tinyshakespeare; two test windows are left over.",
    ),
    Claim(
        "45b",
        "gpt",
        "Two blocks of width 64 over 65 characters: number of parameters.",
        "110,529",
        "holds",
        _parameters,
        exactly(110_529, 65),
        "{:,.0f} with {:.0f} characters",
    ),
    Claim(
        "49",
        "gpt",
        "The derivative of GELU in its tanh form.",
        "a formula",
        "holds",
        _gelu_error,
        below(1e-8) + near(4.7e-4, within=1e-5),
        "differs from finite differences by {:.0e}",
        remark="Say which GELU.",
        cites=("hendrycks2016",),
    ),
    Claim(
        "50",
        "gpt",
        "Cross-entropy from a probability clipped at 1e-10.",
        "a loss and its gradient",
        "corrected",
        _clipped,
        near(23.03, 60, within=5e-3) + exactly(0) + near(-1, within=1e-9),
        "at a gap of 60 the loss is {:.2f} instead of {:.0f}; its slope is {:.0f}, but the "
        "gradient used is {:.0f}",
        refutes=near(60, 60, within=5e-3) + near(-1, -1, within=1e-9),
        remark="Value and gradient disagree below 1e-10. Use log-sum-exp on the logits.",
    ),
    Claim(
        "3-uniform",
        "course",
        "Loss of a uniform guess over 65 characters.",
        "4.174",
        "holds",
        lambda: math.log(SYMBOLS),
        near(4.174, within=1e-3),
        "{:.4f}",
    ),
)
