"""Time training steps of the tiny GPT: plain NumPy, compiled loops, and PyTorch where installed.

Run with ``OPENBLAS_NUM_THREADS=1 python -m benchmarks.tinygpt``; one thread for all. The same
model, parameters and batches; a few steps of each in turn, so that a busy neighbour slows all.
"""

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable

import numpy as np
from layerlab.corpus import CharacterData, corpus
from layerlab.tinygpt import Configuration, FusedGPT, PlainGPT
from layerlab.tinygpt.training import batches

Step = Callable[[np.ndarray, np.ndarray, int, float], float]
TURN = 25


def main(arguments: list[str] | None = None) -> int:
    """Print the times of a step; 1 if the compiled loops are not as fast as they should be."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=500, help="steps of each (%(default)s)")
    steps = parser.parse_args(arguments).steps
    if os.environ.get("OPENBLAS_NUM_THREADS") != "1":
        parser.error("set OPENBLAS_NUM_THREADS=1: all are timed on one thread.")
    data = CharacterData(corpus().text)
    config = Configuration(vocabulary=data.size)
    times, losses = alternate(contenders(config), config, data, steps)
    medians = {name: statistics.median(turns) for name, turns in times.items()}
    print(f"{steps} steps of each, {TURN} at a time, in turns. Processor time per step, ms:")
    for name, turns in times.items():
        print(
            f"{name:8} median {medians[name] * 1e3:5.2f}, least {min(turns) * 1e3:5.2f}, "
            f"most {max(turns) * 1e3:5.2f}; loss of the last {TURN}: {losses[name]:.4f}"
        )
    fused = medians.pop("fused")
    reached = True
    for name, seconds in medians.items():
        # A target for each: twice as fast as NumPy, no slower than PyTorch.
        ratio, wanted = seconds / fused, 2.0 if name == "plain" else 1.0
        reached &= ratio >= wanted
        print(f"The compiled loops are {ratio:.2f} times as fast as {name}; wanted {wanted}.")
    return not reached


def contenders(config: Configuration) -> dict[str, Step]:
    """Give a function for a training step of each kind."""
    found = {kind: _own(model.drawn(config)) for kind, model in
             (("plain", PlainGPT), ("fused", FusedGPT))}  # fmt: skip
    try:
        from benchmarks._torch_gpt import step
    except ImportError:
        print("PyTorch is not installed here.", file=sys.stderr)
        return found
    return found | {"PyTorch": step(config)}


def _own(model: PlainGPT) -> Step:
    def step(inputs: np.ndarray, targets: np.ndarray, t: int, rate: float) -> float:
        loss = model.loss_and_gradient(inputs, targets)
        model.step(t, rate)
        return loss

    return step


def alternate(
    steps_of: dict[str, Step], config: Configuration, data: CharacterData, steps: int
) -> tuple[dict[str, list[float]], dict[str, float]]:
    """Let all train in turns; give their processor times per step, and their last losses."""
    inputs, targets = batches(data, data.train, config.batch)
    times: dict[str, list[float]] = {name: [] for name in steps_of}
    losses = dict.fromkeys(steps_of, 0.0)
    # The first turn compiles and is not counted.
    for first in range(0, steps + TURN, TURN):
        for name in list(steps_of)[:: 1 if first // TURN % 2 else -1]:
            start, total = time.process_time(), 0.0
            for at in range(first, first + TURN):
                rate = config.rate(at, steps + TURN)
                total += steps_of[name](inputs[at], targets[at], at + 1, rate)
            if first:
                times[name].append((time.process_time() - start) / TURN)
            losses[name] = total / TURN
    return times, losses


if __name__ == "__main__":
    raise SystemExit(main())
