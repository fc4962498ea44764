"""What is asked of the initialization of a whole model, parameter by parameter."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from autograder.checks.compare import Observation, Within
from autograder.checks.core import Check, Functions, Property
from autograder.checks.inputs import Array, Rng
from autograder.checks.observe import RefusedError, array, call
from autograder.checks.statistics import (
    NORMAL,
    contained,
    correlation,
    global_state,
    largest_correlation,
    mean_in_std,
    mean_within,
    shares_beyond,
    std_ratio,
    std_within,
)
from autograder.kernels.initialization import gpt2_init

Shapes = dict[str, tuple[int, ...]]

BLOCKS = 3
WIDTH = 32
STD = 0.02


def _model_shapes(width: int) -> Shapes:
    """List the parameters of a GPT-2 by nanoGPT's names."""
    block = {
        "ln_1": (width,), "attn.c_attn": (width, 3 * width), "attn.c_proj": (width, width),
        "ln_2": (width,), "mlp.c_fc": (width, 4 * width), "mlp.c_proj": (4 * width, width),
    }  # fmt: skip
    shapes: Shapes = {"wte.weight": (2 * width + 1, width), "wpe.weight": (width + 1, width)}
    for index in range(BLOCKS):
        for name, shape in block.items():
            shapes[f"h.{index}.{name}.weight"] = shape
            shapes[f"h.{index}.{name}.bias"] = shape[-1:]
    shapes["ln_f.weight"] = shapes["ln_f.bias"] = (width,)
    shapes["lm_head.weight"] = (width, 2 * width + 1)
    return shapes


SHAPES = _model_shapes(WIDTH)
MATRICES = [name for name, shape in SHAPES.items() if len(shape) == 2]

_BLOCK_MATRICES = [name.removeprefix("h.0.") for name in MATRICES if name.startswith("h.0.")]
_OTHER_BLOCKS = tuple(f"h.{index}." for index in range(1, BLOCKS))
_INNER = [name for name in MATRICES if ".c_attn." in name or ".c_fc." in name]
_ORDINARY = {
    "wte.weight": ["wte.weight"],
    "wpe.weight": ["wpe.weight"],
    "c_attn.weight and c_fc.weight": _INNER,
    "lm_head.weight": ["lm_head.weight"],
}
_RESIDUAL = {
    f"{name} of block {index}": [f"h.{index}.{name}"]
    for index in (0, BLOCKS - 1)
    for name in ("attn.c_proj.weight", "mlp.c_proj.weight")
}


def _call(function: Callable[..., Any], shapes: Shapes, rng: Rng) -> Mapping[str, Any]:
    made = call(function, shapes, BLOCKS, rng)
    if not isinstance(made, Mapping):
        kind = "None" if made is None else type(made).__name__
        raise RefusedError(f"must return a dict of arrays by name; it returned {kind}")
    return made


def _take(made: Mapping[str, Any], names: Iterable[str], shapes: Shapes) -> dict[str, Array]:
    """Take the named parameters, with as many entries as they should have."""
    taken = {}
    for name in names:
        if name not in made:
            raise RefusedError(f"returned no {name}")
        taken[name] = array(made[name], name)
        if taken[name].size != math.prod(shapes[name]):
            raise RefusedError(f"returned {name} with shape {taken[name].shape}")
    return taken


def _matrices(functions: Functions, rng: Rng) -> dict[str, Array]:
    return _take(_call(functions[0], dict(SHAPES), rng), MATRICES, SHAPES)


def _fresh(rng: Rng) -> Rng:
    return np.random.default_rng(int(rng.integers(2**63)))


def _together(matrices: Mapping[str, Array], names: Iterable[str]) -> Array:
    return np.concatenate([matrices[name].ravel() for name in names])


def _names(functions: Functions, rng: Rng) -> Observation:
    shapes = _model_shapes(4)
    passed = dict(shapes)
    made = _call(functions[0], passed, _fresh(rng))
    wrong = (
        f"{name} {shape}"
        for name, right in shapes.items()
        if name in made and (shape := array(made[name], name).shape) != right
    )
    return {
        "first missing name": next((name for name in shapes if name not in made), "none"),
        "first name too many": next((str(name) for name in made if name not in shapes), "none"),
        "first wrong shape": next(wrong, "none"),
        "shapes left alone": _same(passed, shapes) and not getattr(functions[0], "changed", ()),
    }


def _same(passed: Mapping[str, Any], shapes: Shapes) -> bool:
    kept = all(isinstance(shape, tuple) and shape == shapes[name] for name, shape in passed.items())
    return passed.keys() == shapes.keys() and kept


def _vectors(functions: Functions, rng: Rng) -> Observation:
    shapes = _model_shapes(4)
    names = [name for name, shape in shapes.items() if len(shape) == 1]
    vectors = _take(_call(functions[0], dict(shapes), _fresh(rng)), names, shapes)
    groups = {
        "ln_1.weight, ln_2.weight, ln_f.weight": [n for n in names if n.endswith(".weight")],
        "c_proj.bias": [n for n in names if n.endswith("c_proj.bias")],
        "other biases": [n for n in names if n.endswith(".bias") and "c_proj" not in n],
    }
    return {group: _content(_together(vectors, members)) for group, members in groups.items()}


def _content(values: Array) -> str:
    for value in (0, 1):
        if np.all(values == value):
            return f"all {value}"
    return "another constant" if np.all(values == values[0]) else "not constant"


def _ordinary(functions: Functions, rng: Rng) -> Observation:
    matrices = _matrices(functions, _fresh(rng))
    inner = _together(matrices, _INNER)
    spreads = {
        _spread(group): std_ratio(_together(matrices, names), STD)
        for group, names in _ORDINARY.items()
    }
    return {**spreads, "mean in standard deviations": mean_in_std(inner), **shares_beyond(inner)}


def _residual(functions: Functions, rng: Rng) -> Observation:
    matrices = _matrices(functions, _fresh(rng))
    return {
        _spread(group): std_ratio(_together(matrices, names), STD / math.sqrt(2 * BLOCKS))
        for group, names in _RESIDUAL.items()
    }


def _spread(group: str) -> str:
    return f"standard deviation over the right one, for {group},"


def _right_spreads(groups: Mapping[str, list[str]]) -> dict[str, Within]:
    return {
        _spread(group): std_within(sum(math.prod(SHAPES[name]) for name in names))
        for group, names in groups.items()
    }


def _draws(functions: Functions, rng: Rng) -> Observation:
    seed, before = int(rng.integers(2**63)), global_state()
    shared = np.random.default_rng(seed)
    first, second = (_matrices(functions, shared) for _ in range(2))
    again = _matrices(functions, np.random.default_rng(seed))
    # The beginnings, so that matrices of different shapes can be compared too.
    starts = {name: matrix.ravel()[: WIDTH * WIDTH] for name, matrix in first.items()}
    between = [
        largest_correlation([starts[f"h.{index}.{name}"] for index in range(BLOCKS)])
        for name in _BLOCK_MATRICES
    ]
    return {
        "correlation of two models from one rng": correlation(
            _together(first, MATRICES), _together(second, MATRICES)
        ),
        "largest correlation between different matrices": largest_correlation(
            [start for name, start in starts.items() if not name.startswith(_OTHER_BLOCKS)]
        ),
        "largest correlation between blocks": float(np.max(between)),
        "same seed, same weights": all(np.array_equal(first[n], again[n]) for n in MATRICES),
        "global random state of NumPy left alone": global_state() == before,
    }


MODEL = Check(
    "gpt2_init",
    "initialization",
    (
        Property(
            "names and shapes", 0.1, contained(_names), f"a model of {BLOCKS} blocks",
            expected={
                "first missing name": "none", "first name too many": "none",
                "first wrong shape": "none", "shapes left alone": True,
            },
        ),
        Property(
            "biases and norm gains", 0.2, contained(_vectors), f"a model of {BLOCKS} blocks",
            expected={
                "ln_1.weight, ln_2.weight, ln_f.weight": "all 1",
                "c_proj.bias": "all 0", "other biases": "all 0",
            },
        ),
        Property(
            "ordinary matrices", 0.2, contained(_ordinary), f"a model of {BLOCKS} blocks",
            expected={
                **_right_spreads(_ORDINARY),
                "mean in standard deviations": mean_within(len(_INNER) * 3 * WIDTH * WIDTH),
                **NORMAL,
            },
            noise=0.08,
        ),
        Property(
            "residual projections", 0.3, contained(_residual), f"n_layer = {BLOCKS}",
            expected=_right_spreads(_RESIDUAL), noise=0.08,
        ),
        Property(
            "random numbers from rng", 0.2, contained(_draws),
            "two calls with one rng, a third with the same seed",
            expected={
                # Five standard errors; six and a half for the largest of many.
                "correlation of two models from one rng": Within(0.0, 0.02),
                "largest correlation between different matrices": Within(0.0, 6.5 / WIDTH),
                "largest correlation between blocks": Within(0.0, 6.5 / WIDTH),
                "same seed, same weights": True,
                "global random state of NumPy left alone": True,
            },
            noise=0.1,
        ),
    ),
    (gpt2_init,),
)  # fmt: skip
