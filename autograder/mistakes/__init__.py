"""Known wrong implementations: they name a student's misconception and prove the checks."""

from __future__ import annotations

from importlib import import_module

from autograder.mistakes.registry import Mistake, registered

__all__ = ["LAYERS", "Mistake", "mistakes_of"]

LAYERS = (
    "embedding",
    "layernorm",
    "rmsnorm",
    "batchnorm",
    "dropout",
    "initialization",
    "gradcheck",
    "optimizer",
    "signal",
    "regularization",
    "tinygpt",
)


def mistakes_of(function: str, layer: str) -> list[Mistake]:
    """List the known mistakes of an exercise function, most specific first.

    Parameters
    ----------
    function : str
        Exercise function, such as ``"layernorm_forward"``.
    layer : str
        The layer it belongs to, which is the module that is loaded.
    """
    import_module(f"autograder.mistakes.{layer}")
    return [mistake for mistake in registered().values() if mistake.function == function]
