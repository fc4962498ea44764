"""The whole ledger: chapters in the order of the book, each with its rows."""

from dataclasses import dataclass
from functools import cache
from importlib import import_module

from layerlab.experiments import StoredError, stored
from layerlab.ledger.claim import Claim


@dataclass(frozen=True)
class Section:
    """A part of the ledger.

    Attributes
    ----------
    title : str
        Its heading.
    module : str
        Module of this package with its `ROWS`.
    experiment : str
        Experiment that the rows are read from; without results the section is left out.
    """

    title: str
    module: str
    experiment: str = ""


SECTIONS = (
    Section("Embeddings", "embedding"),
    Section("LayerNorm", "layernorm"),
    Section("RMSNorm", "rmsnorm"),
    Section("BatchNorm", "batchnorm"),
    Section("Dropout", "dropout"),
    Section("Dropout", "regularization", "dropout_grid"),
    Section("Initialization", "initialization"),
    Section("Signals in deep networks", "signal"),
    Section("Signals in deep networks", "depth", "depth_instability"),
    Section("Learning rates", "learning_rates", "learning_rate_grid"),
    Section("Gradient checks", "gradcheck"),
    Section("The tiny GPT", "tinygpt"),
    Section("The tiny GPT", "stored_gpt", "tiny_gpt"),
)


@cache
def chapters() -> dict[str, tuple[Claim, ...]]:
    """Give the rows by heading, those of missing experiments left out."""
    found: dict[str, tuple[Claim, ...]] = {section.title: () for section in SECTIONS}
    for section in SECTIONS:
        if not section.experiment or available(section.experiment):
            module = import_module(f"layerlab.ledger.{section.module}")
            found[section.title] += module.ROWS
    return found


def ledger() -> tuple[Claim, ...]:
    """Give all rows in the order of the page."""
    return tuple(claim for rows in chapters().values() for claim in rows)


def missing(title: str | None = None) -> tuple[str, ...]:
    """List the experiments whose rows are left out of a heading, or of all, for want of results."""
    return tuple(
        section.experiment
        for section in SECTIONS
        if title in (None, section.title)
        and section.experiment
        and not available(section.experiment)
    )


@cache
def available(experiment: str) -> bool:
    """Whether there are results of the present definition of an experiment."""
    try:
        stored(experiment)
    except StoredError:
        return False
    return True
