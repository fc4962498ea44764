"""What is asked of initializations: of one matrix here, of a whole model beside."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from autograder.checks.compare import Observation, Within
from autograder.checks.core import Check, Functions, Property
from autograder.checks.initialization_model import MODEL
from autograder.checks.inputs import Array, Rng
from autograder.checks.observe import RefusedError, array, call
from autograder.checks.statistics import (
    NORMAL,
    UNIFORM,
    contained,
    correlation,
    global_state,
    mean_in_std,
    mean_within,
    shares_beyond,
    std_ratio,
    std_within,
)
from autograder.kernels.initialization import (
    gpt2_normal,
    gpt2_residual,
    he_normal,
    he_uniform,
    xavier_normal,
    xavier_uniform,
)

Args = Sequence[int]

# Never square: fan_in and fan_out in each other's place must show. Drawing is most of the cost of
# grading: 16,384 weights bring one standard error of the spread down to 0.55 %, and the shape of
# the distribution needs more.
WIDE, TALL = (64, 256), (256, 64)
MIDDLE = (128, 320)
SMALL = ((3, 5), (7, 2), (1, 4))
PAIR = (32, 128)


def _fresh(rng: Rng) -> Rng:
    return np.random.default_rng(int(rng.integers(2**63)))


def _weights(function: Callable[..., Any], args: Args, rng: Rng) -> Array:
    weights = array(call(function, *args, rng), "the weights")
    if weights.size != args[0] * args[1]:
        raise RefusedError(f"returned weights of shape {weights.shape} for {_words(args)}")
    _refuse_repetition(weights.reshape(args[:2]))
    return weights


def _refuse_repetition(matrix: Array) -> None:
    # Few different numbers have a spread of their own that says nothing about the formula.
    for lines, kind in (
        (matrix.ravel()[:, None], "weights"),
        (matrix, "rows"),
        (matrix.T, "columns"),
    ):
        if np.array_equal(lines[1:], lines[:-1]):
            raise RefusedError(f"returned a matrix whose {kind} are all equal")


def _words(args: Args) -> str:
    names = ("fan_in", "fan_out", "n_layer")
    return ", ".join(f"{name} {value}" for name, value in zip(names, args))


def _shape_of(extra: Args) -> Callable[[Functions, Rng], Observation]:
    def observe(functions: Functions, rng: Rng) -> Observation:
        return {
            f"shape for {_words(fans)}": array(
                call(functions[0], *fans, *extra, _fresh(rng)), "the weights"
            ).shape
            for fans in SMALL
        }

    return observe


def _std_of(right: Mapping[tuple[int, ...], float]) -> Callable[[Functions, Rng], Observation]:
    def observe(functions: Functions, rng: Rng) -> Observation:
        return {
            _spread(args): std_ratio(_weights(functions[0], args, _fresh(rng)), std)
            for args, std in right.items()
        }

    return observe


def _spread(args: Args) -> str:
    return f"standard deviation over the right one, for {_words(args)},"


def _mean_of(args: Args) -> Callable[[Functions, Rng], Observation]:
    return lambda functions, rng: {
        "mean in standard deviations": mean_in_std(_weights(functions[0], args, _fresh(rng)))
    }


def _shares_of(args: Args) -> Callable[[Functions, Rng], Observation]:
    return lambda functions, rng: shares_beyond(_weights(functions[0], args, _fresh(rng)))


def _draws_of(args: Args) -> Callable[[Functions, Rng], Observation]:
    def observe(functions: Functions, rng: Rng) -> Observation:
        seed, before = int(rng.integers(2**63)), global_state()
        shared = np.random.default_rng(seed)
        first, second = (_weights(functions[0], args, shared) for _ in range(2))
        again = _weights(functions[0], args, np.random.default_rng(seed))
        return {
            "correlation of two draws with one rng": correlation(first, second),
            "same seed, same weights": np.array_equal(first, again),
            "global random state of NumPy left alone": global_state() == before,
        }

    return observe


_DRAWS = {
    "correlation of two draws with one rng": Within(0.0, 5 / math.sqrt(math.prod(PAIR))),
    "same seed, same weights": True,
    "global random state of NumPy left alone": True,
}


def _check(
    reference: Callable[..., Any],
    right: Mapping[tuple[int, ...], float],
    shares: Mapping[str, Within],
) -> Check:
    """Make the check of one matrix; `right` gives the standard deviation for each arguments."""
    (fan_in, fan_out, *extra), *_ = right
    pair, middle = (*PAIR, *extra), (*MIDDLE, *extra)
    wide = (*WIDE, *extra)
    kind = "normal" if shares is NORMAL else "uniform"
    properties = (
        Property(
            "shape (fan_in, fan_out)", 0.1, contained(_shape_of(extra)), "small matrices",
            expected={f"shape for {_words(fans)}": fans for fans in SMALL},
        ),
        Property(
            "standard deviation", 0.4, contained(_std_of(right)), "16,384 weights",
            expected={_spread(args): std_within(fan_in * fan_out) for args in right}, noise=0.02,
        ),
        Property(
            "mean 0", 0.1, contained(_mean_of(wide)), "16,384 weights",
            expected={"mean in standard deviations": mean_within(math.prod(WIDE))}, noise=0.03,
        ),
        Property(
            f"{kind} distribution", 0.2, contained(_shares_of(middle)), "40,960 weights",
            expected=shares, noise=0.02,
        ),
        Property(
            "random numbers from rng", 0.2, contained(_draws_of(pair)),
            "two calls with one rng, a third with the same seed", expected=_DRAWS, noise=0.12,
        ),
    )  # fmt: skip
    return Check(reference.__name__, "initialization", properties, (reference,))


def _both_ways(std: Callable[[int, int], float]) -> dict[tuple[int, ...], float]:
    return {fans: std(*fans) for fans in (WIDE, TALL)}


def _xavier(fan_in: int, fan_out: int) -> float:
    return math.sqrt(2 / (fan_in + fan_out))


def _he(fan_in: int, fan_out: int) -> float:
    return math.sqrt(2 / fan_in)


XAVIER_NORMAL = _check(xavier_normal, _both_ways(_xavier), NORMAL)
XAVIER_UNIFORM = _check(xavier_uniform, _both_ways(_xavier), UNIFORM)
HE_NORMAL = _check(he_normal, _both_ways(_he), NORMAL)
HE_UNIFORM = _check(he_uniform, _both_ways(_he), UNIFORM)
GPT2_NORMAL = _check(gpt2_normal, _both_ways(lambda fan_in, fan_out: 0.02), NORMAL)
GPT2_RESIDUAL = _check(gpt2_residual, {(*WIDE, 2): 0.01, (*TALL, 12): 0.02 / math.sqrt(24)}, NORMAL)

CHECKS = (XAVIER_NORMAL, XAVIER_UNIFORM, HE_NORMAL, HE_UNIFORM, GPT2_NORMAL, GPT2_RESIDUAL, MODEL)


def check_xavier_normal(xavier_normal: Callable[..., Any], points: float) -> float:
    """Grade normal Xavier weights.

    Parameters
    ----------
    xavier_normal : callable
        ``xavier_normal(fan_in, fan_out, rng) -> weights`` of shape (fan_in, fan_out).
    points : float
        What a right answer is worth.

    Returns
    -------
    float
        The score, between 0 and `points`.
    """
    return XAVIER_NORMAL.run((xavier_normal,), points)


def check_xavier_uniform(xavier_uniform: Callable[..., Any], points: float) -> float:
    """Grade uniform Xavier weights; arguments and result as in `check_xavier_normal`."""
    return XAVIER_UNIFORM.run((xavier_uniform,), points)


def check_he_normal(he_normal: Callable[..., Any], points: float) -> float:
    """Grade normal He weights; arguments and result as in `check_xavier_normal`."""
    return HE_NORMAL.run((he_normal,), points)


def check_he_uniform(he_uniform: Callable[..., Any], points: float) -> float:
    """Grade uniform He weights; arguments and result as in `check_xavier_normal`."""
    return HE_UNIFORM.run((he_uniform,), points)


def check_gpt2_normal(gpt2_normal: Callable[..., Any], points: float) -> float:
    """Grade GPT-2's ordinary weights; arguments and result as in `check_xavier_normal`."""
    return GPT2_NORMAL.run((gpt2_normal,), points)


def check_gpt2_residual(gpt2_residual: Callable[..., Any], points: float) -> float:
    """Grade ``gpt2_residual(fan_in, fan_out, n_layer, rng)``; the rest as `check_xavier_normal`."""
    return GPT2_RESIDUAL.run((gpt2_residual,), points)


def check_gpt2_init(gpt2_init: Callable[..., Any], points: float) -> float:
    """Grade ``gpt2_init(shapes, n_layer, rng) -> dict``; the rest as in `check_xavier_normal`."""
    return MODEL.run((gpt2_init,), points)
