"""Known wrong RMSNorm forward passes (ids RF...); the backward ones stand beside."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.mistakes.registry import Family, Function

Array = np.ndarray


def _adapt(formula: Function) -> Function:
    def rmsnorm_forward(x: Array, gamma: Array, eps: float = 1e-5) -> Any:
        return formula(x, gamma, eps), None

    return rmsnorm_forward


wrong = Family("rmsnorm_forward", _adapt)


def _mean(x: Array, axis: Any = -1) -> Array:
    return x.mean(axis=axis, keepdims=True)


def _over(axis: Any, x: Array, gamma: Array, eps: float) -> Array:
    """Normalize over the given axes: right for -1, a mistake for everything else."""
    return gamma * x / np.sqrt(_mean(x * x, axis) + eps)


@wrong(
    "RF1", "mean subtracted",
    "You subtracted the mean first, which gives LayerNorm without its shift. RMSNorm leaves the "
    "mean in: it divides x as it is.",
)  # fmt: skip
def _layernorm(x, gamma, eps):
    return gamma * (x - _mean(x)) / np.sqrt(x.var(-1, keepdims=True) + eps)


@wrong(
    "RF29", "mean subtracted above, root mean square of x below",
    "Your divisor is right, but you subtracted the mean from x above it. RMSNorm does not "
    "centre anything.",
)  # fmt: skip
def _centred_numerator(x, gamma, eps):
    return gamma * (x - _mean(x)) / np.sqrt(_mean(x * x) + eps)


@wrong(
    "RF2", "standard deviation instead of root mean square",
    "You divided by the standard deviation, which measures the distance from the mean. The root "
    "mean square measures the distance from 0: mean(x**2), with no mean taken off.",
)  # fmt: skip
def _std(x, gamma, eps):
    return gamma * x / np.sqrt(x.var(-1, keepdims=True) + eps)


@wrong(
    "RF3", "eps outside the square root",
    "You added eps to the root mean square. It belongs inside the root, sqrt(mean(x**2) + eps): "
    "for inputs near 1e-3 the two differ by more than the signal.",
)  # fmt: skip
def _eps_outside(x, gamma, eps):
    return gamma * x / (np.sqrt(_mean(x * x)) + eps)


@wrong(
    "RF4", "no eps",
    "Your formula has no eps. A row of zeros becomes 0/0, which is NaN, and tiny inputs come out "
    "far too large.",
)  # fmt: skip
def _no_eps(x, gamma, eps):
    return gamma * x / np.sqrt(_mean(x * x))


def _fixed(value: float) -> Function:
    return lambda x, gamma, eps: _over(-1, x, gamma, value)


_FIXED = "Your function uses eps = {} whatever it is given. Use the argument eps (default 1e-5)."
wrong("RF5", "eps fixed at 1e-8", _FIXED.format("1e-8"))(_fixed(1e-8))
wrong("RF17", "eps fixed at 1e-6", _FIXED.format("1e-6"))(_fixed(1e-6))
wrong("RF18", "the argument eps ignored", _FIXED.format("1e-5"))(_fixed(1e-5))


@wrong(
    "RF19", "maximum of mean square and eps",
    "You took max(mean(x**2), eps). RMSNorm adds eps to the mean square, which changes every row "
    "a little instead of only the smallest ones.",
)  # fmt: skip
def _eps_max(x, gamma, eps):
    return gamma * x / np.sqrt(np.maximum(_mean(x * x), eps))


@wrong(
    "RF20", "eps squared",
    "You squared eps, which makes it 1e-10 and useless. The formula is sqrt(mean(x**2) + eps).",
)  # fmt: skip
def _eps_squared(x, gamma, eps):
    return _over(-1, x, gamma, eps**2)


@wrong(
    "RF21", "eps added twice",
    "You added eps inside the root and again outside. Once is right: sqrt(mean(x**2) + eps).",
)  # fmt: skip
def _eps_twice(x, gamma, eps):
    return gamma * x / (np.sqrt(_mean(x * x) + eps) + eps)


@wrong(
    "RF6", "length instead of root mean square",
    "You divided by the length of the vector, the root of the sum of squares. The root mean "
    "square averages the squares before the root: a factor sqrt(D) is missing.",
)  # fmt: skip
def _l2_norm(x, gamma, eps):
    return gamma * x / np.sqrt((x * x).sum(-1, keepdims=True) + eps)


@wrong(
    "RF7", "a shift added",
    "You added 1 as a shift after the scaling. RMSNorm has a gain and no shift: gamma * x_hat.",
)  # fmt: skip
def _shifted(x, gamma, eps):
    return _over(-1, x, gamma, eps) + np.ones_like(gamma)


@wrong("RF8", "gamma missing", "You left gamma out: out = gamma * x_hat.")
def _no_gamma(x, gamma, eps):
    return x / np.sqrt(_mean(x * x) + eps)


@wrong(
    "RF9", "divided by the mean square",
    "You divided by mean(x**2) + eps. Divide by its square root, so that the result has size 1.",
)  # fmt: skip
def _no_root(x, gamma, eps):
    return gamma * x / (_mean(x * x) + eps)


@wrong(
    "RF10", "mean absolute value",
    "You measured the size of x by mean |x|. RMSNorm uses the root of the mean square, in which "
    "large entries count for more.",
)  # fmt: skip
def _mean_absolute(x, gamma, eps):
    return gamma * x / (_mean(np.abs(x)) + eps)


@wrong(
    "RF13", "square of the mean",
    "You averaged before squaring, mean(x)**2. Square first, then average: mean(x**2). In the "
    "other order entries of opposite sign cancel.",
)  # fmt: skip
def _square_of_mean(x, gamma, eps):
    return gamma * x / np.sqrt(_mean(x) ** 2 + eps)


@wrong(
    "RF16", "mean square divided by D - 1",
    "You divided the sum of squares by D - 1. It is a plain mean of D squares: divide by D.",
)  # fmt: skip
def _d_minus_one(x, gamma, eps):
    squares = (x * x).sum(-1, keepdims=True)
    return gamma * x / np.sqrt(squares / (x.shape[-1] - 1) + eps)


@wrong(
    "RF27", "mean square squared",
    "You squared the mean square under the root, sqrt(mean(x**2)**2 + eps), which is about the "
    "mean square itself. The divisor is sqrt(mean(x**2) + eps).",
)  # fmt: skip
def _fourth_power(x, gamma, eps):
    return gamma * x / np.sqrt(_mean(x * x) ** 2 + eps)


@wrong(
    "RF28", "np.std where np.sqrt belongs",
    "You took np.std of the mean squares, which measures how they vary between rows. Each row "
    "needs the square root of its own: np.sqrt(mean(x**2) + eps).",
)  # fmt: skip
def _std_of_mean_squares(x, gamma, eps):
    return gamma * x / np.std(_mean(x * x) + eps)


@wrong(
    "RF30", "multiplied by the root mean square",
    "You multiplied by the root mean square. Divide by it: that brings every row to size 1.",
)  # fmt: skip
def _multiplied(x, gamma, eps):
    return gamma * x * np.sqrt(_mean(x * x) + eps)


@wrong(
    "RF31", "gamma inside the root mean square",
    "You scaled x by gamma before measuring its size, so the size of gamma cancels. Normalize x "
    "first and multiply by gamma last.",
)  # fmt: skip
def _gamma_first(x, gamma, eps):
    return _over(-1, gamma * x, 1.0, eps)


@wrong(
    "RF14", "1 + gamma",
    "You scaled by 1 + gamma. Some libraries store gamma - 1; here gamma is the scale itself.",
)  # fmt: skip
def _one_plus_gamma(x, gamma, eps):
    return _over(-1, x, 1 + gamma, eps)


@wrong(
    "RF11", "mean square over the first axis",
    "You averaged over axis 0, across the examples. RMSNorm uses only the features of one "
    "vector: the last axis.",
)  # fmt: skip
def _axis_zero(x, gamma, eps):
    return _over(0, x, gamma, eps)


@wrong(
    "RF22", "one mean square for the whole array",
    "You took one mean square of the whole array. Each vector has its own: average over the "
    "last axis only.",
)  # fmt: skip
def _axis_all(x, gamma, eps):
    return _over(None, x, gamma, eps)


@wrong(
    "RF12", "axis=1 instead of axis=-1",
    "You averaged over axis=1, which is the feature axis only when x has two axes. With "
    "(B, T, D) it is time. Use axis=-1.",
)  # fmt: skip
def _axis_one(x, gamma, eps):
    return _over(1, x, gamma, eps)


@wrong(
    "RF23", "mean square over every axis but the first",
    "You averaged over all axes after the first, so the tokens of a sequence share one size. "
    "RMSNorm averages over the last axis only.",
)  # fmt: skip
def _axes_after_first(x, gamma, eps):
    return _over(tuple(range(1, x.ndim)), x, gamma, eps)


@wrong(
    "RF26", "feature axis looked up by its length",
    "You look for the axis whose length is D. With as many rows as features that finds the wrong "
    "one. The feature axis is the last: axis=-1.",
)  # fmt: skip
def _axis_by_size(x, gamma, eps):
    return _over(x.shape.index(gamma.shape[0]), x, gamma, eps)


@wrong(
    "RF15", "keepdims forgotten",
    "Your mean square lost the reduced axis, so it broadcasts along the wrong one: an error for "
    "most shapes, and silently wrong numbers where x is square. Use keepdims=True.",
)  # fmt: skip
def _no_keepdims(x, gamma, eps):
    return gamma * x / np.sqrt((x * x).mean(-1) + eps)


@wrong(
    "RF24", "input changed in place",
    "Your result is right, but your function overwrote x (/=, *=, or out=x). The caller still "
    "needs x, for the residual connection for one. Work on a new array.",
)  # fmt: skip
def _in_place(x, gamma, eps):
    x /= np.sqrt(_mean(x * x) + eps)
    return gamma * x


@wrong(
    "RF25", "computed in float16",
    "Your result carries only about three digits: something is computed in float16. Keep the "
    "precision of x.",
)  # fmt: skip
def _half(x, gamma, eps):
    return _over(-1, x.astype(np.float16), gamma, eps).astype(np.float16)


from autograder.mistakes import rmsnorm_backward  # noqa: E402, F401  (registers RB...)
