"""Known wrong initializations of GPT-2's matrices (ids IG..., IR...)."""

from __future__ import annotations

import numpy as np

from autograder.mistakes.initialization_draws import (
    in_drawing,
    in_size,
    normal,
    numbered,
)
from autograder.mistakes.registry import Family, Function

gpt2_normal = Family("gpt2_normal")
gpt2_residual = Family("gpt2_residual")
gpt2_init = Family("gpt2_init")

_std = in_size(gpt2_normal, normal)
_std(
    "IG1", "0.02 taken for the variance",
    "Your variance is 0.02. GPT-2's 0.02 is already the standard deviation: take no square root.",
    lambda fan_in, fan_out: np.sqrt(0.02),
)  # fmt: skip
_std(
    "IG3", "Xavier's formula",
    "You used Xavier's formula. GPT-2 draws every matrix with the same standard deviation, 0.02, "
    "whatever its shape.",
    lambda fan_in, fan_out: np.sqrt(2 / (fan_in + fan_out)),
)  # fmt: skip
_std(
    "IG4", "He's formula",
    "You used He's formula. GPT-2 draws every matrix with the same standard deviation, 0.02, "
    "whatever its shape.",
    lambda fan_in, fan_out: np.sqrt(2 / fan_in),
)  # fmt: skip
_std(
    "IG5", "0.02 squared",
    "You passed 0.02**2 to the draw. N(0, 0.02**2) names the variance; rng.normal takes the "
    "standard deviation, 0.02.",
    lambda fan_in, fan_out: 0.02**2,
)  # fmt: skip
_std(
    "IG6", "standard deviation of 1",
    "Your weights have standard deviation 1: the factor 0.02 is missing.",
    lambda fan_in, fan_out: 1.0,
)  # fmt: skip
in_drawing(
    gpt2_normal, normal, lambda fan_in, fan_out: 0.02,
    numbered("IG", 7, 14), ("IG15", "IG2", "IG16"),
)  # fmt: skip


def is_projection(name):
    """Tell whether a matrix of the model is a residual projection."""
    return name.endswith("c_proj.weight")


def right_std(name, n_layer):
    """Give the standard deviation that a matrix of the model should have."""
    return 0.02 / np.sqrt(2 * n_layer) if is_projection(name) else 0.02


def right_vector(name, shape, rng):
    """Give what a bias or a gain of the model should be."""
    return np.ones(shape) if name.endswith(".weight") else np.zeros(shape)


def model(std: Function = right_std, vector: Function = right_vector, draw: Function = normal):
    """Make a gpt2_init, right but for the part that is passed in."""

    def initialize(shapes, n_layer, rng):
        return {
            name: vector(name, shape, rng)
            if len(shape) == 1
            else draw(rng, std(name, n_layer), shape)
            for name, shape in shapes.items()
        }

    return initialize


def _residual(ids: tuple[str, str], name: str, sentence: str, std: Function) -> None:
    """Register a wrong size of the residual projections: drawn alone, and in the model."""
    in_size(gpt2_residual, normal)(
        ids[0], name, sentence, lambda fan_in, fan_out, n_layer: std(n_layer)
    )
    gpt2_init(ids[1], name, sentence)(
        model(lambda name, n_layer: std(n_layer) if is_projection(name) else 0.02)
    )


_residual(
    ("IR1", "IR41"), "divided by sqrt(n_layer)",
    "You divided by sqrt(n_layer). Every block adds to the residual stream twice, after attention "
    "and after the MLP, so 2 * n_layer terms are added: divide by sqrt(2 * n_layer).",
    lambda n_layer: 0.02 / np.sqrt(n_layer),
)  # fmt: skip
_residual(
    ("IR2", "IR42"), "square root missing",
    "You divided by 2 * n_layer. The variances of independent terms add, so the standard deviation "
    "of the sum grows with the square root: divide by sqrt(2 * n_layer).",
    lambda n_layer: 0.02 / (2 * n_layer),
)  # fmt: skip
_residual(
    ("IR3", "IR43"), "residual projections not scaled",
    "Your residual projections have standard deviation 0.02 like the other matrices. 2 * n_layer "
    "of them are added up: divide by sqrt(2 * n_layer).",
    lambda n_layer: 0.02,
)  # fmt: skip
_residual(
    ("IR4", "IR44"), "multiplied by sqrt(2 * n_layer)",
    "You multiplied by sqrt(2 * n_layer). The more terms are added, the smaller each one must be: "
    "divide by it.",
    lambda n_layer: 0.02 * np.sqrt(2 * n_layer),
)  # fmt: skip
_residual(
    ("IR5", "IR45"), "n_layer - 1",
    "You used n_layer - 1. All n_layer blocks add to the residual stream, the first one too: "
    "divide by sqrt(2 * n_layer).",
    lambda n_layer: 0.02 / np.sqrt(2 * (n_layer - 1)),
)  # fmt: skip
_residual(
    ("IR7", "IR47"), "n_layer + 1",
    "You used n_layer + 1. n_layer is the number of blocks, not the index of one, so nothing is "
    "to be added: divide by sqrt(2 * n_layer).",
    lambda n_layer: 0.02 / np.sqrt(2 * (n_layer + 1)),
)  # fmt: skip
_residual(
    ("IR8", "IR48"), "n_layer outside the square root",
    "You computed sqrt(2) * n_layer. n_layer belongs under the root as well: sqrt(2 * n_layer).",
    lambda n_layer: 0.02 / (np.sqrt(2) * n_layer),
)  # fmt: skip
_residual(
    ("IR9", "IR49"), "always 12 blocks",
    "You divided by sqrt(24) whatever n_layer is. That is right for the smallest GPT-2 with its "
    "12 blocks; use the argument n_layer.",
    lambda n_layer: 0.02 / np.sqrt(24),
)  # fmt: skip
_residual(
    ("IR11", "IR50"), "0.02 missing",
    "Your standard deviation is 1 / sqrt(2 * n_layer). The factor 0.02 is missing: "
    "0.02 / sqrt(2 * n_layer).",
    lambda n_layer: 1 / np.sqrt(2 * n_layer),
)  # fmt: skip
_residual(
    ("IR12", "IR51"), "0.02 under the square root",
    "You computed sqrt(0.02 / (2 * n_layer)). 0.02 is a standard deviation already and stays "
    "outside: 0.02 / sqrt(2 * n_layer).",
    lambda n_layer: np.sqrt(0.02 / (2 * n_layer)),
)  # fmt: skip
in_size(gpt2_residual, normal)(
    "IR10", "Xavier's formula, scaled",
    "You divided Xavier's standard deviation by sqrt(2 * n_layer). GPT-2 starts from 0.02, "
    "whatever the shape: 0.02 / sqrt(2 * n_layer).",
    lambda fan_in, fan_out, n_layer: np.sqrt(2 / (fan_in + fan_out)) / np.sqrt(2 * n_layer),
)  # fmt: skip
in_drawing(
    gpt2_residual, normal, lambda fan_in, fan_out, n_layer: 0.02 / np.sqrt(2 * n_layer),
    numbered("IR", 13, 20), numbered("IR", 21, 23),
)  # fmt: skip
