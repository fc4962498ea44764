"""One check per exercise function: what is asked of an answer, and how it is refused.

``check_<function>(student functions, points=N)`` prints a report and returns the score. A
check may call the student's functions and look at what comes back, nothing else, so that it
runs unchanged inside a notebook and on the far side of a process boundary.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from autograder.checks.core import Check
from autograder.mistakes import LAYERS

__all__ = ["LAYERS", "all_checks"]


def all_checks() -> list[Check]:
    """List the check of every exercise function, layer by layer."""
    return [check for layer in LAYERS for check in _module(layer).CHECKS]


def _module(layer: str) -> Any:
    return import_module(f"autograder.checks.{layer}")


@cache
def _source(layer: str) -> str:
    return Path(__file__).with_name(f"{layer}.py").read_text("utf-8")


def __getattr__(name: str) -> Any:
    # Loading one layer's kernels takes a second, so a notebook loads only its own.
    if name.startswith("check_"):
        for layer in LAYERS:
            if f"def {name}(" in _source(layer):
                return getattr(_module(layer), name)
    raise AttributeError(f"module 'autograder.checks' has no attribute {name!r}")
