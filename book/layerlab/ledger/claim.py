"""What a row of the claims ledger is, and how its number is compared and written."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from layerlab.chapter_text import scientific

Verdict = Literal["holds", "holds if", "corrected", "literature"]
# What a computed number must lie in, its ends included.
Bounds = tuple[tuple[float, float], ...]
Numbers = tuple[float, ...]

SOURCES = {
    "notes": "theory notes",
    "gpt": "GPT chapter",
    "post": "normalization post",
    "course": "this course",
}
_POWER = re.compile(r"(\d(?:\.\d+)?e[+-]\d+)")
_NEGATIVE = re.compile(r"(?<![\w.\-])-(?=[\d.])")


@dataclass(frozen=True)
class Claim:
    """One statement of a document that the course started from, and what became of it.

    Attributes
    ----------
    id : str
        Name of the row, unique in the ledger.
    source : str
        A key of SOURCES, or several with a comma between them.
    says : str
        The statement, in our words.
    claimed : str
        The value it gives.
    verdict : {"holds", "holds if", "corrected", "literature"}
        "holds if": under a condition that the document does not state. "literature": a statement
        about other people's work, which is cited and not computed.
    compute : function
        Takes nothing, returns the number or numbers that decide. None for literature.
    within : tuple of (low, high)
        Where each computed number must lie.
    shows : str
        Format string that writes the computed numbers.
    refutes : tuple of (low, high)
        Where the numbers would lie if the statement were right without a condition. A corrected
        row needs at least one number outside.
    remark : str
        The condition, the correction, or the reason.
    cites : tuple of str
        Keys of the bibliography.
    """

    id: str
    source: str
    says: str
    claimed: str
    verdict: Verdict
    compute: Callable[[], ArrayLike] | None = None
    within: Bounds = ()
    shows: str = "{}"
    refutes: Bounds = ()
    remark: str = ""
    cites: tuple[str, ...] = ()


def exactly(*values: float) -> Bounds:
    """Bounds that leave no room."""
    return tuple((value, value) for value in values)


def near(*values: float, within: float) -> Bounds:
    """Bounds that allow an absolute difference."""
    return tuple((value - within, value + within) for value in values)


def about(*values: float, share: float) -> Bounds:
    """Bounds that allow a share of each value."""
    return tuple((value - share * abs(value), value + share * abs(value)) for value in values)


def between(low: float, high: float, times: int = 1) -> Bounds:
    """Allow the same range for each of several numbers."""
    return ((low, high),) * times


def below(high: float, times: int = 1) -> Bounds:
    """Allow every number of 0 or more up to a limit, as for an error."""
    return ((0.0, high),) * times


@cache
def computed(claim: Claim) -> Numbers:
    """Compute the numbers of a claim, once in each process.

    Raises
    ------
    ValueError
        If the claim is one about literature.
    """
    if claim.compute is None:
        raise ValueError(
            f"computed(claim): claim {claim.id} is about literature and has nothing to compute; "
            "show what it cites."
        )
    values = np.asarray(claim.compute(), dtype=np.float64).ravel()
    return tuple(float(value) for value in values)


def inside(values: Numbers, bounds: Bounds) -> bool:
    """Whether every number lies in its bounds; NaN lies in none.

    Raises
    ------
    ValueError
        If there are not as many bounds as numbers.
    """
    if len(values) != len(bounds):
        raise ValueError(
            f"inside(values, bounds): one pair of bounds for each number; got {len(bounds)} pairs "
            f"for {len(values)} numbers."
        )
    return all(low <= value <= high for value, (low, high) in zip(values, bounds))


def written(claim: Claim) -> str:
    """Write the computed numbers of a claim as its row shows them."""
    text = claim.shows.format(*computed(claim))
    text = _POWER.sub(lambda found: _times_ten(found.group()), text)
    return _NEGATIVE.sub("\N{MINUS SIGN}", text)


def _times_ten(text: str) -> str:
    factor = text.partition("e")[0]
    power = scientific(float(text), len(factor.partition(".")[2]))
    return power.replace(" ", "\N{NO-BREAK SPACE}")
