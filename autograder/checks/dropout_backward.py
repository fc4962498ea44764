"""What is asked of dropout's backward pass, given the mask that the student's own out shows."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.checks.compare import Observation
from autograder.checks.core import Check, Functions, Property
from autograder.checks.dropout_passes import (
    at_zero_p,
    close,
    draw,
    every,
    factor,
    forward,
    fresh,
    kept_share,
    none,
    ones,
    shaped,
    share,
)  # fmt: skip
from autograder.checks.inputs import Array, Rng
from autograder.checks.observe import RefusedError, array, call
from autograder.kernels.dropout import dropout_backward, dropout_forward

SHAPE = (60, 50)
# The scale is asked for at two values of p, because dividing by p is right at 0.5.
PS = (0.3, 0.8)
SHAPES = ((200,), (4, 5, 60))


class _Pass:
    """One forward and backward pass in training, by the student's functions."""

    def __init__(self, functions: Functions, rng: Rng, x: Array, p: float = 0.3) -> None:
        self.functions, self.x, self.p = functions, x, p
        self.out, self.cache = forward(functions, x, p, True, fresh(rng))
        self.dout = draw(rng, x.shape)

    def dx(self) -> Array:
        return _dx(self.functions, self.dout, self.cache)

    def wrong(self) -> float:
        """Give the share of wrong entries in dx, with the mask that out shows."""
        return share(~close(self.dx(), np.where(self.out != 0, self.dout / (1 - self.p), 0)))


def _dx(functions: Functions, dout: Array, cache: Any) -> Array:
    return shaped(array(call(functions[1], dout.copy(), cache), "dx"), "dx", dout)


def _mask(functions: Functions, rng: Rng) -> Observation:
    both = _Pass(functions, rng, draw(rng, SHAPE))
    dx, kept = both.dx(), both.out != 0
    return {
        "share of dropped entries with dx not 0": share(dx[~kept] != 0),
        "share of kept entries with dx 0": share(dx[kept] == 0),
    }


def _scale(functions: Functions, rng: Rng) -> Observation:
    seen: dict[str, float] = {}
    for p in PS:
        both = _Pass(functions, rng, draw(rng, SHAPE), p)
        ratio = (both.dx() / both.dout)[both.out != 0]
        seen |= factor(f"kept dx / (dout / (1 - p)) with p={p}", ratio * (1 - p))
    return seen


def _zeros_in_x(functions: Functions, rng: Rng) -> Observation:
    both = _Pass(functions, rng, np.maximum(draw(rng, SHAPE), 0))
    ratio = both.dx() / both.dout * (1 - both.p)
    zero = both.x == 0
    # Which zeros of x were kept, out cannot tell, and the order of random numbers is the
    # student's: but how many there are is known.
    at_zeros = ratio[zero]
    return {
        "share of wrong dx where x is not 0": share(~close(ratio, both.out != 0)[~zero]),
        "share with dx not 0 where x is 0": share(at_zeros != 0),
        **factor("kept dx / (dout / (1 - p)) where x is 0", at_zeros[at_zeros != 0]),
    }


def _any_shape(functions: Functions, rng: Rng) -> Observation:
    return {
        f"share of wrong entries in dx for x {shape}": _Pass(
            functions, rng, draw(rng, shape)
        ).wrong()
        for shape in SHAPES
    }


def _after_inference(functions: Functions, rng: Rng) -> Observation:
    x, dout = draw(rng, SHAPE), draw(rng, SHAPE)
    dx = _dx(functions, dout, forward(functions, x, 0.3, False, fresh(rng))[1])
    return {"share of dx equal to dout": share(close(dx, dout)), "share of dx 0": share(dx == 0)}


def _after_zero_p(functions: Functions, rng: Rng) -> Observation:
    both = _Pass(functions, rng, draw(rng, SHAPE), 0.0)
    return {"share of dx equal to dout": at_zero_p(lambda: share(close(both.dx(), both.dout)))}


def _two_calls(functions: Functions, rng: Rng) -> Observation:
    first, second = (_Pass(functions, rng, draw(rng, SHAPE)) for _ in range(2))
    return {
        "share of wrong entries in the second dx": second.wrong(),
        "share of wrong entries in the first dx": first.wrong(),
    }


def _blame_forward(functions: Functions, rng: Rng) -> str | None:
    x = draw(rng, SHAPE)
    try:
        out = forward(functions, x, 0.3, True, fresh(rng))[0]
    except RefusedError:
        return "The backward pass is graded with your own cache: write dropout_forward first."
    kept = out != 0
    if np.all(close(out, x * kept / 0.7)) and abs(share(kept) - 0.7) < 0.1:
        return None
    return (
        "Your dropout_forward is not right yet, and the backward pass is graded with the cache "
        "that it makes. Mend the forward pass first."
    )


_FIRST = "the mask of the forward pass"
_GIVEN = f"x {SHAPE}, p = 0.3"

BACKWARD = Check(
    "dropout_backward",
    "dropout",
    (
        Property(
            _FIRST, 0.3, _mask, _GIVEN,
            expected=none(
                "share of dropped entries with dx not 0", "share of kept entries with dx 0"
            ),
            noise=0.1,
        ),
        Property(
            "the scale 1 / (1 - p)", 0.25, _scale, f"x {SHAPE}, p = 0.3 and 0.8",
            expected=ones(*(f"kept dx / (dout / (1 - p)) with p={p}" for p in PS)), noise=0.2,
        ),
        Property(
            "zeros in x", 0.2, _zeros_in_x, f"x {SHAPE} after a ReLU, p = 0.3",
            expected={
                **none("share of wrong dx where x is not 0"),
                "share with dx not 0 where x is 0": kept_share(0.3, 1300),
                **ones("kept dx / (dout / (1 - p)) where x is 0"),
            },
            noise=0.2,
        ),
        Property(
            "any shape", 0.1, _any_shape, "x (200,) and (4, 5, 60), p = 0.3",
            expected=none(*(f"share of wrong entries in dx for x {shape}" for shape in SHAPES)),
            noise=0.3,
        ),
        Property(
            "after inference", 0.05, _after_inference, f"x {SHAPE}, training=False, p = 0.3",
            expected=every("share of dx equal to dout"), needs=_FIRST, noise=0.1,
        ),
        Property(
            "after p = 0", 0.05, _after_zero_p, f"x {SHAPE}, training=True, p = 0",
            expected=every("share of dx equal to dout"), needs=_FIRST, noise=0.1,
        ),
        Property(
            "two calls, two caches", 0.05, _two_calls, f"two x {SHAPE}, p = 0.3",
            expected=none(
                "share of wrong entries in the second dx", "share of wrong entries in the first dx"
            ),
            needs=_FIRST, noise=0.1,
        ),
    ),
    (dropout_forward, dropout_backward),
    on_failure=_blame_forward,
)  # fmt: skip
