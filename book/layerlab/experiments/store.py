"""Where results lie, and how a page gets them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from layerlab.experiments.definition import Experiment

RESULTS = Path(__file__).parent / "results"


class StoredError(Exception):
    """Results that are missing, or belong to another definition; the message says what to do."""


@dataclass(frozen=True)
class Stored:
    """What came out of an experiment.

    Attributes
    ----------
    rows, small : list of dict
        One for each cell, in the order of the definition: its parameters and what was measured.
    seed : int
        Seed of the run.
    versions : dict of str to str
        Versions of Python, NumPy and numba.
    date : str
        Day on which the run ended, as 2026-01-31.
    seconds : float
        Processor time of all cells.
    """

    rows: list[dict[str, Any]]
    small: list[dict[str, Any]]
    seed: int
    versions: dict[str, str]
    date: str
    seconds: float

    def row(self, **parameters: Any) -> dict[str, Any]:
        """Give the one row with these parameters.

        Raises
        ------
        StoredError
            If no row has them, or more than one.
        """
        found = [row for row in self.rows if _fits(row, parameters)]
        if len(found) != 1:
            wanted = ", ".join(f"{name}={value!r}" for name, value in parameters.items())
            raise StoredError(
                f"Stored.row({wanted}): exactly one row must have these parameters; "
                f"got {len(found)} of {len(self.rows)}. Name more of them, or look at .rows."
            )
        return found[0]


def _fits(row: Mapping[str, Any], parameters: Mapping[str, Any]) -> bool:
    return all(name in row and row[name] == value for name, value in parameters.items())


def stored(name: str) -> Stored:
    """Read the results of an experiment.

    Parameters
    ----------
    name : str
        Name of the experiment, such as ``"dropout_grid"``.

    Raises
    ------
    StoredError
        If there is no such experiment, or no results of its present definition.
    """
    # Experiments may draw on all of layerlab, whose pages draw on this module.
    from layerlab.experiments.registry import ALL

    if name not in ALL:
        raise StoredError(f"stored({name!r}): there are {', '.join(sorted(ALL))}.")
    return read(ALL[name], RESULTS)


def read(experiment: Experiment, folder: Path) -> Stored:
    """Read the results of this definition from a folder; errors as in `stored`."""
    path, again = folder / f"{experiment.name}.json", f"make experiments NAME={experiment.name}"
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        digest = content.pop("digest")
        results = Stored(**content)
    except FileNotFoundError:
        raise StoredError(f"{path}: no results of {experiment.name} yet. Run {again}.") from None
    except (ValueError, KeyError, TypeError, AttributeError) as problem:
        raise StoredError(f"{path}: no results file ({problem}). Run {again}.") from None
    if digest != experiment.digest:
        raise StoredError(
            f"{path}: these results belong to another definition of {experiment.name}: digest "
            f"{digest}, now {experiment.digest}. Run {again}."
        )
    return results


def write(experiment: Experiment, folder: Path, results: Stored) -> Path:
    """Write results, one row a line, so that a change of one cell is a change of one line."""
    head = {
        "digest": experiment.digest,
        "seed": results.seed,
        "date": results.date,
        "versions": results.versions,
        "seconds": results.seconds,
    }
    parts = [f'"{name}": {json.dumps(value)}' for name, value in head.items()]
    for name, rows in (("rows", results.rows), ("small", results.small)):
        lines = ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows)
        parts.append(f'"{name}": [\n{lines}\n]')
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{experiment.name}.json"
    # A run that is killed here leaves the results before as they were.
    unfinished = path.with_suffix(".part")
    unfinished.write_text("{" + ",\n".join(parts) + "}\n", encoding="utf-8")
    unfinished.replace(path)
    return path
