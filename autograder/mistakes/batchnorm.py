"""Known wrong BatchNorm forward passes (ids BN...): those of training, and of both modes.

Those of the running values and the backward ones stand beside.
"""

from __future__ import annotations

import numpy as np

from autograder.mistakes.batchnorm_parts import anywhere, both_modes, wrong


def _over(axis, p):
    """Normalize over the given axes, and keep their statistics where these have shape (D,)."""
    mean, var = p.x.mean(axis, keepdims=True), p.x.var(axis, keepdims=True)
    return p.out(mean, var)


def _moved_over(axis):
    return lambda p: p.moved(p.x.mean(axis), p.x.var(axis, ddof=1))


wrong(
    "BN1", "statistics over the last axis",
    "You normalized over the last axis, within each vector. That is LayerNorm. BatchNorm takes "
    "one feature at a time: reduce over every axis but the last.",
    lambda p: _over(-1, p),
)  # fmt: skip
wrong(
    "BN14", "everything over the last axis",
    "You take all statistics over the last axis, within each vector. That is LayerNorm. "
    "BatchNorm takes one feature at a time: reduce over every axis but the last.",
    lambda p: _over(-1, p),
    lambda p: p.moved(p.x.mean(-1, keepdims=True), p.x.var(-1, ddof=1, keepdims=True)),
)  # fmt: skip
wrong(
    "BN11", "one mean for the whole array",
    "You took one mean and one variance of the whole array. Each feature has its own: reduce "
    "over every axis but the last.",
    lambda p: _over(None, p), _moved_over(None),
)  # fmt: skip
wrong(
    "BN15", "statistics over axis 0 only",
    "You reduced over axis 0, which is the whole batch only when x has two axes. With (B, T, D) "
    "the tokens belong to it too: axis=tuple(range(x.ndim - 1)).",
    lambda p: _over(0, p), _moved_over(0),
)  # fmt: skip
wrong(
    "BN16", "statistics over axes 0 and 1",
    "You reduced over axes (0, 1), which fits (B, T, D) only. Reduce over every axis but the "
    "last: axis=tuple(range(x.ndim - 1)).",
    lambda p: _over((0, 1), p), _moved_over((0, 1)),
)  # fmt: skip
wrong(
    "BN2", "normalized with the variance that divides by N - 1",
    "You normalized with the variance that divides by N - 1. The batch is brought to spread 1 "
    "with the variance of its own N numbers; only the running variance divides by N - 1.",
    lambda p: p.out(var=p.unbiased),
)  # fmt: skip
wrong(
    "BN17", "the two variances swapped",
    "Your two variances are swapped: the one that normalizes divides by N, and the one that goes "
    "into the running variance divides by N - 1.",
    lambda p: p.out(var=p.unbiased), lambda p: p.moved(var=p.var),
)  # fmt: skip
wrong(
    "BN8", "training with the running values",
    "In training you normalized with the running values. They are for use; in training the batch "
    "is normalized with its own mean and variance.",
    lambda p: p.out_in_use(),
)  # fmt: skip
wrong(
    "BN18", "training with the running values just moved",
    "In training you first moved the running values and then normalized with them. In training "
    "the batch is normalized with its own mean and variance.",
    lambda p: p.out(*p.moved()),
)  # fmt: skip
wrong(
    "BN19", "training turned round",
    "Your branches are the wrong way round: with training=True the statistics of the batch "
    "count, with training=False the running values.",
    lambda p: p.out_in_use(), lambda p: p.kept, lambda p: p.out(), lambda p: p.moved(),
)  # fmt: skip

both_modes(
    "BN20", "eps outside the square root",
    "You added eps to the standard deviation. It belongs inside the root, sqrt(var + eps): for "
    "inputs near 1e-3 the two differ by more than the signal.",
    lambda p, mean, var: p.gamma * (p.x - mean) / (np.sqrt(var) + p.eps) + p.beta,
)  # fmt: skip
both_modes(
    "BN21", "no eps",
    "Your formula has no eps. A feature that is constant in the batch has variance 0 and turns "
    "into NaN, and tiny inputs come out far too large.",
    lambda p, mean, var: p.gamma * (p.x - mean) / np.sqrt(var) + p.beta,
)  # fmt: skip


def _fixed(value):
    return lambda p, mean, var: p._replace(eps=value).out(mean, var)


_FIXED = "Your function uses eps = {} whatever it is given. Use the argument eps (default 1e-5)."
both_modes("BN22", "eps fixed at 1e-8", _FIXED.format("1e-8"), _fixed(1e-8))
both_modes("BN23", "eps fixed at 1e-3", _FIXED.format("1e-3"), _fixed(1e-3))
both_modes("BN24", "the argument eps ignored", _FIXED.format("1e-5"), _fixed(1e-5))
both_modes(
    "BN25", "maximum of variance and eps",
    "You took max(var, eps). BatchNorm adds eps to the variance, which changes every feature a "
    "little instead of only those with the smallest spread.",
    lambda p, mean, var: p.gamma * (p.x - mean) / np.sqrt(np.maximum(var, p.eps)) + p.beta,
)  # fmt: skip
both_modes(
    "BN26", "eps squared",
    "You squared eps, which makes it 1e-10 and useless. The formula is sqrt(var + eps).",
    lambda p, mean, var: p._replace(eps=p.eps**2).out(mean, var),
)  # fmt: skip
both_modes(
    "BN27", "divided by the variance",
    "You divided by the variance. Divide by its square root, so that the result has spread 1.",
    lambda p, mean, var: p.gamma * (p.x - mean) / (var + p.eps) + p.beta,
)  # fmt: skip
wrong(
    "BN28", "divided by the variance in training",
    "In training you divided by the variance. Divide by its square root, as you do in use.",
    lambda p: p.gamma * (p.x - p.mean) / (p.var + p.eps) + p.beta,
)  # fmt: skip
wrong(
    "BN29", "eps missing in training",
    "In training your formula has no eps, in use it has one. Both divide by sqrt(var + eps).",
    lambda p: p.gamma * (p.x - p.mean) / np.sqrt(p.var) + p.beta,
)  # fmt: skip
wrong(
    "BN63", "eps outside the square root in training",
    "In training you added eps to the standard deviation, in use to the variance. It belongs to "
    "the variance in both: sqrt(var + eps).",
    lambda p: p.gamma * (p.x - p.mean) / (np.sqrt(p.var) + p.eps) + p.beta,
)  # fmt: skip
both_modes(
    "BN30", "beta inside the scaling",
    "You computed gamma * (x_hat + beta). The shift comes last: gamma * x_hat + beta.",
    lambda p, mean, var: p.gamma * ((p.x - mean) / np.sqrt(var + p.eps) + p.beta),
)  # fmt: skip
both_modes(
    "BN31", "gamma missing", "You left gamma out: out = gamma * x_hat + beta.",
    lambda p, mean, var: p._replace(gamma=np.ones_like(p.gamma)).out(mean, var),
)  # fmt: skip
both_modes(
    "BN32", "beta missing", "You left beta out: out = gamma * x_hat + beta.",
    lambda p, mean, var: p.out(mean, var) - p.beta,
)  # fmt: skip
both_modes(
    "BN33", "gamma and beta missing",
    "You returned x_hat itself. The layer then chooses a new scale and shift: "
    "out = gamma * x_hat + beta.",
    lambda p, mean, var: (p.x - mean) / np.sqrt(var + p.eps),
)  # fmt: skip
both_modes(
    "BN34", "1 + gamma",
    "You scaled by 1 + gamma. Some libraries store gamma - 1; here gamma is the scale itself.",
    lambda p, mean, var: p._replace(gamma=1 + p.gamma).out(mean, var),
)  # fmt: skip
both_modes(
    "BN35", "mean not subtracted",
    "You divided x by its standard deviation without subtracting the mean first.",
    lambda p, mean, var: p.out(np.zeros_like(mean), var),
)  # fmt: skip
both_modes(
    "BN36", "x / std - mean",
    "You divided before subtracting. Parentheses are missing: (x - mean) / sqrt(var + eps).",
    lambda p, mean, var: p.gamma * (p.x / np.sqrt(var + p.eps) - mean) + p.beta,
)  # fmt: skip
wrong(
    "BN37", "mean square instead of variance",
    "You divided by the root of mean(x**2). The variance is the mean of (x - mean)**2.",
    lambda p: p.out(var=(p.x**2).mean(p.leading)),
)  # fmt: skip
wrong(
    "BN38", "variance as mean(x**2) - mean(x)**2",
    "You computed the variance as mean(x**2) - mean(x)**2. In float32 with an offset of 1e4 the "
    "two large numbers cancel, the difference turns negative and the root gives NaN. Subtract "
    "the mean first and average the squares of what is left.",
    lambda p: p.out(var=(p.x * p.x).mean(p.leading) - p.mean * p.mean),
)  # fmt: skip
both_modes(
    "BN39", "computed in float16",
    "Your result carries only about three digits: something is computed in float16. Keep the "
    "precision of x.",
    lambda p, mean, var: p.out(mean, var).astype(np.float16),
)  # fmt: skip


@anywhere(
    "BN40", "input changed in place",
    "Your result is right, but your function overwrote x (-=, /=, or out=x). The caller still "
    "needs x, for the layer before for one. Work on a new array.",
)  # fmt: skip
def _in_place(p):
    running = p.moved() if p.training else p.kept
    p.x[...] = p.out() if p.training else p.out_in_use()
    return p.x.copy(), None, *running


@anywhere(
    "BN41", "nothing returned",
    "Your function ends without a return statement, and then Python gives None. End it with "
    "return out, cache, running_mean, running_var.",
)  # fmt: skip
def _nothing(p):
    return None


@anywhere(
    "BN42", "running values not returned",
    "You returned out and cache alone. The caller also needs the running values, which your "
    "function must not keep to itself: return out, cache, running_mean, running_var.",
)  # fmt: skip
def _two_things(p):
    return (p.out() if p.training else p.out_in_use()), None


from autograder.mistakes import batchnorm_backward, batchnorm_running  # noqa: E402, F401
