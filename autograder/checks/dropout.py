"""What is asked of dropout: properties of its randomness, never an order of random numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograder.checks.compare import Observation, Within
from autograder.checks.core import Check, Functions, Property
from autograder.checks.dropout_backward import BACKWARD
from autograder.checks.dropout_passes import (
    ERRORS,
    at_zero_p,
    close,
    draw,
    every,
    factor,
    forward,
    fresh,
    kept_share,
    ones,
    share,
)  # fmt: skip
from autograder.checks.inputs import Array, Rng
from autograder.checks.observe import array, call, leaves_alone, unpack
from autograder.kernels.dropout import dropout_forward

# Two values of p, because several mistakes are right at 0.5.
PS = (0.3, 0.8)
BATCH, BATCHES = (70, 70), 4
# No p N is a whole number, so that the share that survives is never 1 - p exactly.
UNEVEN = (101, 97)
TOKENS = (24, 20, 16)
CALLS = 32


def _out(functions: Functions, x: Array, p: float, training: bool, rng: Rng) -> Array:
    return forward(functions, x, p, training, rng)[0]


def _kept(functions: Functions, rng: Rng) -> Observation:
    x, draws = draw(rng, BATCH), fresh(rng)
    return {
        f"share kept with p={p}": float(
            np.mean([share(_out(functions, x, p, True, draws) != 0) for _ in range(BATCHES)])
        )
        for p in PS
    }


def _scale(functions: Functions, rng: Rng) -> Observation:
    x = draw(rng, UNEVEN)
    seen: dict[str, Any] = {}
    for p in PS:
        out = _out(functions, x, p, True, fresh(rng))
        ratio = (out / x)[out != 0] * (1 - p)
        seen |= factor(f"kept / (x / (1 - p)) with p={p}", ratio)
        # The noise of a factor that depends on the mask would also cover one that is right.
        seen[f"every factor right with p={p}"] = bool(np.all(close(ratio, np.ones_like(ratio))))
    return seen


def _inference(functions: Functions, rng: Rng) -> Observation:
    x = draw(rng, (60, 50))
    active = _out(functions, x, 0.5, True, fresh(rng))
    x[:2] = np.inf * np.sign(x[:2])
    out = _out(functions, x, 0.3, False, fresh(rng))
    return {
        "something changed in training": not np.all(close(active[2:], x[2:])),
        "share of entries equal to x": share(close(out[2:], x[2:])),
        "infinite entries unchanged": bool(np.array_equal(out[:2], x[:2])),
        "mean of out / x": float(np.mean(out[2:] / x[2:])),
        "share of zeros": share(out[2:] == 0),
    }


def _no_dropping(functions: Functions, rng: Rng) -> Observation:
    x, draws = draw(rng, (400,)), fresh(rng)
    equal = at_zero_p(lambda: share(close(_out(functions, x, 0.0, True, draws), x)))
    return {"share of entries equal to x": equal}


def _neighbours(kept: Array, axis: int) -> float:
    """Correlate each entry of a mask with the next one along an axis."""
    centred = np.moveaxis(kept - kept.mean(), axis, 0)
    variance = float(centred.var())
    return float((centred[1:] * centred[:-1]).mean() / variance) if variance else float("nan")


def _independent(functions: Functions, rng: Rng) -> Observation:
    kept = _out(functions, draw(rng, TOKENS), 0.4, True, fresh(rng)) != 0
    seen = {f"correlation along axis {axis}": _neighbours(kept, axis) for axis in range(3)}
    x, draws = draw(rng, (8, 8)), fresh(rng)
    counts = [np.count_nonzero(_out(functions, x, 0.3, True, draws)) for _ in range(CALLS)]
    chance = np.sqrt(x.size * 0.3 * 0.7)
    return seen | {"spread of the number kept, over chance": float(np.std(counts) / chance)}


def _from_rng(functions: Functions, rng: Rng) -> Observation:
    x, longer, seed = draw(rng, (40, 40)), draw(rng, (80, 40)), int(rng.integers(2**32))
    draws = np.random.default_rng(seed)
    first = _out(functions, x, 0.5, True, draws)
    second = _out(functions, x, 0.5, True, draws)
    third = _out(functions, longer, 0.5, True, draws)[:40]
    again = _out(functions, x, 0.5, True, np.random.default_rng(seed))
    return {
        "same output from the same seed": bool(np.array_equal(first, again)),
        "new mask in the next call": not np.array_equal(first != 0, second != 0),
        "new mask for a longer x": not np.array_equal(first != 0, third != 0),
    }


def _dtype(functions: Functions, rng: Rng) -> Observation:
    x = np.float32(draw(rng, (200,)))
    out = unpack(call(functions[0], x, 0.3, True, fresh(rng)), ("out", "cache"))[0]
    array(out, "out")
    return {"dtype of out": str(out.dtype)}


def _untouched(functions: Functions, rng: Rng) -> Observation:
    x, draws = draw(rng, (12, 15)), fresh(rng)
    modes = (True, False)
    kept = [leaves_alone(functions[0], x.copy(), 0.3, training, draws) for training in modes]
    return {"x unchanged": all(kept)}


def _by_chance() -> dict[str, Any]:
    pairs = {axis: np.prod(TOKENS) * (1 - 1 / n) for axis, n in enumerate(TOKENS)}
    axes = {
        f"correlation along axis {axis}": Within(0.0, ERRORS / float(np.sqrt(count)))
        for axis, count in pairs.items()
    }
    spread = Within(1.0, ERRORS / float(np.sqrt(2 * (CALLS - 1))))
    return axes | {"spread of the number kept, over chance": spread}


# As wide as for one draw per row or column: a mask that is shared has the right share, and
# loses its points where independence is asked.
_SHARES = {f"share kept with p={p}": kept_share(p, BATCHES * BATCH[0]) for p in PS}
_FIRST = "zeros with probability p"

FORWARD = Check(
    "dropout_forward",
    "dropout",
    (
        Property(
            _FIRST, 0.25, _kept, f"{BATCHES} calls on x {BATCH} for each p",
            expected=_SHARES, noise=0.1,
        ),
        Property(
            "kept entries are x / (1 - p)", 0.25, _scale, f"x {UNEVEN}, p = 0.3 and 0.8",
            expected=ones(*(f"kept / (x / (1 - p)) with p={p}" for p in PS)), noise=0.1,
        ),
        Property(
            "inference returns x", 0.15, _inference, "x (60, 50), training=False, p = 0.3",
            expected={
                "something changed in training": True,
                **every("share of entries equal to x"),
                "infinite entries unchanged": True,
            },
            noise=0.15,
        ),
        Property(
            "p = 0 changes nothing", 0.1, _no_dropping, "x (400,), training=True, p = 0",
            expected=every("share of entries equal to x"), noise=0.2,
        ),
        Property(
            "entries drop independently", 0.1, _independent,
            f"x {TOKENS} with p = 0.4; {CALLS} calls on x (8, 8) with p = 0.3",
            expected=_by_chance(), noise=0.6,
        ),
        Property(
            "randomness comes from rng", 0.05, _from_rng, "x (40, 40) and (80, 40), p = 0.5",
            expected={
                "same output from the same seed": True,
                "new mask in the next call": True,
                "new mask for a longer x": True,
            },
        ),
        Property(
            "float32 stays float32", 0.05, _dtype, "x (200,) in float32, p = 0.3",
            expected={"dtype of out": "float32"}, needs=_FIRST,
        ),
        Property(
            "x left alone", 0.05, _untouched, "x (12, 15) in both modes",
            expected={"x unchanged": True}, needs=_FIRST,
        ),
    ),
    (dropout_forward,),
)  # fmt: skip

CHECKS = (FORWARD, BACKWARD)


def check_dropout_forward(dropout_forward: Callable[..., Any], points: float) -> float:
    """Grade a dropout forward pass.

    Parameters
    ----------
    dropout_forward : callable
        ``dropout_forward(x, p, training, rng) -> out, cache``.
    points : float
        What a right answer is worth.

    Returns
    -------
    float
        The score, between 0 and `points`.
    """
    return FORWARD.run((dropout_forward,), points)


def check_dropout_backward(
    dropout_forward: Callable[..., Any], dropout_backward: Callable[..., Any], points: float
) -> float:
    """Grade a dropout backward pass with the cache of the same student's forward pass.

    Parameters
    ----------
    dropout_forward, dropout_backward : callable
        ``dropout_backward(dout, cache) -> dx``.
    points : float
        What a right answer is worth.

    Returns
    -------
    float
        The score, between 0 and `points`.
    """
    return BACKWARD.run((dropout_forward, dropout_backward), points)
