"""Known wrong LayerNorm backward passes (ids LB...)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from autograder.mistakes.registry import Family, Function

Array = np.ndarray


class _Parts(NamedTuple):
    """What every backward formula is made of."""

    dout: Array
    x: Array
    gamma: Array
    beta: Array
    s: Array
    x_hat: Array
    g: Array
    eps: float

    @property
    def leading(self) -> tuple[int, ...]:
        return tuple(range(self.x.ndim - 1))

    @property
    def dgamma(self) -> Array:
        return (self.dout * self.x_hat).sum(self.leading)

    @property
    def dbeta(self) -> Array:
        return self.dout.sum(self.leading)

    def dx(self, g: Array | None = None, x_hat: Array | None = None, s: Any = None) -> Array:
        """Give the right dx, or the one that a mistaken part leads to."""
        g = self.g if g is None else g
        x_hat = self.x_hat if x_hat is None else x_hat
        return (g - _mean(g) - x_hat * _mean(g * x_hat)) / (self.s if s is None else s)


def _mean(x: Array, axis: Any = -1) -> Array:
    return x.mean(axis=axis, keepdims=True)


def _forward(x: Array, gamma: Array, beta: Array, eps: float = 1e-5) -> Any:
    x_hat = (x - _mean(x)) / np.sqrt(x.var(-1, keepdims=True) + eps)
    return gamma * x_hat + beta, (x, gamma, beta, eps)


def _adapt(formula: Function) -> Function:
    def layernorm_backward(dout: Array, cache: Any) -> Any:
        x, gamma, beta, eps = cache
        s = np.sqrt(x.var(-1, keepdims=True) + eps)
        x_hat = (x - _mean(x)) / s
        return formula(_Parts(dout, x, gamma, beta, s, x_hat, gamma * dout, eps))

    return layernorm_backward


wrong = Family("layernorm_backward", _adapt, partners=(_forward,))


def _wrong_dx(id: str, name: str, sentence: str, dx: Function) -> None:
    """Register a mistake in dx alone."""
    wrong(id, name, sentence)(lambda p: (dx(p), p.dgamma, p.dbeta))


_wrong_dx(
    "LB1", "mean and variance treated as constants",
    "You sent the gradient straight through, g / s, as if mean and variance did not depend on x. "
    "They do: two terms are missing, - mean(g) and - x_hat * mean(g * x_hat).",
    lambda p: p.g / p.s,
)  # fmt: skip
_wrong_dx(
    "LB2", "RMSNorm's backward pass",
    "The term - mean(g) is missing. That is RMSNorm's gradient; LayerNorm also subtracts the "
    "mean in its forward pass, and this term is its gradient.",
    lambda p: (p.g - p.x_hat * _mean(p.g * p.x_hat)) / p.s,
)  # fmt: skip
_wrong_dx(
    "LB3", "the x_hat term missing",
    "The term - x_hat * mean(g * x_hat) is missing: the gradient through the variance.",
    lambda p: (p.g - _mean(p.g)) / p.s,
)  # fmt: skip
_wrong_dx(
    "LB4", "gamma missing in dx",
    "Your dx does not contain gamma. The gradient first goes back through the scaling: "
    "g = gamma * dout. With gamma = 1 nobody sees the difference.",
    lambda p: p.dx(g=p.dout),
)  # fmt: skip
_wrong_dx(
    "LB5", "gamma multiplied at the end",
    "You multiplied by gamma after the means. It belongs inside them: g = gamma * dout first, "
    "then the means of g. With a constant gamma nobody sees the difference.",
    lambda p: p.gamma * p.dx(g=p.dout),
)  # fmt: skip
_wrong_dx(
    "LB6", "wrong sign of the x_hat term",
    "You added x_hat * mean(g * x_hat). It is subtracted: normalization undoes a stretch.",
    lambda p: (p.g - _mean(p.g) + p.x_hat * _mean(p.g * p.x_hat)) / p.s,
)  # fmt: skip
_wrong_dx(
    "LB7", "sums instead of means",
    "You used sums over the features where the formula has means: a factor D too much.",
    lambda p: (
        p.g - p.g.sum(-1, keepdims=True) - p.x_hat * (p.g * p.x_hat).sum(-1, keepdims=True)
    ) / p.s,
)  # fmt: skip
_wrong_dx(
    "LB8", "not divided by s",
    "The division by s = sqrt(var + eps) is missing in dx.",
    lambda p: p.dx(s=1.0),
)  # fmt: skip
_wrong_dx(
    "LB9", "divided by the variance",
    "You divided dx by var + eps. Divide by its root, s, once.",
    lambda p: p.dx(s=p.s**2),
)  # fmt: skip


@wrong(
    "LB10", "eps forgotten in the backward pass",
    "Your backward pass computes s without eps, your forward pass with it. The two must agree: "
    "keep s in the cache and use it again.",
)  # fmt: skip
def _no_eps(p):
    s = np.sqrt(p.x.var(-1, keepdims=True))
    x_hat = (p.x - _mean(p.x)) / s
    return p.dx(s=s, x_hat=x_hat), (p.dout * x_hat).sum(p.leading), p.dbeta


@wrong(
    "LB11", "statistics of the batch axis",
    "Your backward pass takes mean and variance over axis 0. LayerNorm's belong to the last axis.",
)  # fmt: skip
def _batch_statistics(p):
    s = np.sqrt(p.x.var(0, keepdims=True) + p.eps)
    x_hat = (p.x - _mean(p.x, 0)) / s
    dx = (p.g - _mean(p.g, 0) - x_hat * _mean(p.g * x_hat, 0)) / s
    return dx, (p.dout * x_hat).sum(p.leading), p.dbeta


@wrong(
    "LB12", "out used in place of x_hat",
    "You used the layer's output where x_hat belongs. They differ by gamma and beta: keep x_hat.",
)  # fmt: skip
def _out_for_x_hat(p):
    out = p.gamma * p.x_hat + p.beta
    return p.dx(x_hat=out), (p.dout * out).sum(p.leading), p.dbeta


_wrong_dx(
    "LB13", "means over the batch",
    "The two means in dx are taken over axis 0. They run over the features: axis=-1.",
    lambda p: (p.g - _mean(p.g, 0) - p.x_hat * _mean(p.g * p.x_hat, 0)) / p.s,
)  # fmt: skip
_wrong_dx(
    "LB25", "the x_hat term averaged over the batch",
    "mean(g * x_hat) is taken over axis 0. It runs over the features: axis=-1.",
    lambda p: (p.g - _mean(p.g) - p.x_hat * _mean(p.g * p.x_hat, 0)) / p.s,
)  # fmt: skip
_wrong_dx(
    "LB14", "x used in place of x_hat in dx",
    "You used x where x_hat belongs in dx: normalize it first.",
    lambda p: p.dx(x_hat=p.x),
)  # fmt: skip
_wrong_dx(
    "LB15", "x - mean used in place of x_hat in dx",
    "You used x - mean where x_hat belongs in dx: it still has to be divided by s.",
    lambda p: p.dx(x_hat=p.x - _mean(p.x)),
)  # fmt: skip


@wrong(
    "LB16", "gamma included in dgamma",
    "Your dgamma sums g * x_hat with g = gamma * dout. It is the gradient of gamma itself: "
    "sum dout * x_hat.",
)  # fmt: skip
def _gamma_in_dgamma(p):
    return p.dx(), (p.g * p.x_hat).sum(p.leading), p.dbeta


@wrong(
    "LB17", "gamma included in dbeta",
    "Your dbeta sums gamma * dout. beta is added after the scaling: sum dout alone.",
)  # fmt: skip
def _gamma_in_dbeta(p):
    return p.dx(), p.dgamma, p.g.sum(p.leading)


@wrong(
    "LB18", "dgamma and dbeta summed over axis 0 only",
    "You summed dgamma and dbeta over axis 0. With (B, T, D) the tokens must be summed as well, "
    "and a single vector has nothing to sum: reduce over every axis but the last.",
)  # fmt: skip
def _axis_zero_only(p):
    return p.dx(), (p.dout * p.x_hat).sum(0), p.dout.sum(0)


@wrong(
    "LB19", "dgamma and dbeta not summed",
    "Your dgamma and dbeta keep the shape of x. gamma and beta are shared by every vector, so "
    "their gradients add up over all leading axes to shape (D,).",
)  # fmt: skip
def _not_reduced(p):
    return p.dx(), p.dout * p.x_hat, p.dout


_wrong_dx(
    "LB20", "means divided by D - 1",
    "The means in dx divide by D - 1. Forward and backward both divide by D.",
    lambda p: (
        p.g
        - p.g.sum(-1, keepdims=True) / (p.x.shape[-1] - 1)
        - p.x_hat * (p.g * p.x_hat).sum(-1, keepdims=True) / (p.x.shape[-1] - 1)
    ) / p.s,
)  # fmt: skip


@wrong(
    "LB21", "dout used unscaled in the means",
    "Your means are taken of dout, without gamma, while the first term has it. All three terms "
    "use g = gamma * dout.",
)  # fmt: skip
def _means_without_gamma(p):
    dx = (p.g - _mean(p.dout) - p.x_hat * _mean(p.dout * p.x_hat)) / p.s
    return dx, p.dgamma, p.dbeta


_wrong_dx(
    "LB22", "product of means",
    "You multiplied mean(g) by mean(x_hat). The formula has the mean of the product g * x_hat.",
    lambda p: (p.g - _mean(p.g) - p.x_hat * _mean(p.g) * _mean(p.x_hat)) / p.s,
)  # fmt: skip
_wrong_dx(
    "LB23", "x not centred in the x_hat term",
    "You used x / s where x_hat = (x - mean) / s belongs. It shows as soon as x has a mean.",
    lambda p: p.dx(x_hat=p.x / p.s),
)  # fmt: skip
_wrong_dx(
    "LB24", "dx too large by D",
    "Your dx is D times too large: the form (D g - sum g - x_hat sum(g x_hat)) / s still has to "
    "be divided by D.",
    lambda p: p.dx() * p.x.shape[-1],
)  # fmt: skip


@wrong(
    "LB26", "dgamma and dbeta swapped",
    "You returned dbeta in the place of dgamma. The order is dx, dgamma, dbeta.",
)  # fmt: skip
def _swapped(p):
    return p.dx(), p.dbeta, p.dgamma


_wrong_dx(
    "LB27", "upstream gradient missing in the variance path",
    "The gradient through the variance does not contain dout: average g * x_hat with "
    "g = gamma * dout, not gamma * x_hat.",
    lambda p: (p.g - _mean(p.g) - p.x_hat * _mean(p.gamma * p.x_hat)) / p.s,
)  # fmt: skip
_wrong_dx(
    "LB28", "one standard deviation for the whole batch",
    "Your dx divides by np.std of the whole array. Each vector has its own s.",
    lambda p: p.g / np.std(p.x),
)  # fmt: skip


@wrong(
    "LB29", "dgamma and dbeta summed over axes 0 and 1",
    "You summed dgamma and dbeta over axes (0, 1), which fits (B, T, D) only. Reduce over every "
    "axis but the last: axis=tuple(range(x.ndim - 1)).",
)  # fmt: skip
def _axes_zero_one(p):
    axes = (0, 1)
    return p.dx(), (p.dout * p.x_hat).sum(axes), p.dout.sum(axes)


@wrong(
    "LB30", "dgamma and dbeta summed over everything",
    "Your dgamma and dbeta are single numbers. Each feature has its own: keep the last axis.",
)  # fmt: skip
def _sum_all(p):
    return p.dx(), np.sum(p.dout * p.x_hat), np.sum(p.dout)
