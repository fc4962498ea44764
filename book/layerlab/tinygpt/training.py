"""Training the tiny GPT: checkpoints, resuming, progress."""

import json
import sys
import time
import zipfile
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TextIO

import numpy as np

from layerlab.corpus import CharacterData
from layerlab.tinygpt.configuration import Configuration
from layerlab.tinygpt.fused import FusedGPT
from layerlab.tinygpt.plain import Ints, PlainGPT


class TrainingError(Exception):
    """A training that cannot go on; the message says what to do."""


@dataclass
class Result:
    """What came out of a training.

    Attributes
    ----------
    model : PlainGPT
        The trained model.
    losses : list of float
        Training loss of every step.
    tests : dict of int to float
        Test loss after the steps that were asked for, and after the last.
    seconds : float
        Processor time of the steps, those before a resume included.
    """

    model: PlainGPT
    losses: list[float] = field(default_factory=list)
    tests: dict[int, float] = field(default_factory=dict)
    seconds: float = 0.0


def batches(data: CharacterData, part: Ints, size: int) -> tuple[Ints, Ints]:
    """Give all batches of a part in the order of the text: inputs and targets (N, size, T)."""
    inputs, targets = data.windows(part)
    whole = len(inputs) // size * size
    shape = (-1, size, data.context)
    return (
        np.ascontiguousarray(inputs[:whole]).reshape(shape),
        np.ascontiguousarray(targets[:whole]).reshape(shape),
    )


def test_loss(model: PlainGPT, data: CharacterData) -> float:
    """Average the cross-entropy over the test part."""
    inputs, targets = batches(data, data.test, model.config.batch)
    return float(np.mean([model.loss(*pair) for pair in zip(inputs, targets)]))


def train(
    config: Configuration, data: CharacterData, steps: int | None = None, fast: bool = True,
    checkpoint: Path | None = None, every: int = 1_000, tests: tuple[int, ...] = (),
    progress: TextIO | None = sys.stderr, watch: Callable[[int, PlainGPT], None] | None = None,
) -> Result:  # fmt: skip
    """Train a tiny GPT.

    Parameters
    ----------
    config : Configuration
        The model and its training.
    data : CharacterData
        The text; its windows come in their order, `epochs` times.
    steps : int, optional
        Stop after so many; the learning rate falls within these.
    fast : bool
        With compiled loops, or in plain NumPy.
    checkpoint : pathlib.Path, optional
        File that keeps the state every `every` steps. If it is there, training goes on from it.
    tests : tuple of int
        Steps after which the test loss is measured, besides the last.
    progress : file, optional
        Where the progress line goes.
    watch : function, optional
        ``watch(step, model)`` is called wherever the test loss is measured.

    Raises
    ------
    TrainingError
        If a loss is not finite, or the checkpoint belongs to another training.
    """
    result = Result((FusedGPT if fast else PlainGPT).drawn(config))
    inputs, targets = batches(data, data.train, config.batch)
    steps = steps or len(inputs) * config.epochs
    stops, line = {*tests, steps}, _ProgressLine(steps, progress)
    key = _key(config, data, steps)
    if checkpoint:
        _resume(checkpoint, result, key)
    for step in range(len(result.losses), steps):
        started = time.process_time()
        at = step % len(inputs)
        loss = result.model.loss_and_gradient(inputs[at], targets[at])
        result.model.step(step + 1, config.rate(step, steps))
        result.seconds += time.process_time() - started
        if not np.isfinite(loss):
            raise TrainingError(
                f"The loss of step {step + 1} is {loss}. Try a smaller peak of the learning rate "
                f"than {config.peak}."
            )
        result.losses.append(loss)
        if step + 1 in stops:
            result.tests[step + 1] = test_loss(result.model, data)
            if watch:
                watch(step + 1, result.model)
        if checkpoint and ((step + 1) % every == 0 or step + 1 == steps):
            _keep(checkpoint, result, key)
        line.show(result.losses)
    return result


def _key(config: Configuration, data: CharacterData, steps: int) -> str:
    """Describe a training: a checkpoint must belong to the same one."""
    text = [len(data.train), len(data.test), int(data.train.sum()), data.characters]
    return json.dumps({**asdict(config), "steps": steps, "text": text}, sort_keys=True)


def _keep(path: Path, result: Result, key: str) -> None:
    """Write a checkpoint; a kill meanwhile leaves the one before."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".part")
    model = result.model
    with unfinished.open("wb") as file:
        np.savez(
            file, key=key, flat=model.params.flat, first=model.first, second=model.second,
            losses=result.losses, test_steps=list(result.tests),
            test_losses=list(result.tests.values()), seconds=result.seconds,
        )  # fmt: skip
    unfinished.replace(path)


def _resume(path: Path, result: Result, key: str) -> None:
    """Read a checkpoint, if there is one."""
    if not path.exists():
        return
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            kept = dict(file)
        found = str(kept["key"])
    except (ValueError, EOFError, OSError, KeyError, zipfile.BadZipFile) as problem:
        raise TrainingError(
            f"{path} is no checkpoint ({type(problem).__name__}). Delete it to begin anew."
        ) from None
    if found != key:
        raise TrainingError(
            f"{path} belongs to a training with other settings or another text. Delete it to "
            "begin anew, or give another file."
        )
    model = result.model
    model.params.flat[:] = kept["flat"]
    model.first[:], model.second[:] = kept["first"], kept["second"]
    result.losses = kept["losses"].tolist()
    result.tests = dict(zip(kept["test_steps"].tolist(), kept["test_losses"].tolist()))
    result.seconds = float(kept["seconds"])


class _ProgressLine:
    """Step, recent loss and time left, on one line of a terminal."""

    def __init__(self, steps: int, out: TextIO | None) -> None:
        self.steps, self.out, self.first = steps, out, -1
        # A terminal's line is rewritten; the log of a machine gets few lines.
        self.terminal = out is not None and out.isatty()
        self.every = max(1, steps // (200 if self.terminal else 20))

    def show(self, losses: list[float]) -> None:
        done = len(losses)
        if self.first < 0:
            self.first, self.start = done - 1, time.monotonic()
        if self.out is None or (done % self.every and done < self.steps):
            return
        seconds = (time.monotonic() - self.start) / (done - self.first) * (self.steps - done)
        text = (
            f"step {done:,} of {self.steps:,}: loss {np.mean(losses[-self.every :]):.3f}, "
            f"about {seconds:.0f} s left"
        )
        end = "\r" if self.terminal and done < self.steps else "\n"
        print(f"{text:<60}", end=end, file=self.out, flush=True)
