"""Timing by turns, and the copies whose speed is the floor."""

import statistics
import time
from collections.abc import Callable

import numpy as np
from layerlab.jit import by_parts

ROUNDS, LEAST_ROUNDS = 31, 5
BUDGET = 1.0  # seconds for one contender: slow ones get fewer rounds


class Times(dict[str, list[float]]):
    """Seconds of each contender, round by round."""

    def median(self, name: str) -> float:
        """Return the median in seconds."""
        return statistics.median(self[name])

    def ratio(self, name: str, other: str) -> float:
        """Return the median over the rounds of one time divided by another of the same round.

        A busy neighbour slows a whole round, so ratios vary less than times.
        """
        return statistics.median(a / b for a, b in zip(self[name], self[other]))


def alternate(contenders: dict[str, Callable[[], object]]) -> Times:
    """Let all contenders take turns, in alternating order, after one turn that is not counted."""
    times = Times({name: [] for name in contenders})
    for run in contenders.values():
        run()
    for turn in range(ROUNDS):
        for name in list(contenders)[:: 1 if turn % 2 else -1]:
            if turn >= LEAST_ROUNDS and sum(times[name]) > BUDGET:
                continue
            start = time.perf_counter()
            contenders[name]()
            times[name].append(time.perf_counter() - start)
    return times


def copies(source: np.ndarray, target: np.ndarray) -> dict[str, Callable[[], object]]:
    """Return two ways of copying with all threads.

    ``copy`` is a loop that reads and writes as a kernel does: the floor. ``streaming copy`` is the
    C library's, which may write past the caches and so save a read of what it overwrites; a loop
    in numba cannot ask for that.
    """
    rows, size = len(source), source.size
    return {
        "copy": lambda: _copy_rows(rows, size, source, target),
        "streaming copy": lambda: _copy_part(rows, size, source, target),
    }


@by_parts
def _copy_rows(first, end, source, target):
    for i in range(first, end):
        for j in range(source.shape[1]):
            target[i, j] = source[i, j]


@by_parts
def _copy_part(first, end, source, target):
    target[first:end] = source[first:end]
