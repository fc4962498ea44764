"""Run the cells of an experiment that are not done yet; a kill loses the cell at work at most."""

import json
import platform
import sys
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

import numba
import numpy as np

from layerlab.experiments.definition import Cell, Experiment
from layerlab.experiments.store import Stored, write


def run(
    experiment: Experiment, journals: Path, results: Path, progress: TextIO | None = None
) -> Path:
    """Measure every cell, and write the results file.

    Parameters
    ----------
    experiment : Experiment
        What to run.
    journals : pathlib.Path
        Folder of the journal ``<name>.jsonl``, which gets a line after each cell. Cells that it
        holds already are not run again.
    results : pathlib.Path
        Folder of the results file.
    progress : file, optional
        Where the progress line goes: standard error, if nowhere else.

    Returns
    -------
    pathlib.Path
        The results file.
    """
    journals.mkdir(parents=True, exist_ok=True)
    journal = journals / f"{experiment.name}.jsonl"
    done = dict(_finished(journal))
    cells = (*experiment.cells, *experiment.small)
    open_cells = [cell for cell in cells if experiment.digest_of(cell) not in done]
    line = _ProgressLine(
        experiment.name, len(cells), len(cells) - len(open_cells), progress or sys.stderr
    )
    with journal.open("a", encoding="utf-8") as lines:
        for cell in open_cells:
            line.show()
            key = experiment.digest_of(cell)
            done[key] = entry = _measured(experiment, cell)
            lines.write("\n" + json.dumps({"cell": key, **entry}) + "\n")
            lines.flush()
            line.advance()
    line.end()
    entries = [done[experiment.digest_of(cell)] for cell in cells]
    rows = [entry["row"] for entry in entries]
    count = len(experiment.cells)
    return write(
        experiment,
        results,
        Stored(
            rows=rows[:count],
            small=rows[count:],
            seed=experiment.seed,
            versions=versions(),
            date=datetime.now(UTC).date().isoformat(),
            seconds=round(sum(entry["seconds"] for entry in entries), 1),
        ),
    )


def versions() -> dict[str, str]:
    """Give the versions that results may depend on."""
    return {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
    }


def measured(experiment: Experiment, cell: Cell) -> dict[str, Any]:
    """Measure one cell: its parameters and the results, as plain values of six digits."""
    found = experiment.measure(cell, experiment.seed)
    result = {name: _plain(value) for name, value in found.items()}
    if twice := cell.keys() & result.keys():
        raise ValueError(
            f"{experiment.name}: measure must not name a result like a parameter; "
            f"got {', '.join(sorted(twice))}."
        )
    return {**cell, **result}


def _measured(experiment: Experiment, cell: Cell) -> dict[str, Any]:
    start = time.process_time()
    row = measured(experiment, cell)
    return {"row": row, "seconds": round(time.process_time() - start, 2)}


def _finished(journal: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    if not journal.exists():
        return
    for text in journal.read_text(encoding="utf-8").splitlines():
        try:
            entry = json.loads(text)
            yield entry.pop("cell"), {"row": entry["row"], "seconds": entry["seconds"]}
        except (ValueError, KeyError, AttributeError, TypeError):
            # A line that a kill cut off: its cell is run again.
            continue


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, Mapping):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return value


class _ProgressLine:
    """How many cells are done and how long the rest takes, on one line of a terminal."""

    def __init__(self, name: str, total: int, done: int, out: TextIO) -> None:
        self.name, self.total, self.done, self.out = name, total, done, out
        self.at_start, self.start = done, time.monotonic()
        # Elsewhere, in the log of a machine, each state gets a line of its own.
        self.ending = "\r" if out.isatty() else "\n"

    def show(self) -> None:
        run = self.done - self.at_start
        left = (time.monotonic() - self.start) / run * (self.total - self.done) if run else None
        rest = "" if left is None else f", about {_duration(left)} left"
        text = f"{self.name}: {self.done} of {self.total} cells{rest}"
        print(f"{text:<70}", end=self.ending, file=self.out, flush=True)

    def advance(self) -> None:
        self.done += 1

    def end(self) -> None:
        took = _duration(time.monotonic() - self.start)
        text = f"{self.name}: {self.total} of {self.total} cells, {took}"
        print(f"{text:<70}", file=self.out, flush=True)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
