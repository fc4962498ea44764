"""Known wrong BatchNorm backward passes (ids BB...)."""

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
    running_var: Array
    s: Array
    x_hat: Array
    g: Array
    eps: float

    @property
    def leading(self) -> tuple[int, ...]:
        return tuple(range(self.x.ndim - 1))

    @property
    def rows(self) -> int:
        return self.x.size // self.x.shape[-1]

    @property
    def dgamma(self) -> Array:
        return (self.dout * self.x_hat).sum(self.leading)

    @property
    def dbeta(self) -> Array:
        return self.dout.sum(self.leading)

    def mean(self, values: Array, axis: Any = None) -> Array:
        """Average over the batch, or over the axis that a mistake takes."""
        return values.mean(self.leading if axis is None else axis, keepdims=True)

    def dx(self, g: Array | None = None, x_hat: Array | None = None, s: Any = None) -> Array:
        """Give the right dx, or the one that a mistaken part leads to."""
        g = self.g if g is None else g
        x_hat = self.x_hat if x_hat is None else x_hat
        return (g - self.mean(g) - x_hat * self.mean(g * x_hat)) / (self.s if s is None else s)


def _forward(
    x: Array,
    gamma: Array,
    beta: Array,
    running_mean: Array,
    running_var: Array,
    training: bool,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Any:
    # The backward pass is graded with training alone, and looks at out and cache.
    axes = tuple(range(x.ndim - 1))
    out = gamma * (x - x.mean(axes)) / np.sqrt(x.var(axes) + eps) + beta
    return out, (x, gamma, beta, running_var, eps), running_mean, running_var


def _adapt(formula: Function) -> Function:
    def batchnorm_backward(dout: Array, cache: Any) -> Any:
        x, gamma, beta, running_var, eps = cache
        axes = tuple(range(x.ndim - 1))
        s = np.sqrt(x.var(axes) + eps)
        x_hat = (x - x.mean(axes)) / s
        return formula(_Parts(dout, x, gamma, beta, running_var, s, x_hat, gamma * dout, eps))

    return batchnorm_backward


wrong = Family("batchnorm_backward", _adapt, partners=(_forward,))


def _wrong_dx(id: str, name: str, sentence: str, dx: Function) -> None:
    """Register a mistake in dx alone."""
    wrong(id, name, sentence)(lambda p: (dx(p), p.dgamma, p.dbeta))


def _wrong_parameters(id: str, name: str, sentence: str, dgamma: Function, dbeta: Function) -> None:
    """Register a mistake in dgamma and dbeta."""
    wrong(id, name, sentence)(lambda p: (p.dx(), dgamma(p), dbeta(p)))


_wrong_dx(
    "BB1", "mean and variance treated as constants",
    "You sent the gradient straight through, g / s, as if mean and variance did not depend on x. "
    "In training they do: two terms are missing, - mean(g) and - x_hat * mean(g * x_hat).",
    lambda p: p.g / p.s,
)  # fmt: skip
_wrong_dx(
    "BB2", "the term mean(g) missing",
    "The term - mean(g) is missing: the gradient through the mean of the batch.",
    lambda p: (p.g - p.x_hat * p.mean(p.g * p.x_hat)) / p.s,
)  # fmt: skip
_wrong_dx(
    "BB3", "the x_hat term missing",
    "The term - x_hat * mean(g * x_hat) is missing: the gradient through the variance.",
    lambda p: (p.g - p.mean(p.g)) / p.s,
)  # fmt: skip
_wrong_dx(
    "BB4", "means over the features",
    "The two means in dx are taken over the last axis, as in LayerNorm. Here they run over the "
    "batch: all axes but the last.",
    lambda p: (p.g - p.mean(p.g, -1) - p.x_hat * p.mean(p.g * p.x_hat, -1)) / p.s,
)  # fmt: skip
_wrong_dx(
    "BB5", "means divided by N - 1",
    "The means in dx divide by N - 1. The forward pass normalizes with the variance that divides "
    "by N, so the backward pass divides by N too.",
    lambda p: (
        p.g - (p.mean(p.g) + p.x_hat * p.mean(p.g * p.x_hat)) * p.rows / (p.rows - 1)
    ) / p.s,
)  # fmt: skip
_wrong_dx(
    "BB6", "x_hat term divided by N - 1",
    "The term mean(g * x_hat) divides by N - 1. The forward pass normalizes with the variance "
    "that divides by N, so this mean does too.",
    lambda p: (
        p.g - p.mean(p.g) - p.x_hat * p.mean(p.g * p.x_hat) * p.rows / (p.rows - 1)
    ) / p.s,
)  # fmt: skip


@wrong(
    "BB7", "s from the variance that divides by N - 1",
    "Your backward pass takes s from the variance that divides by N - 1. It needs the s of your "
    "forward pass: keep it in the cache.",
)  # fmt: skip
def _unbiased(p):
    s = np.sqrt(p.x.var(p.leading, ddof=1) + p.eps)
    x_hat = (p.x - p.mean(p.x)) / s
    return p.dx(x_hat=x_hat, s=s), (p.dout * x_hat).sum(p.leading), p.dbeta


_wrong_dx(
    "BB8", "divided by the running spread",
    "Your dx divides by the root of the running variance. In training the batch is normalized "
    "with its own: use the s of your forward pass.",
    lambda p: p.dx(s=np.sqrt(p.running_var + p.eps)),
)  # fmt: skip
_wrong_dx(
    "BB9", "the gradient of inference",
    "Your dx is gamma * dout over the running spread. That is right in use, where the running "
    "values are constants. In training mean and variance depend on x.",
    lambda p: p.g / np.sqrt(p.running_var + p.eps),
)  # fmt: skip
_wrong_dx(
    "BB10", "gamma missing in dx",
    "Your dx does not contain gamma. The gradient first goes back through the scaling: "
    "g = gamma * dout. With gamma = 1 nobody sees the difference.",
    lambda p: p.dx(g=p.dout),
)  # fmt: skip
_wrong_dx(
    "BB11", "dout used unscaled in the means",
    "Your means are taken of dout, without gamma, while the first term has it. All three terms "
    "have it.",
    lambda p: (p.g - p.mean(p.dout) - p.x_hat * p.mean(p.dout * p.x_hat)) / p.s,
)  # fmt: skip
_wrong_dx(
    "BB12", "gamma twice in dx",
    "Your dx contains gamma twice: once in g, once in front of the bracket.",
    lambda p: p.gamma * p.dx(),
)  # fmt: skip
_wrong_dx(
    "BB13", "wrong sign of the x_hat term",
    "You added x_hat * mean(g * x_hat). It is subtracted: normalization undoes a stretch.",
    lambda p: (p.g - p.mean(p.g) + p.x_hat * p.mean(p.g * p.x_hat)) / p.s,
)  # fmt: skip
_wrong_dx(
    "BB14", "sums instead of means",
    "You used sums over the batch where the formula has means: a factor N too much. In terms of "
    "the parameters it is dbeta / N and dgamma / N.",
    lambda p: (p.g - (p.mean(p.g) + p.x_hat * p.mean(p.g * p.x_hat)) * p.rows) / p.s,
)  # fmt: skip
_wrong_dx(
    "BB15", "N taken from the first axis",
    "You divided the sums by len(x). With (B, T, D) the batch holds B * T vectors: "
    "N = x.size // x.shape[-1].",
    lambda p: (
        p.g - (p.mean(p.g) + p.x_hat * p.mean(p.g * p.x_hat)) * p.rows / len(p.x)
    ) / p.s,
)  # fmt: skip
_wrong_dx(
    "BB16", "dx too large by N",
    "Your dx is N times too large: the form (N g - sum g - x_hat sum(g x_hat)) / s still has to "
    "be divided by N.",
    lambda p: p.dx() * p.rows,
)  # fmt: skip
_wrong_dx(
    "BB17", "not divided by s",
    "The division by s = sqrt(var + eps) is missing in dx.",
    lambda p: p.dx(s=1.0),
)  # fmt: skip
_wrong_dx(
    "BB18", "divided by the variance",
    "You divided dx by var + eps. Divide by its root, s, once.",
    lambda p: p.dx(s=p.s**2),
)  # fmt: skip


@wrong(
    "BB19", "eps forgotten in the backward pass",
    "Your backward pass computes s without eps, your forward pass with it. The two must agree: "
    "keep s in the cache and use it again.",
)  # fmt: skip
def _no_eps(p):
    s = np.sqrt(p.x.var(p.leading))
    x_hat = (p.x - p.mean(p.x)) / s
    return p.dx(s=s, x_hat=x_hat), (p.dout * x_hat).sum(p.leading), p.dbeta


@wrong(
    "BB20", "statistics of the last axis",
    "Your backward pass takes mean and variance over the last axis, as in LayerNorm. BatchNorm's "
    "run over the batch: keep x_hat and s of the forward pass.",
)  # fmt: skip
def _row_statistics(p):
    s = np.sqrt(p.x.var(-1, keepdims=True) + p.eps)
    x_hat = (p.x - p.mean(p.x, -1)) / s
    dx = (p.g - p.mean(p.g, -1) - x_hat * p.mean(p.g * x_hat, -1)) / s
    return dx, (p.dout * x_hat).sum(p.leading), p.dbeta


@wrong(
    "BB21", "out used in place of x_hat",
    "You used the layer's output where x_hat belongs. They differ by gamma and beta: keep x_hat.",
)  # fmt: skip
def _out_for_x_hat(p):
    out = p.gamma * p.x_hat + p.beta
    return p.dx(x_hat=out), (p.dout * out).sum(p.leading), p.dbeta


_wrong_dx(
    "BB22", "means over axis 0 only",
    "The two means in dx are taken over axis 0. With (B, T, D) the tokens belong to the batch "
    "too: axis=tuple(range(x.ndim - 1)).",
    lambda p: (p.g - p.mean(p.g, 0) - p.x_hat * p.mean(p.g * p.x_hat, 0)) / p.s,
)  # fmt: skip
_wrong_dx(
    "BB23", "x used in place of x_hat in dx",
    "You used x where x_hat belongs in dx: normalize it first.",
    lambda p: p.dx(x_hat=p.x),
)  # fmt: skip
_wrong_dx(
    "BB24", "x - mean used in place of x_hat in dx",
    "You used x - mean where x_hat belongs in dx: it still has to be divided by s.",
    lambda p: p.dx(x_hat=p.x - p.mean(p.x)),
)  # fmt: skip
_wrong_dx(
    "BB25", "a factor 1/s missing in the x_hat term",
    "One division by s is missing in the second term: in terms of x - mean it is "
    "(x - mean) * mean(g * (x - mean)) / s**3.",
    lambda p: (p.g - p.mean(p.g) - p.s * p.x_hat * p.mean(p.g * p.x_hat)) / p.s,
)  # fmt: skip
_wrong_dx(
    "BB26", "the x_hat term doubled",
    "The term x_hat * mean(g * x_hat) stands twice in your dx. The 2 from the derivative of the "
    "square cancels against the 1/2 from the derivative of the root.",
    lambda p: (p.g - p.mean(p.g) - 2 * p.x_hat * p.mean(p.g * p.x_hat)) / p.s,
)  # fmt: skip
_wrong_dx(
    "BB27", "product of means",
    "You multiplied mean(g) by mean(x_hat). The formula has the mean of the product g * x_hat.",
    lambda p: (p.g - p.mean(p.g) - p.x_hat * p.mean(p.g) * p.mean(p.x_hat)) / p.s,
)  # fmt: skip
_wrong_parameters(
    "BB28", "gamma included in dgamma",
    "Your dgamma sums g * x_hat with g = gamma * dout. It is the gradient of gamma itself: "
    "sum dout * x_hat.",
    lambda p: p.gamma * p.dgamma, lambda p: p.dbeta,
)  # fmt: skip
_wrong_parameters(
    "BB29", "gamma included in dbeta",
    "Your dbeta sums gamma * dout. beta is added after the scaling: sum dout alone.",
    lambda p: p.dgamma, lambda p: p.gamma * p.dbeta,
)  # fmt: skip
_wrong_parameters(
    "BB30", "x used in place of x_hat in dgamma",
    "Your dgamma sums dout * x. gamma multiplies x_hat, so that is what its gradient contains.",
    lambda p: (p.dout * p.x).sum(p.leading), lambda p: p.dbeta,
)  # fmt: skip
_wrong_parameters(
    "BB31", "dgamma and dbeta summed over axis 0 only",
    "You summed dgamma and dbeta over axis 0. With (B, T, D) the tokens must be summed as well: "
    "reduce over every axis but the last.",
    lambda p: (p.dout * p.x_hat).sum(0), lambda p: p.dout.sum(0),
)  # fmt: skip
_wrong_parameters(
    "BB32", "dgamma and dbeta not summed",
    "Your dgamma and dbeta keep the shape of x. gamma and beta are shared by every vector, so "
    "their gradients add up over all leading axes to shape (D,).",
    lambda p: p.dout * p.x_hat, lambda p: p.dout,
)  # fmt: skip
_wrong_parameters(
    "BB33", "dgamma and dbeta averaged",
    "You averaged dgamma and dbeta over the batch. The loss is given, with whatever mean it "
    "contains, and its gradients add up: use the sum.",
    lambda p: p.dgamma / p.rows, lambda p: p.dbeta / p.rows,
)  # fmt: skip
_wrong_parameters(
    "BB34", "dgamma and dbeta summed over everything",
    "Your dgamma and dbeta are single numbers. Each feature has its own: keep the last axis.",
    lambda p: np.sum(p.dout * p.x_hat), lambda p: np.sum(p.dout),
)  # fmt: skip
_wrong_parameters(
    "BB35", "dgamma and dbeta swapped",
    "You returned dbeta in the place of dgamma. The order is dx, dgamma, dbeta.",
    lambda p: p.dbeta, lambda p: p.dgamma,
)  # fmt: skip


@wrong(
    "BB36", "nothing returned",
    "Your function ends without a return statement, and then Python gives None. End it with "
    "return dx, dgamma, dbeta.",
)  # fmt: skip
def _nothing(p):
    return None
