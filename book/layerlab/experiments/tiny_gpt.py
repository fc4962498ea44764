"""The tiny GPT trained to the end with three norms, what it writes, and guesses by counting.

A cell is a training, or the guesses that counting makes of the same text. The seed of the cell is
that of the initial weights; the windows come in the order of the text.
"""

import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import layerlab
from layerlab.corpus import CharacterData, CorpusError, corpus, read_text
from layerlab.experiments.definition import Cell, Experiment
from layerlab.tinygpt.baselines import baselines
from layerlab.tinygpt.configuration import NORMS, Configuration
from layerlab.tinygpt.training import train
from layerlab.tinygpt.writing import write

EPOCH, STEPS, SEEDS = 15_684, 31_368, (0, 1)
LOOKS = (50, 100, 200, 500, 1_000, 2_000, 4_000, 8_000, EPOCH, 23_500, STEPS)
# Only the first run writes.
SAMPLES, START, LENGTH = (100, 500, 2_000, EPOCH, STEPS), "\n", 160
# How deep a model may be before it needs a norm.
DEPTHS, SHORT = (2, 4, 8, 16), 500


@functools.cache
def data(text: str, context: int) -> CharacterData:
    """Give a text, cut into windows that overlap by half.

    Parameters
    ----------
    text : {"tinyshakespeare", "questions"}
        The text of the chapter, or the 200 questions, which are always at hand.
    context : int
        Length of a window.
    """
    if text == "questions":
        path = Path(layerlab.__path__[0]) / "data" / "questions.txt"
        return CharacterData(read_text(path), context, context // 2)
    found = corpus()
    if not found.source.startswith(text):
        raise CorpusError(f"This experiment needs {text}; at hand is only {found.source}.")
    return CharacterData(found.text, context, context // 2)


def measure(cell: Cell, seed: int) -> Mapping[str, Any]:
    """Train a model, or count.

    Returns
    -------
    dict
        Of a training ``first``, its first loss; ``test``, the test loss after each of the cell's
        looks; ``train``, the mean training loss of the hundred steps before; ``samples``, texts by
        step. Of counting the losses of `baselines`.
    """
    text = data(cell["text"], cell["context"])
    if cell["norm"] == "counting":
        return {name: round(loss, 4) for name, loss in baselines(text).items()}
    config = Configuration(
        vocabulary=text.size, context=cell["context"], stride=cell["context"] // 2,
        width=cell["width"], blocks=cell["blocks"], norm=cell["norm"], seed=seed + cell["start"],
    )  # fmt: skip
    steps, samples = cell["steps"], {}

    def look(step: int, model: Any) -> None:
        if cell["writes"] and step in SAMPLES:
            written = write(model, text, START, LENGTH, np.random.default_rng(seed))
            samples[str(step)] = written.removeprefix(START)

    looks = cell["looks"]
    result = train(config, text, steps, tests=looks, progress=None, watch=look)
    return {
        "first": round(result.losses[0], 4),
        "test": [round(result.tests[step], 4) for step in looks],
        "train": [round(float(np.mean(result.losses[:step][-100:])), 4) for step in looks],
        "samples": samples,
    }


def _cell(
    norm: str, start: int = 0, steps: int = STEPS, blocks: int = 2, text: str = "tinyshakespeare",
    context: int = 32, width: int = 64, writes: bool = False, looks: tuple[int, ...] = (),
) -> Cell:  # fmt: skip
    return {
        "norm": norm, "start": start, "steps": steps, "blocks": blocks, "text": text,
        "context": context, "width": width, "writes": writes,
        "looks": list(looks or (steps,)),
    }  # fmt: skip


EXPERIMENT = Experiment(
    name="tiny_gpt",
    cells=(
        _cell("counting", steps=0),
        *(
            _cell(norm, steps=SHORT, blocks=blocks)
            for blocks in DEPTHS
            for norm in ("layernorm", "none")
        ),
        *(
            _cell(norm, start, looks=LOOKS, writes=(norm, start) == ("layernorm", 0))
            for start in SEEDS
            for norm in NORMS
        ),
    ),
    measure=measure,
    seed=0,
    small=(
        _cell("counting", steps=0, text="questions", context=16),
        *(_cell(norm, steps=30, text="questions", context=16, width=16) for norm in NORMS),
    ),
)
