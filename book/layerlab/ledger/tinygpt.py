"""Claims about the tiny GPT that need no training."""

import math
from collections.abc import Callable
from functools import cache
from timeit import repeat

import numpy as np

from layerlab.corpus import CharacterData
from layerlab.gradient_check import numerical_gradient, relative_error
from layerlab.ledger.claim import Claim, Numbers, below, between, exactly, near
from layerlab.ledger.formulas import EPS, Floats
from layerlab.normalize import normalize
from layerlab.tinygpt import Configuration, Parameters
from layerlab.tinygpt.loops import embed_backward
from layerlab.tinygpt.plain import cross_entropy, gelu_backward, gelu_forward
from layerlab.tinygpt.training import batches

# Size of tinyshakespeare. Which characters they are plays no part in how it is cut.
CHARACTERS = 1_115_394


@cache
def _steps() -> Numbers:
    """Windows of training and test part, steps of an epoch and of all, and of the test."""
    config = Configuration()
    alphabet = "".join(chr(40 + i) for i in range(config.vocabulary))
    text = (alphabet * (CHARACTERS // len(alphabet) + 1))[:CHARACTERS]
    data = CharacterData(text, config.context, config.stride)
    parts = data.train, data.test
    windows = [len(data.windows(part)[0]) for part in parts]
    train, test = (len(batches(data, part, config.batch)[0]) for part in parts)
    return *windows, train, train * config.epochs, test


def _parameters() -> Numbers:
    config = Configuration()
    return Parameters(config).flat.size, config.vocabulary


def _gelu_error() -> Numbers:
    """Error of the derivative, and the largest distance to the form with erf."""
    x, dout = np.random.default_rng(0).normal(size=(2, 50))
    measured = numerical_gradient(lambda v: gelu_forward(v)[0], x, dout)
    error = relative_error(gelu_backward(dout, gelu_forward(x)[1]), measured)
    line = np.linspace(-6, 6, 4001)
    exact = np.array([0.5 * v * (1 + math.erf(v / math.sqrt(2))) for v in line])
    return error, float(np.abs(gelu_forward(line)[0] - exact).max())


def _clipped() -> Floats:
    """Loss for a right logit 60 below the other: clipped, and true; slope of each."""
    logits, targets = np.array([[-60.0, 0.0]]), np.array([0])

    def clipped(v: Floats) -> float:
        p = np.exp(v[0, 0]) / np.exp(v).sum()
        return -math.log(max(p, 1e-10))

    slope = numerical_gradient(clipped, logits.copy(), 1.0)[0, 0]
    true, gradient = cross_entropy(logits, targets)
    return np.array([clipped(logits), true, slope, gradient[0, 0]])


def _microseconds(run: Callable[[], object]) -> float:
    """Best of many runs, the first of which may compile."""
    run()
    return 1e6 * min(repeat(run, number=5, repeat=40)) / 5


def _norm_times() -> Numbers:
    """Time of LayerNorm in NumPy and in one loop, 128 rows of 64, and their ratio."""
    x = np.random.default_rng(0).normal(size=(128, 64)).astype(np.float32)

    def separate() -> Floats:
        centred = x - x.mean(-1, keepdims=True)
        spread = np.sqrt((centred * centred).mean(-1, keepdims=True) + np.float32(EPS))
        return np.asarray(centred / spread)

    times = _microseconds(separate), _microseconds(lambda: normalize(x))
    return *times, times[0] / times[1]


def _table_times() -> Numbers:
    """Time of the gradient of a table of 65 rows for 4 x 32 ids: add.at, a loop, their ratio."""
    config, rng = Configuration(), np.random.default_rng(0)
    ids = rng.integers(0, config.vocabulary, (config.batch, config.context))
    dx = rng.normal(size=(ids.size, config.width)).astype(np.float32)
    tokens = np.zeros((config.vocabulary, config.width), np.float32)
    positions = np.zeros((config.context, config.width), np.float32)
    times = (
        _microseconds(lambda: np.add.at(tokens, ids.ravel(), dx)),
        _microseconds(lambda: embed_backward(ids, dx, tokens, positions)),
    )
    return *times, times[0] / times[1]


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
        "differs from finite differences by {:.0e}; the form with erf differs from the one with "
        "tanh by up to {:.1e}",
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
        "3-1",
        "course",
        "Loss of a uniform guess over 65 characters.",
        "4.174",
        "holds",
        lambda: math.log(Configuration().vocabulary),
        near(4.174, within=1e-3),
        "{:.4f}",
    ),
    Claim(
        "3-4",
        "course",
        "A compiled loop makes LayerNorm of 128 × 64 numbers several times as fast as NumPy.",
        "29 and 6 µs, 5 times",
        "holds",
        _norm_times,
        between(0.1, 1e5, 2) + between(1.2, 100),
        "{:.0f} and {:.0f} µs, {:.1f} times",
        remark="On the machine that built this page, as the next row.",
    ),
    Claim(
        "3-5",
        "course",
        "It adds up the gradient of an embedding table far faster than `np.add.at`.",
        "54 and 1 µs, 54 times",
        "holds",
        _table_times,
        between(0.1, 1e5, 2) + between(3, 1e3),
        "{:.0f} and {:.1f} µs, {:.0f} times",
        remark="The loop also adds up the gradient of the positions.",
    ),
)
