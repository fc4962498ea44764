"""Claims about the trained tiny GPT, read from the stored experiment."""

import numpy as np

from layerlab.experiments import stored
from layerlab.experiments.tiny_gpt import EPOCH, SEEDS, SHORT, STEPS
from layerlab.ledger.claim import Claim, Numbers, between, near
from layerlab.ledger.formulas import Floats

BLOCKS = 2


def losses_after(norm: str, step: int = STEPS) -> Floats:
    """Give the test loss after some steps of the full training, one for each start."""
    grid = stored("tiny_gpt")
    rows = [grid.row(norm=norm, start=start, steps=STEPS, blocks=BLOCKS) for start in SEEDS]
    return np.array([row["test"][row["looks"].index(step)] for row in rows])


def _short(norm: str, blocks: int) -> Numbers:
    """First training loss of a model, and its test loss after 500 steps."""
    row = stored("tiny_gpt").row(norm=norm, steps=SHORT, blocks=blocks)
    return row["first"], row["test"][-1]


def _final() -> Numbers:
    losses = losses_after("layernorm")
    return float(losses.mean()), float(losses.min()), float(losses.max())


def _helps() -> Numbers:
    """End of the training with and without a norm, and 500 steps of eight blocks."""
    ends = (float(losses_after(norm).mean()) for norm in ("layernorm", "none"))
    return *ends, *(_short(norm, 8)[1] for norm in ("layernorm", "none"))


def _first_losses() -> Floats:
    return np.array([_short("none", blocks)[0] for blocks in (2, 4, 8, 16)])


def _root() -> Numbers:
    ends = [float(losses_after(norm).mean()) for norm in ("layernorm", "rmsnorm")]
    return *ends, abs(ends[1] - ends[0])


def _guesses() -> Numbers:
    row = stored("tiny_gpt").row(norm="counting")
    return row["unigram"], row["bigram"], row["trigram"]


ROWS = (
    Claim(
        "46",
        "gpt",
        "Test loss after two epochs of tinyshakespeare.",
        "1.7809",
        "holds",
        _final,
        near(1.78, 1.78, 1.78, within=0.05),
        "{:.4f} in the mean, from {:.4f} to {:.4f}",
        remark=f"{len(SEEDS)} random starts. Stored results, here and below.",
    ),
    Claim(
        "51",
        "gpt",
        "The norms are needed: without them the values keep growing.",
        "no number",
        "holds if",
        _helps,
        near(1.78, within=0.05) + near(1.81, within=0.06) + between(2.5, 3) + between(4, 1e9),
        "two blocks at the end: {:.3f} with LayerNorm, {:.3f} without; eight blocks after 500 "
        "steps: {:.2f} with, {:.0f} without",
        refutes=near(1.78, within=0.05) + between(2.1, 1e9) + between(2.5, 3) + between(4, 1e9),
        remark="If the model is deep enough. Two blocks train without a norm too.",
    ),
    Claim(
        "51b",
        "course",
        "The first loss without norms grows with the number of blocks: 2, 4, 8, 16.",
        "no bound",
        "holds",
        _first_losses,
        between(4, 8) + between(8, 1e3) + between(1e3, 1e6) + between(1e6, 1e12),
        "{:.1f}, {:.1f}, {:.1e}, {:.1e}",
        remark="A uniform guess would lose 4.2.",
    ),
    Claim(
        "52",
        "gpt",
        "An exercise: put RMSNorm in the place of LayerNorm.",
        "no value given",
        "holds",
        _root,
        near(1.78, 1.78, within=0.05) + between(0, 0.04),
        "{:.4f} with LayerNorm, {:.4f} with RMSNorm; they differ by {:.4f}",
        remark="No more than two random starts do.",
    ),
    Claim(
        "3-2",
        "course",
        "Guesses by counting single characters, pairs and triples, on the same test text.",
        "3.347, 2.484, 2.056",
        "holds",
        _guesses,
        near(3.347, 2.484, 2.056, within=0.02),
        "{:.3f}, {:.3f}, {:.3f}",
        remark="The digits of the last two depend on how unseen pairs and triples are treated.",
    ),
    Claim(
        "3-3",
        "course",
        "Test loss after the first epoch, and after 500 steps.",
        "1.86; below 2.95",
        "holds",
        lambda: [losses_after("layernorm", step).mean() for step in (EPOCH, SHORT)],
        near(1.86, within=0.05) + between(2.5, 2.95),
        "{:.3f}; {:.3f}",
    ),
)
