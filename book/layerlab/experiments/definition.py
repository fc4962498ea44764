"""What an experiment is: cells of plain parameters, and a function that measures one of them."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Cell = Mapping[str, Any]


@dataclass(frozen=True)
class Experiment:
    """A long measurement, cut into cells that can be run one at a time.

    Attributes
    ----------
    name : str
        Name of its module and of its results file.
    cells : tuple of dict
        Parameters of each cell: numbers, texts, None, or lists of them. No two are equal.
    measure : callable
        ``measure(cell, seed) -> dict`` of numbers, texts or short lists. It depends on nothing
        but its arguments.
    seed : int
        Given to every cell. Cells that differ in one parameter can so be compared in pairs.
    small : tuple of dict
        A few cells that take a second at most. They are run and stored like the others, and a
        test runs them again.
    rtol : float
        How far the numbers of the small cells may be off on another machine, relative to the
        larger of 1 and the stored number.
    edition : int
        Counted up by hand when `measure` changes what it measures: results of the edition before
        are then refused.
    """

    name: str
    cells: tuple[Cell, ...]
    measure: Callable[[Cell, int], Mapping[str, Any]]
    seed: int
    small: tuple[Cell, ...]
    rtol: float = 1e-2
    edition: int = 1

    def __post_init__(self) -> None:
        """Refuse cells that cannot be told apart, and an experiment without small ones."""
        object.__setattr__(self, "cells", tuple(self.cells))
        object.__setattr__(self, "small", tuple(self.small))
        if not self.cells or not self.small:
            raise ValueError(f"{self.name}: an experiment needs cells and small cells; got none.")
        digests = [self.digest_of(cell) for cell in (*self.cells, *self.small)]
        if len(set(digests)) < len(digests):
            raise ValueError(f"{self.name}: no two cells may have the same parameters.")

    def digest_of(self, *cells: Cell) -> str:
        """Hash name, edition, seed and these cells: equal digests mean the same measurement."""
        content = [self.name, self.edition, self.seed, [dict(cell) for cell in cells]]
        text = json.dumps(content, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @property
    def digest(self) -> str:
        """Hash of the whole definition except the code of `measure`."""
        return self.digest_of(*self.cells, *self.small)
