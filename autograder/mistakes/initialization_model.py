"""Known wrong initializations of a whole GPT-2 (more ids IR...)."""

from __future__ import annotations

import numpy as np

from autograder.mistakes.initialization_draws import ROOT_3, normal, truncated, uniform
from autograder.mistakes.initialization_gpt2 import (
    gpt2_init,
    is_projection,
    model,
    right_std,
    right_vector,
)
from autograder.mistakes.registry import Function


def _in_std(id: str, name: str, sentence: str, std: Function) -> None:
    gpt2_init(id, name, sentence)(model(std))


def _in_vectors(id: str, name: str, sentence: str, vector: Function) -> None:
    gpt2_init(id, name, sentence)(model(vector=vector))


def _by_block(name, n_layer):
    block = int(name.split("h.")[1].split(".")[0]) + 1 if is_projection(name) else n_layer
    return right_std(name, block)


_in_std(
    "IR6", "scaled by the index of the block",
    "Your standard deviation changes from block to block. Every residual projection is divided by "
    "the same sqrt(2 * n_layer), n_layer being the number of all blocks.",
    _by_block,
)  # fmt: skip
_in_std(
    "IR24", "every matrix scaled",
    "You scaled every matrix by 1 / sqrt(2 * n_layer). Only those whose output is added to the "
    "residual stream are: names that end in c_proj.weight. The others keep 0.02.",
    lambda name, n_layer: 0.02 / np.sqrt(2 * n_layer),
)  # fmt: skip
_in_std(
    "IR25", "only attention's projection scaled",
    "You scaled attn.c_proj.weight and left mlp.c_proj.weight at 0.02. Both are added to the "
    "residual stream; the rule looks at the end of the name, c_proj.weight.",
    lambda name, n_layer: right_std(name, n_layer) if "attn" in name else 0.02,
)  # fmt: skip
_in_std(
    "IR26", "only the MLP's projection scaled",
    "You scaled mlp.c_proj.weight and left attn.c_proj.weight at 0.02. Both are added to the "
    "residual stream; the rule looks at the end of the name, c_proj.weight.",
    lambda name, n_layer: right_std(name, n_layer) if "mlp" in name else 0.02,
)  # fmt: skip
_in_std(
    "IR52", "positions drawn smaller",
    "You drew the table of positions with 0.01, as OpenAI's first code did. nanoGPT's rule, which "
    "is asked for here, gives every matrix but c_proj the same 0.02.",
    lambda name, n_layer: 0.01 if name.startswith("wpe") else right_std(name, n_layer),
)  # fmt: skip
_in_std(
    "IR53", "embeddings of standard deviation 1",
    "You drew the embedding tables with standard deviation 1, some libraries' default. GPT-2 "
    "draws them like every other matrix: 0.02.",
    lambda name, n_layer: 1.0 if name.startswith("w") else right_std(name, n_layer),
)  # fmt: skip
_in_std(
    "IR54", "output layer scaled too",
    "You scaled lm_head.weight like a residual projection. Its output is not added to the "
    "residual stream: it keeps 0.02.",
    lambda name, n_layer: right_std("c_proj.weight" if "head" in name else name, n_layer),
)  # fmt: skip
_in_std(
    "IR55", "0.02 taken for the variance",
    "You took the square root of 0.02. It is already the standard deviation: 0.02 for most "
    "matrices, 0.02 / sqrt(2 * n_layer) for those that end in c_proj.weight.",
    lambda name, n_layer: right_std(name, n_layer) / np.sqrt(0.02),
)  # fmt: skip
_in_vectors(
    "IR27", "random biases",
    "You drew the biases at random. They start at 0: the random weights already make the units "
    "differ, and a bias only shifts them.",
    lambda name, shape, rng: right_vector(name, shape, rng)
    if name.endswith(".weight")
    else rng.normal(0, 0.02, shape),
)  # fmt: skip
_in_vectors(
    "IR28", "random norm gains",
    "You drew the gains of the norms at random. A .weight of one axis is a gain and starts at 1, "
    "so that the norm at first only normalizes.",
    lambda name, shape, rng: rng.normal(0, 0.02, shape)
    if name.endswith(".weight")
    else np.zeros(shape),
)  # fmt: skip
_in_vectors(
    "IR29", "norm gains of 0",
    "You set the gains of the norms to 0. Then every norm gives 0 and no signal passes: a .weight "
    "of one axis starts at 1.",
    lambda name, shape, rng: np.zeros(shape),
)  # fmt: skip
_in_vectors(
    "IR30", "biases of 1",
    "You set the biases to 1, like the gains. Names that end in .bias start at 0.",
    lambda name, shape, rng: np.ones(shape),
)  # fmt: skip
_in_vectors(
    "IR31", "random biases in the projections",
    "You look for c_proj in the name before you look at its end, so c_proj.bias is drawn at "
    "random. Only names that end in c_proj.weight are matrices; biases start at 0.",
    lambda name, shape, rng: rng.normal(0, 0.01, shape)
    if "c_proj" in name
    else right_vector(name, shape, rng),
)  # fmt: skip
_in_vectors(
    "IR32", "everything drawn at random",
    "You drew biases and norm gains like matrices. Biases start at 0 and the gains of the norms "
    "at 1; only parameters of two axes are random.",
    lambda name, shape, rng: rng.normal(0, 0.02, shape),
)  # fmt: skip


@gpt2_init(
    "IR33", "biases and gains left out",
    "Your dictionary holds only the matrices. It needs every name of shapes: the biases with "
    "zeros and the norm gains with ones.",
)  # fmt: skip
def _matrices_only(shapes, n_layer, rng):
    return model()({name: shape for name, shape in shapes.items() if len(shape) > 1}, n_layer, rng)


@gpt2_init(
    "IR56", "shapes overwritten",
    "You wrote the arrays into shapes and returned it. The caller's dictionary of shapes is then "
    "gone: fill a new one.",
)  # fmt: skip
def _overwritten(shapes, n_layer, rng):
    shapes.update(model()(shapes, n_layer, rng))
    return shapes


@gpt2_init(
    "IR34", "generator restarted for every matrix",
    "Every matrix starts from the same seed, so all of them begin with the same numbers. Use the "
    "one rng for all, so that each draw goes on where the last one ended.",
)  # fmt: skip
def _restarted(shapes, n_layer, rng):
    seed = int(rng.integers(2**31))
    draw = lambda _, std, shape: normal(np.random.default_rng(seed), std, shape)  # noqa: E731
    return model(draw=draw)(shapes, n_layer, rng)


@gpt2_init(
    "IR35", "one block copied to all",
    "All blocks start with the same weights: you drew one block and used it again. Draw every "
    "matrix of every block from rng, so that each block has its own start.",
)  # fmt: skip
def _copied_blocks(shapes, n_layer, rng):
    made = model()(shapes, n_layer, rng)
    first = {name: "h.0." + name.split(".", 2)[2] for name in made if name.startswith("h.")}
    return {name: made[first.get(name, name)].copy() for name in made}


@gpt2_init(
    "IR36", "a fixed seed inside the function",
    "You made a generator with a fixed seed inside the function, so every model starts with the "
    "same weights. Draw from the rng that is passed in.",
)  # fmt: skip
def _fixed_seed(shapes, n_layer, rng):
    return model()(shapes, n_layer, np.random.default_rng(0))


@gpt2_init(
    "IR37", "a generator of its own",
    "You made a new generator inside the function, so nobody can repeat a run. Draw from the rng "
    "that is passed in.",
)  # fmt: skip
def _own_generator(shapes, n_layer, rng):
    return model()(shapes, n_layer, np.random.default_rng())


@gpt2_init(
    "IR38", "NumPy's global generator",
    "You drew with np.random.<something>, the generator that all code shares. Whoever else draws "
    "from it changes your weights: use the methods of rng.",
)  # fmt: skip
def _global_state(shapes, n_layer, rng):
    return model()(shapes, n_layer, np.random)


@gpt2_init(
    "IR39", "a fixed seed for every matrix",
    "You made a generator with a fixed seed for each matrix: all matrices begin with the same "
    "numbers, in every model. Draw all of them from the rng that is passed in.",
)  # fmt: skip
def _fixed_seeds(shapes, n_layer, rng):
    draw = lambda _, std, shape: normal(np.random.default_rng(0), std, shape)  # noqa: E731
    return model(draw=draw)(shapes, n_layer, rng)


def _in_draw(id: str, name: str, sentence: str, draw: Function) -> None:
    gpt2_init(id, name, sentence)(model(draw=draw))


_in_draw(
    "IR40", "shapes turned over",
    "Your matrices have their axes exchanged. shapes[name] is (fan_in, fan_out), as y = x @ w "
    "needs it: use it as it is.",
    lambda rng, std, shape: normal(rng, std, shape[::-1]),
)  # fmt: skip
_in_draw(
    "IR57", "uniform instead of normal",
    "The standard deviations are right, but your numbers are uniform. GPT-2 draws from a normal "
    "distribution: rng.normal or rng.standard_normal.",
    lambda rng, std, shape: uniform(rng, ROOT_3 * std, shape),
)  # fmt: skip
_in_draw(
    "IR58", "uniform between -std and std",
    "You drew uniformly between -std and std. That distribution is not normal, and its standard "
    "deviation is only std / sqrt(3) = 0.577 std.",
    uniform,
)  # fmt: skip
_in_draw(
    "IR59", "truncated and not scaled back",
    "You cut the normal distribution off at two standard deviations. That leaves 0.88 of the "
    "standard deviation asked for: divide by 0.8796, or do not cut.",
    truncated,
)  # fmt: skip
_in_draw(
    "IR60", "only positive weights",
    "You scaled rng.random, which gives numbers from 0 to 1. Weights must spread evenly around 0: "
    "use rng.normal.",
    lambda rng, std, shape: rng.random(shape) * std,
)  # fmt: skip
