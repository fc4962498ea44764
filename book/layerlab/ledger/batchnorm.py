"""Claims about BatchNorm's four flaws."""

from functools import cache

import numpy as np

from layerlab.ledger.claim import Claim, Numbers, about, between, exactly
from layerlab.ledger.formulas import Floats, hat
from layerlab.normalize import normalize
from layerlab.questions import bag_of_words
from layerlab.small_net import clouds

SETS, POINTS, DRAWS = 10, 200, 500
SIZES = (2, 8, 32, 128)


@cache
def _data(kind: str) -> tuple[Floats, ...]:
    """Several draws of clouds, or the questions behind a random layer of 64 units.

    Most words are in no question of a batch; only sums of many words have a spread there.
    """
    if kind == "questions":
        words = bag_of_words()[0]
        rngs = (np.random.default_rng(seed) for seed in range(SETS))
        return tuple(words @ rng.normal(size=(words.shape[1], 64)) for rng in rngs)
    return tuple(clouds(np.random.default_rng(seed))[0] for seed in range(SETS))


def _two_batches(x: Floats, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Normalize an example in two batches of 16 that share nothing else, many times."""
    pairs = []
    for _ in range(60):
        order = rng.permutation(len(x))
        first, second = x[order[:16]], x[np.append(order[0], order[16:31])]
        pairs.append((hat(first, "batchnorm")[0], hat(second, "batchnorm")[0]))
    both = np.array(pairs)
    return both[:, 0], both[:, 1]


@cache
def _company(kind: str) -> Numbers:
    """Median over the data sets of the difference of the two outputs, and of their size."""
    pairs = [_two_batches(x, np.random.default_rng(seed)) for seed, x in enumerate(_data(kind))]
    gaps, sizes = zip(*((np.abs(a - b).mean(), np.abs(a).mean()) for a, b in pairs))
    return float(np.median(gaps)), float(np.median(sizes))


def _mean_gaps(kind: str) -> Floats:
    """Mean distance of a batch's mean from that of all, in standard deviations, by batch size."""
    x, rng = _data(kind)[0], np.random.default_rng(0)
    z = (x - x.mean(0)) / x.std(0)
    orders = rng.permuted(np.tile(np.arange(len(z)), (DRAWS, 1)), axis=1)
    return np.array([np.abs(z[orders[:, :size]].mean(1)).mean() for size in SIZES])


def formula() -> Floats:
    """Compute the gaps that statistics expects: sqrt(2/pi) sqrt((1/B)(M - B)/(M - 1))."""
    sizes = np.array(SIZES)
    return np.asarray(np.sqrt(2 / np.pi * (POINTS - sizes) / (POINTS - 1) / sizes))


def _alone(kind: str) -> Numbers:
    """Largest output of BatchNorm for batches of one, mean size of LayerNorm's."""
    x = np.concatenate(_data(kind))
    return float(np.abs(hat(x[:, None], "batchnorm")).max()), float(np.abs(normalize(x)).mean())


def _leak() -> Floats:
    """How far the first of 8 tokens moves with the last: BatchNorm median and 95 %, LayerNorm."""
    x = np.stack([np.random.default_rng(seed).normal(size=(8, 64)) for seed in range(200)])
    changed = x.copy()
    changed[:, -1] += 3
    batch = np.abs(hat(changed, "batchnorm") - hat(x, "batchnorm"))[:, 0].max(-1)
    layer = np.abs(normalize(changed) - normalize(x))[:, 0].max()
    return np.array([np.median(batch), *np.quantile(batch, (0.025, 0.975)), layer])


GAPS = "{:.3f}, {:.3f}, {:.3f}, {:.3f}"

ROWS = (
    Claim(
        "1d-1",
        "post",
        "One example in two batches of 16: mean difference of its outputs, and their size.",
        "0.37, size 0.91",
        "holds",
        lambda: _company("clouds"),
        between(0.2, 0.5) + between(0.6, 1.1),
        "{:.2f}, size {:.2f} (Gaussian clouds)",
        remark="The digits depend on the data and the draw, the size does not.",
    ),
    Claim(
        "1d-2",
        "post",
        "The same with 200 questions, bags of words behind a random layer.",
        "0.37, size 0.91",
        "holds",
        lambda: _company("questions"),
        between(0.2, 0.5) + between(0.6, 1.1),
        "{:.2f}, size {:.2f}",
    ),
    Claim(
        "1d-3",
        "post",
        "Distance of the mean of a batch of 2, 8, 32 and 128 from the mean of all 200, in "
        "standard deviations.",
        "0.55, 0.28, 0.13, 0.04",
        "holds",
        lambda: _mean_gaps("clouds"),
        about(*formula(), share=0.05),
        GAPS + " (Gaussian clouds)",
        remark="Within 5 % of √(2/π) · √((1/B)(200 − B)/199).",
    ),
    Claim(
        "1d-3b",
        "post",
        "The same for the questions.",
        "0.55, 0.28, 0.13, 0.04",
        "holds",
        lambda: _mean_gaps("questions"),
        about(*formula(), share=0.05),
        GAPS,
        remark="The data set plays no part.",
    ),
    Claim(
        "1d-4",
        "post",
        "A batch of one: BatchNorm's normalized output, and LayerNorm's mean size.",
        "0.0 and 0.77",
        "holds",
        lambda: _alone("clouds"),
        exactly(0) + between(0.7, 0.9),
        "{:.1f} and {:.2f}",
    ),
    Claim(
        "1d-5",
        "post",
        "8 tokens of 64 features, 3 added to the last: how far the first token's output moves.",
        "BatchNorm 1.294, LayerNorm 0.000",
        "holds",
        _leak,
        between(0.9, 1.4) + between(0.7, 1.1) + between(1.3, 1.8) + exactly(0),
        "BatchNorm {:.2f} (median; 95 % in {:.2f} to {:.2f}), LayerNorm {:.3f}",
        remark="1.294 is one draw of the range.",
    ),
    Claim(
        "L7",
        "notes",
        "BatchNorm normalizes each feature over the batch and keeps running averages for use.",
        "the paper's algorithms",
        "literature",
        cites=("ioffe2015",),
    ),
)
