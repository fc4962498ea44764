"""Known wrong LayerNorm forward passes (ids LF...); the backward ones stand beside."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.mistakes.registry import Family, Function

Array = np.ndarray


def _adapt(formula: Function) -> Function:
    def layernorm_forward(x: Array, gamma: Array, beta: Array, eps: float = 1e-5) -> Any:
        return formula(x, gamma, beta, eps), None

    return layernorm_forward


wrong = Family("layernorm_forward", _adapt)


def _mean(x: Array, axis: Any = -1) -> Array:
    return x.mean(axis=axis, keepdims=True)


def _var(x: Array, axis: Any = -1) -> Array:
    return x.var(axis=axis, keepdims=True)


def _over(axis: Any, x: Array, gamma: Array, beta: Array, eps: float) -> Array:
    """Normalize over the given axes: right for -1, a mistake for everything else."""
    return gamma * (x - _mean(x, axis)) / np.sqrt(_var(x, axis) + eps) + beta


@wrong(
    "LF1", "variance divided by D - 1",
    "You divided the sum of squares by D - 1. LayerNorm describes the D numbers it has, it does "
    "not estimate a population: its variance divides by D (NumPy's default, ddof=0).",
)  # fmt: skip
def _ddof_one(x, gamma, beta, eps):
    return gamma * (x - _mean(x)) / np.sqrt(x.var(-1, ddof=1, keepdims=True) + eps) + beta


@wrong(
    "LF2", "eps outside the square root",
    "You added eps to the standard deviation. It belongs inside the root, sqrt(var + eps): for "
    "inputs near 1e-3 the two differ by more than the signal.",
)  # fmt: skip
def _eps_outside(x, gamma, beta, eps):
    return gamma * (x - _mean(x)) / (np.sqrt(_var(x)) + eps) + beta


@wrong(
    "LF3", "no eps",
    "Your formula has no eps. A row of equal numbers has variance 0 and turns into NaN, and tiny "
    "inputs come out far too large.",
)  # fmt: skip
def _no_eps(x, gamma, beta, eps):
    return gamma * (x - _mean(x)) / np.sqrt(_var(x)) + beta


def _fixed(value: float) -> Function:
    return lambda x, gamma, beta, eps: _over(-1, x, gamma, beta, value)


_FIXED = "Your function uses eps = {} whatever it is given. Use the argument eps (default 1e-5)."
wrong("LF4", "eps fixed at 1e-6", _FIXED.format("1e-6"))(_fixed(1e-6))
wrong("LF5", "eps fixed at 1e-8", _FIXED.format("1e-8"))(_fixed(1e-8))
wrong("LF6", "eps fixed at 1e-3", _FIXED.format("1e-3"))(_fixed(1e-3))
wrong("LF31", "the argument eps ignored", _FIXED.format("1e-5"))(_fixed(1e-5))


@wrong(
    "LF7", "maximum of variance and eps",
    "You took max(var, eps). LayerNorm adds eps to the variance, which changes every row a "
    "little instead of only the smallest ones.",
)  # fmt: skip
def _eps_max(x, gamma, beta, eps):
    return gamma * (x - _mean(x)) / np.sqrt(np.maximum(_var(x), eps)) + beta


@wrong(
    "LF8", "eps squared",
    "You squared eps, which makes it 1e-10 and useless. The formula is sqrt(var + eps).",
)  # fmt: skip
def _eps_squared(x, gamma, beta, eps):
    return _over(-1, x, gamma, beta, eps**2)


@wrong(
    "LF27", "eps added twice",
    "You added eps inside the root and again outside. Once is right: sqrt(var + eps).",
)  # fmt: skip
def _eps_twice(x, gamma, beta, eps):
    return gamma * (x - _mean(x)) / (np.sqrt(_var(x) + eps) + eps) + beta


@wrong(
    "LF9", "statistics over the first axis",
    "You normalized over axis 0, across the examples. That is BatchNorm's axis. LayerNorm uses "
    "only the features of one vector: the last axis.",
)  # fmt: skip
def _axis_zero(x, gamma, beta, eps):
    return _over(0, x, gamma, beta, eps)


@wrong(
    "LF10", "one mean for the whole array",
    "You took one mean and one variance of the whole array. Each vector has its own: reduce "
    "over the last axis only.",
)  # fmt: skip
def _axis_all(x, gamma, beta, eps):
    return _over(None, x, gamma, beta, eps)


@wrong(
    "LF11", "axis=1 instead of axis=-1",
    "You reduced over axis=1, which is the feature axis only when x has two axes. With (B, T, D) "
    "it is time. Use axis=-1.",
)  # fmt: skip
def _axis_one(x, gamma, beta, eps):
    return _over(1, x, gamma, beta, eps)


@wrong(
    "LF12", "statistics over every axis but the first",
    "You reduced over all axes after the first, so the tokens of a sequence share one mean. "
    "LayerNorm reduces over the last axis only.",
)  # fmt: skip
def _axes_after_first(x, gamma, beta, eps):
    return _over(tuple(range(1, x.ndim)), x, gamma, beta, eps)


@wrong(
    "LF13", "keepdims forgotten",
    "Your mean and variance lost the reduced axis, so they broadcast along the wrong one: an "
    "error for most shapes, and silently wrong numbers where x is square. Use keepdims=True.",
)  # fmt: skip
def _no_keepdims(x, gamma, beta, eps):
    return gamma * (x - x.mean(-1)) / np.sqrt(x.var(-1) + eps) + beta


@wrong(
    "LF14", "divided by the variance",
    "You divided by the variance. Divide by its square root, so that the result has spread 1.",
)  # fmt: skip
def _variance_divisor(x, gamma, beta, eps):
    return gamma * (x - _mean(x)) / (_var(x) + eps) + beta


@wrong(
    "LF15", "beta inside the scaling",
    "You computed gamma * (x_hat + beta). The shift comes last: gamma * x_hat + beta.",
)  # fmt: skip
def _beta_scaled(x, gamma, beta, eps):
    return gamma * ((x - _mean(x)) / np.sqrt(_var(x) + eps) + beta)


@wrong("LF16", "gamma missing", "You left gamma out: out = gamma * x_hat + beta.")
def _no_gamma(x, gamma, beta, eps):
    return (x - _mean(x)) / np.sqrt(_var(x) + eps) + beta


@wrong("LF17", "beta missing", "You left beta out: out = gamma * x_hat + beta.")
def _no_beta(x, gamma, beta, eps):
    return gamma * (x - _mean(x)) / np.sqrt(_var(x) + eps)


@wrong(
    "LF18", "1 + gamma",
    "You scaled by 1 + gamma. Some libraries store gamma - 1; here gamma is the scale itself.",
)  # fmt: skip
def _one_plus_gamma(x, gamma, beta, eps):
    return _over(-1, x, 1 + gamma, beta, eps)


@wrong(
    "LF19", "mean not subtracted",
    "You divided x by its standard deviation without subtracting the mean first.",
)  # fmt: skip
def _not_centred(x, gamma, beta, eps):
    return gamma * x / np.sqrt(_var(x) + eps) + beta


@wrong(
    "LF20", "mean square instead of variance",
    "You divided by the root of mean(x**2). The variance is the mean of (x - mean)**2.",
)  # fmt: skip
def _second_moment(x, gamma, beta, eps):
    return gamma * (x - _mean(x)) / np.sqrt(_mean(x * x) + eps) + beta


@wrong(
    "LF21", "mean absolute deviation",
    "You measured the spread by mean |x - mean|. LayerNorm uses the root of the mean square.",
)  # fmt: skip
def _absolute_deviation(x, gamma, beta, eps):
    centred = x - _mean(x)
    return gamma * centred / (_mean(np.abs(centred)) + eps) + beta


@wrong(
    "LF22", "x / std - mean",
    "You divided before subtracting. Parentheses are missing: (x - mean) / sqrt(var + eps).",
)  # fmt: skip
def _divide_first(x, gamma, beta, eps):
    return gamma * (x / np.sqrt(_var(x) + eps) - _mean(x)) + beta


@wrong(
    "LF28", "x - mean / std",
    "Only the mean is divided in your formula. Parentheses are missing: "
    "(x - mean) / sqrt(var + eps).",
)  # fmt: skip
def _divide_mean(x, gamma, beta, eps):
    return gamma * (x - _mean(x) / np.sqrt(_var(x) + eps)) + beta


@wrong(
    "LF29", "variance squared",
    "You squared the variance under the root, sqrt(var**2 + eps), which is about the variance "
    "itself. The spread is sqrt(var + eps).",
)  # fmt: skip
def _variance_squared(x, gamma, beta, eps):
    return gamma * (x - _mean(x)) / np.sqrt(_var(x) ** 2 + eps) + beta


@wrong(
    "LF23", "input changed in place",
    "Your result is right, but your function overwrote x (-=, /=, or out=x). The caller still "
    "needs x, for the residual connection for one. Work on a new array.",
)  # fmt: skip
def _in_place(x, gamma, beta, eps):
    x -= _mean(x)
    x /= np.sqrt(_var(x) + eps)
    return gamma * x + beta


@wrong(
    "LF24", "variance as mean(x**2) - mean(x)**2",
    "You computed the variance as mean(x**2) - mean(x)**2. In float32 with an offset of 1e4 the "
    "two large numbers cancel, the difference turns negative and the root gives NaN. Subtract "
    "the mean first and average the squares of what is left.",
)  # fmt: skip
def _one_pass(x, gamma, beta, eps):
    mean = _mean(x)
    return gamma * (x - mean) / np.sqrt(_mean(x * x) - mean * mean + eps) + beta


@wrong(
    "LF25", "length instead of standard deviation",
    "You divided by the length of the vector, the root of the sum of squares. The standard "
    "deviation is the root of their mean: a factor sqrt(D) is missing.",
)  # fmt: skip
def _l2_norm(x, gamma, beta, eps):
    centred = x - _mean(x)
    return gamma * centred / np.sqrt((centred**2).sum(-1, keepdims=True) + eps) + beta


@wrong(
    "LF26", "computed in float16",
    "Your result carries only about three digits: something is computed in float16. Keep the "
    "precision of x.",
)  # fmt: skip
def _half(x, gamma, beta, eps):
    return _over(-1, x.astype(np.float16), gamma, beta, eps).astype(np.float16)


@wrong(
    "LF30", "feature axis looked up by its length",
    "You look for the axis whose length is D. With as many rows as features that finds the wrong "
    "one. The feature axis is the last: axis=-1.",
)  # fmt: skip
def _axis_by_size(x, gamma, beta, eps):
    return _over(x.shape.index(gamma.shape[0]), x, gamma, beta, eps)


from autograder.mistakes import layernorm_backward  # noqa: E402, F401  (registers LB...)
