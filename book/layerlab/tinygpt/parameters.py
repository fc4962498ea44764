"""All parameters of the model in one buffer, so that an optimizer goes through them in one loop."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from layerlab.tinygpt.configuration import Configuration

Floats = NDArray[Any]
Shapes = dict[str, tuple[int, ...]]


def shapes(config: Configuration) -> Shapes:
    """List the parameters by name, in the order of use; those of block i as ``block<i>.<name>``."""
    width, found = config.width, Shapes()
    found["tokens"] = (config.vocabulary, width)
    found["positions"] = (config.context, width)
    for i in range(config.blocks):
        found |= _norm(f"block{i}.gamma1", f"block{i}.beta1", config)
        found |= {f"block{i}.w_qkv": (width, 3 * width), f"block{i}.b_qkv": (3 * width,)}
        found |= {f"block{i}.w_out": (width, width), f"block{i}.b_out": (width,)}
        found |= _norm(f"block{i}.gamma2", f"block{i}.beta2", config)
        found |= {f"block{i}.w1": (width, 4 * width), f"block{i}.b1": (4 * width,)}
        found |= {f"block{i}.w2": (4 * width, width), f"block{i}.b2": (width,)}
    found |= _norm("gamma", "beta", config)
    return found | {"w_head": (width, config.vocabulary), "b_head": (config.vocabulary,)}


def _norm(gamma: str, beta: str, config: Configuration) -> Shapes:
    names = {"layernorm": (gamma, beta), "rmsnorm": (gamma,), "none": ()}[config.norm]
    return dict.fromkeys(names, (config.width,))


class Parameters:
    """A buffer of float32, and a view of it for each parameter.

    Parameters
    ----------
    config : Configuration
        What the model looks like.

    Attributes
    ----------
    flat : ndarray of float32, shape (N,)
        All parameters, matrices and tables first: ``flat[:decaying]`` is what decays.
    decaying : int
        Number of entries that decay.
    views : dict of str to ndarray
        Each parameter, a part of `flat`.
    """

    def __init__(self, config: Configuration) -> None:
        wanted = shapes(config)
        self.flat = np.zeros(sum(map(math.prod, wanted.values())), np.float32)
        self.views: dict[str, Floats] = {}
        start = 0
        for name, shape in sorted(wanted.items(), key=lambda item: -len(item[1])):
            end = start + math.prod(shape)
            self.views[name] = self.flat[start:end].reshape(shape)
            start = end
        self.decaying = sum(view.size for view in self.views.values() if view.ndim == 2)

    @classmethod
    def drawn(cls, config: Configuration) -> "Parameters":
        """Draw a start: He's for matrices, 0.1 for tables, gains of 1, everything else 0."""
        new, rng = cls(config), np.random.default_rng(config.seed)
        for name, shape in shapes(config).items():
            if len(shape) == 2:
                std = 0.1 if name in ("tokens", "positions") else math.sqrt(2 / shape[0])
                new.views[name][:] = rng.normal(0, std, shape)
            elif "gamma" in name:
                new.views[name][:] = 1
        return new

    def of_block(self, i: int) -> Mapping[str, Floats]:
        """Give the parameters of block i by their names within it."""
        start = f"block{i}."
        return {
            name.removeprefix(start): view
            for name, view in self.views.items() if name.startswith(start)
        }  # fmt: skip
