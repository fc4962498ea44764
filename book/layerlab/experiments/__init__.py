"""Experiments that take minutes: run once, kept as small files, drawn by the pages.

``python -m layerlab.experiments`` runs what is missing; `stored` gives a page what came out. Each
experiment is a module of its own with an `EXPERIMENT`, listed in `layerlab.experiments.registry`.
"""

from layerlab.experiments.definition import Experiment
from layerlab.experiments.store import Stored, StoredError, stored

__all__ = ["Experiment", "Stored", "StoredError", "stored"]
