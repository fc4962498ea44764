"""What a check sees of a deep network: the sizes that a student's functions measure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from autograder.checks.compare import Observation, distance
from autograder.checks.core import Functions, Observe
from autograder.checks.inputs import Array, Rng
from autograder.checks.observe import RefusedError, array, call, unpack
from autograder.kernels.signal import NORMS, activation_scale

# Three square layers, in which a lost transpose does not crash.
SQUARE = (16, 16, 16, 16)
# Others, in which it does, and a single layer with a single example.
UNEVEN = ((6, 5, 14, 12, 7), (1, 4, 9))
ROWS = 6
LAYERS = f"x {(ROWS, SQUARE[0])}, {len(SQUARE) - 1} matrices {SQUARE[:2]}"
# Weights this small leave rows whose mean square is about 1e-5.
SMALL = 2e-3
BACK = ("dx", "dweights", "scales")


class Net(NamedTuple):
    """A batch, the matrices it goes through, and a gradient that comes back."""

    x: Array
    weights: list[Array]
    dout: Array


def net(rng: Rng, widths: Sequence[int] = SQUARE, rows: int = ROWS, size: float = 1.0) -> Net:
    """Draw a network whose layers differ in size, with means that are not 0.

    With means of 0 a standard deviation passes for a root mean square, and LayerNorm for RMSNorm.

    Parameters
    ----------
    rng : numpy.random.Generator
    widths : sequence of int
        Features of the input and of each layer.
    rows : int
        Number of examples.
    size : float
        Factor on all matrices; 1 is near He's rule.
    """
    weights = []
    for before, after in pairwise(widths):
        std = size * rng.uniform(0.7, 1.4) * np.sqrt(2 / before)
        weights.append(std * (rng.standard_normal((before, after)) + 0.3))
    stretch = rng.uniform(0.5, 2.0, size=(rows, 1))
    x = stretch * rng.standard_normal((rows, widths[0])) + rng.uniform(0.5, 1.0)
    return Net(x, weights, rng.standard_normal((rows, widths[-1])) + 0.5)


def _copies(weights: list[Array]) -> list[Array]:
    return [weight.copy() for weight in weights]


def _numbers(value: Any, name: str) -> Array:
    """Take sizes as an array, or as the list of numbers that loops build."""
    if isinstance(value, list | tuple) and all(_is_number(part) for part in value):
        return np.array(value, dtype=np.float64)
    return array(value, name)


def _is_number(value: Any) -> bool:
    real = isinstance(value, int | float | np.integer | np.floating)
    return real and not isinstance(value, bool)


def _forward(functions: Functions, drawn: Net, norm: str) -> tuple[Any, Any, Any]:
    returned = call(functions[0], drawn.x.copy(), _copies(drawn.weights), norm)
    out, scales, cache = unpack(returned, ("out", "scales", "cache"))
    return out, scales, cache


def _measured(functions: Functions, drawn: Net, norm: str) -> Array:
    return _numbers(_forward(functions, drawn, norm)[1], "scales")


def outputs(functions: Functions, rng: Rng) -> Observation:
    """Observe the output of the last layer."""
    return {
        f"out with norm {norm!r}": array(_forward(functions, net(rng), norm)[0], "out")
        for norm in NORMS
    }


def sizes(norms: Sequence[str], size: float = 1.0) -> Observe:
    """Observe the sizes of all layers, with matrices of this size."""

    def observe(functions: Functions, rng: Rng) -> Observation:
        return {
            f"scales with norm {norm!r}": _measured(functions, net(rng, size=size), norm)
            for norm in norms
        }

    return observe


def uneven(functions: Functions, rng: Rng) -> Observation:
    """Observe the sizes where no two layers have the same width."""
    seen: dict[str, Any] = {}
    for rows, *widths in UNEVEN:
        for norm in ("none", "layernorm"):
            name = f"scales of {_shapes(widths)}, norm {norm!r}"
            seen[name] = _measured(functions, net(rng, widths, rows), norm)
    return seen


def _shapes(widths: Sequence[int]) -> str:
    return ", ".join(str(shape) for shape in pairwise(widths))


def untouched(functions: Functions, rng: Rng) -> Observation:
    """Observe whether x and weights are as they were."""
    drawn = net(rng)
    x, weights = drawn.x.copy(), _copies(drawn.weights)
    call(functions[0], x, weights, "layernorm")
    # Behind a process boundary the function has copies, and what it changed is reported.
    reported = getattr(functions[0], "changed", ())
    same = all(map(np.array_equal, weights, drawn.weights))
    return {
        "x unchanged": np.array_equal(x, drawn.x) and 0 not in reported,
        "weights unchanged": same and len(weights) == len(drawn.weights) and 1 not in reported,
    }


def _backward(functions: Functions, drawn: Net, norm: str) -> dict[str, Any]:
    *_, cache = _forward(functions, drawn, norm)
    dx, dweights, scales = unpack(call(functions[1], drawn.dout.copy(), cache), BACK)
    count = len(drawn.weights)
    return {
        "dx": lambda: array(dx, "dx"),
        "scales": lambda: _numbers(scales, "scales"),
        **{f"dweights[{k}]": lambda k=k: _one_of(dweights, k, count) for k in range(count)},
    }


def _one_of(dweights: Any, place: int, count: int) -> Array:
    if isinstance(dweights, np.ndarray) and dweights.ndim == 3:
        dweights = list(dweights)
    if not isinstance(dweights, list | tuple) or len(dweights) != count:
        kind = type(dweights).__name__
        came = f"{len(dweights)}" if isinstance(dweights, list | tuple) else kind
        raise RefusedError(f"must return dweights as a list of {count} arrays; it returned {came}")
    return array(dweights[place], f"dweights[{place}]")


def gradients(
    part: str,
    norms: Sequence[str] = NORMS,
    sizes: Sequence[tuple[int, ...]] = ((ROWS, *SQUARE),),
    size: float = 1.0,
) -> Observe:
    """Observe what comes back of the part whose name begins so; of all of it for an empty one."""

    def observe(functions: Functions, rng: Rng) -> Observation:
        seen = {}
        for rows, *widths in sizes:
            for norm in norms:
                returned = _backward(functions, net(rng, widths, rows, size), norm)
                for name, take in returned.items():
                    if name.startswith(part):
                        seen[f"{name} of {_shapes(widths[:2])}..., norm {norm!r}"] = take()
        return seen

    return observe


def blame_forward(functions: Functions, rng: Rng) -> str | None:
    """Say so where the gradients cannot be right because the forward pass is not."""
    for size, rtol in ((1.0, 2e-6), (SMALL, 1e-4)):
        for norm in NORMS:
            drawn = net(rng, size=size)
            right = activation_scale(drawn.x, drawn.weights, norm)[1]
            try:
                seen = _measured(functions, drawn, norm)
            except RefusedError:
                return "Gradients are graded with your own cache: write activation_scale first."
            if distance(seen, right) > rtol:
                return (
                    "Your activation_scale is not right yet, and the gradients are graded with "
                    "the cache that it makes. Mend the forward pass first."
                )
    return None
