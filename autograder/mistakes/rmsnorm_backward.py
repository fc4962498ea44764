"""Known wrong RMSNorm backward passes (ids RB...)."""

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
    rms: Array
    x_hat: Array
    g: Array
    eps: float

    @property
    def leading(self) -> tuple[int, ...]:
        return tuple(range(self.x.ndim - 1))

    @property
    def features(self) -> int:
        return self.x.shape[-1]

    @property
    def along(self) -> Array:
        return _mean(self.g * self.x_hat)

    def dgamma(self, x_hat: Array | None = None) -> Array:
        """Give the right dgamma, or the one that a mistaken x_hat leads to."""
        return (self.dout * (self.x_hat if x_hat is None else x_hat)).sum(self.leading)

    def dx(self, g: Array | None = None, x_hat: Array | None = None, rms: Any = None) -> Array:
        """Give the right dx, or the one that a mistaken part leads to."""
        g = self.g if g is None else g
        x_hat = self.x_hat if x_hat is None else x_hat
        return (g - x_hat * _mean(g * x_hat)) / (self.rms if rms is None else rms)


def _mean(x: Array, axis: Any = -1) -> Array:
    return x.mean(axis=axis, keepdims=True)


def _forward(x: Array, gamma: Array, eps: float = 1e-5) -> Any:
    return gamma * x / np.sqrt(_mean(x * x) + eps), (x, gamma, eps)


def _adapt(formula: Function) -> Function:
    def rmsnorm_backward(dout: Array, cache: Any) -> Any:
        x, gamma, eps = cache
        rms = np.sqrt(_mean(x * x) + eps)
        return formula(_Parts(dout, x, gamma, rms, x / rms, gamma * dout, eps))

    return rmsnorm_backward


wrong = Family("rmsnorm_backward", _adapt, partners=(_forward,))


def _wrong_dx(id: str, name: str, sentence: str, dx: Function) -> None:
    """Register a mistake in dx alone."""
    wrong(id, name, sentence)(lambda p: (dx(p), p.dgamma()))


def _wrong_dgamma(id: str, name: str, sentence: str, dgamma: Function) -> None:
    """Register a mistake in dgamma alone."""
    wrong(id, name, sentence)(lambda p: (p.dx(), dgamma(p)))


_wrong_dx(
    "RB1", "LayerNorm's backward pass",
    "Your dx subtracts mean(g). That term belongs to LayerNorm, whose forward pass subtracts the "
    "mean; RMSNorm's does not, so nothing flows back that way.",
    lambda p: (p.g - _mean(p.g) - p.x_hat * p.along) / p.rms,
)  # fmt: skip


@wrong(
    "RB36", "LayerNorm's statistics in the backward pass",
    "Your backward pass subtracts the mean of x and divides by its standard deviation: that is "
    "all LayerNorm. Use the x_hat = x / rms and the rms of your forward pass.",
)  # fmt: skip
def _layernorm_backward(p):
    spread = np.sqrt(p.x.var(-1, keepdims=True) + p.eps)
    x_hat = (p.x - _mean(p.x)) / spread
    dx = (p.g - _mean(p.g) - x_hat * _mean(p.g * x_hat)) / spread
    return dx, p.dgamma(x_hat)


_wrong_dx(
    "RB2", "rms treated as a constant",
    "You sent the gradient straight through, g / rms, as if rms did not depend on x. It does: "
    "the term - x_hat * mean(g * x_hat) is missing.",
    lambda p: p.g / p.rms,
)  # fmt: skip
_wrong_dx(
    "RB33", "one rms for the whole array",
    "Your dx divides by one root mean square of the whole array. Each vector has its own, and it "
    "depends on x, which gives the second term of dx.",
    lambda p: p.g / np.sqrt(np.mean(p.x**2)),
)  # fmt: skip
_wrong_dx(
    "RB3", "gamma missing in dx",
    "Your dx does not contain gamma. The gradient first goes back through the scaling: "
    "g = gamma * dout. With gamma = 1 nobody sees the difference.",
    lambda p: p.dx(g=p.dout),
)  # fmt: skip
_wrong_dx(
    "RB4", "gamma multiplied at the end",
    "You multiplied by gamma after the mean. It belongs inside it: g = gamma * dout first, then "
    "the mean of g * x_hat. With a constant gamma nobody sees the difference.",
    lambda p: p.gamma * p.dx(g=p.dout),
)  # fmt: skip
_wrong_dx(
    "RB27", "dout used unscaled in the mean",
    "Your mean is taken of dout * x_hat, without gamma, while the first term has it. Both terms "
    "use g = gamma * dout.",
    lambda p: (p.g - p.x_hat * _mean(p.dout * p.x_hat)) / p.rms,
)  # fmt: skip
_wrong_dx(
    "RB32", "upstream gradient missing in the path through rms",
    "The gradient through rms does not contain dout: average g * x_hat with g = gamma * dout, "
    "not gamma * x_hat.",
    lambda p: (p.g - p.x_hat * _mean(p.gamma * p.x_hat)) / p.rms,
)  # fmt: skip
_wrong_dx(
    "RB5", "sum instead of mean",
    "You used the sum of g * x_hat where the formula has its mean: a factor D too much.",
    lambda p: (p.g - p.x_hat * p.features * p.along) / p.rms,
)  # fmt: skip
_wrong_dx(
    "RB28", "mean divided by D - 1",
    "The mean in dx divides by D - 1. Forward and backward both divide by D.",
    lambda p: (p.g - p.x_hat * p.along * p.features / (p.features - 1)) / p.rms,
)  # fmt: skip
_wrong_dx(
    "RB14", "the x_hat term doubled",
    "The term x_hat * mean(g * x_hat) stands twice in your dx. The 2 from the derivative of x**2 "
    "cancels against the 1/2 from the derivative of the root.",
    lambda p: (p.g - 2 * p.x_hat * p.along) / p.rms,
)  # fmt: skip
_wrong_dx(
    "RB15", "divided by D twice",
    "The x_hat term is D times too small: the mean already divides by D, and you divide again.",
    lambda p: (p.g - p.x_hat * p.along / p.features) / p.rms,
)  # fmt: skip
_wrong_dx(
    "RB16", "a factor 1/rms missing in the x_hat term",
    "The second term of your dx lacks one division by rms: x stands where x_hat = x / rms "
    "belongs. In terms of x the term is x * mean(g * x) / rms**3.",
    lambda p: (p.g - p.x * p.along) / p.rms,
)  # fmt: skip
_wrong_dx(
    "RB38", "a factor 1/rms too many in the x_hat term",
    "The second term of your dx is divided by rms once too often. In terms of x it is "
    "x * mean(g * x) / rms**3.",
    lambda p: (p.g - p.x_hat * p.along / p.rms) / p.rms,
)  # fmt: skip
_wrong_dx(
    "RB6", "x used in place of x_hat in dx",
    "You used x where x_hat belongs in dx, both times: divide it by rms first.",
    lambda p: p.dx(x_hat=p.x),
)  # fmt: skip
_wrong_dx(
    "RB17", "only the diagonal of the Jacobian",
    "Your dx[i] uses dout[i] alone. Every x[i] changes rms and with it all D outputs, so their "
    "gradients add up: mean(g * x_hat) over the features.",
    lambda p: (p.g - p.x_hat * p.g * p.x_hat / p.features) / p.rms,
)  # fmt: skip
_wrong_dx(
    "RB29", "product of means",
    "You multiplied mean(g) by mean(x_hat). The formula has the mean of the product g * x_hat.",
    lambda p: (p.g - p.x_hat * _mean(p.g) * _mean(p.x_hat)) / p.rms,
)  # fmt: skip
_wrong_dx(
    "RB10", "wrong sign of the x_hat term",
    "You added x_hat * mean(g * x_hat). It is subtracted: normalization undoes a stretch.",
    lambda p: (p.g + p.x_hat * p.along) / p.rms,
)  # fmt: skip
_wrong_dx(
    "RB8", "not divided by rms",
    "The division by rms = sqrt(mean(x**2) + eps) is missing in dx.",
    lambda p: p.dx(rms=1.0),
)  # fmt: skip
_wrong_dx(
    "RB9", "divided by the mean square",
    "You divided dx by mean(x**2) + eps. Divide by its root, rms, once.",
    lambda p: p.dx(rms=p.rms**2),
)  # fmt: skip
_wrong_dx(
    "RB30", "dx too large by D",
    "Your dx is D times too large: the form (D * g - x_hat * sum(g * x_hat)) / rms still has to "
    "be divided by D.",
    lambda p: p.dx() * p.features,
)  # fmt: skip
_wrong_dx(
    "RB24", "mean over the batch",
    "The mean in dx is taken over axis 0. It runs over the features: axis=-1.",
    lambda p: (p.g - p.x_hat * _mean(p.g * p.x_hat, 0)) / p.rms,
)  # fmt: skip


@wrong(
    "RB23", "mean square of the batch axis",
    "Your backward pass takes the mean square and the mean over axis 0. RMSNorm's belong to the "
    "last axis.",
)  # fmt: skip
def _batch_statistics(p):
    rms = np.sqrt(_mean(p.x**2, 0) + p.eps)
    x_hat = p.x / rms
    return (p.g - x_hat * _mean(p.g * x_hat, 0)) / rms, p.dgamma(x_hat)


def _eps_times(factor: float) -> Function:
    def formula(p):
        rms = np.sqrt(_mean(p.x**2) + factor * p.eps)
        return p.dx(x_hat=p.x / rms, rms=rms), p.dgamma(p.x / rms)

    return formula


wrong(
    "RB7", "eps forgotten in the backward pass",
    "Your backward pass computes rms without eps, your forward pass with it. The two must agree: "
    "keep rms in the cache and use it again.",
)(_eps_times(0.0))  # fmt: skip
wrong(
    "RB34", "eps subtracted in the backward pass",
    "Your backward pass subtracts eps under the root, your forward pass adds it. Keep rms in the "
    "cache and use it again.",
)(_eps_times(-1.0))  # fmt: skip


@wrong(
    "RB25", "out used in place of x_hat",
    "You used the layer's output where x_hat belongs. They differ by gamma: keep x_hat.",
)  # fmt: skip
def _out_for_x_hat(p):
    out = p.gamma * p.x_hat
    return p.dx(x_hat=out), p.dgamma(out)


_wrong_dgamma(
    "RB11", "gamma included in dgamma",
    "Your dgamma sums g * x_hat with g = gamma * dout. It is the gradient of gamma itself: "
    "sum dout * x_hat.",
    lambda p: (p.g * p.x_hat).sum(p.leading),
)  # fmt: skip
_wrong_dgamma(
    "RB26", "x used in place of x_hat in dgamma",
    "Your dgamma sums dout * x. gamma multiplies x_hat = x / rms, so that is what its gradient "
    "contains.",
    lambda p: p.dgamma(p.x),
)  # fmt: skip
_wrong_dgamma(
    "RB12", "dgamma summed over axis 0 only",
    "You summed dgamma over axis 0. With (B, T, D) the tokens must be summed as well, and a "
    "single vector has nothing to sum: reduce over every axis but the last.",
    lambda p: (p.dout * p.x_hat).sum(0),
)  # fmt: skip
_wrong_dgamma(
    "RB20", "dgamma summed over axes 0 and 1",
    "You summed dgamma over axes (0, 1), which fits (B, T, D) only. Reduce over every axis but "
    "the last: axis=tuple(range(dout.ndim - 1)).",
    lambda p: (p.dout * p.x_hat).sum((0, 1)),
)  # fmt: skip
_wrong_dgamma(
    "RB21", "dgamma summed over everything",
    "Your dgamma is a single number. Each feature has its own: keep the last axis.",
    lambda p: (p.dout * p.x_hat).sum(),
)  # fmt: skip
_wrong_dgamma(
    "RB22", "dgamma summed over the features",
    "You summed dgamma over the last axis, which leaves one number for each vector. gamma has "
    "one for each feature: sum over all the other axes.",
    lambda p: (p.dout * p.x_hat).sum(-1),
)  # fmt: skip
_wrong_dgamma(
    "RB18", "dgamma not summed",
    "Your dgamma keeps the shape of x. gamma is shared by every vector, so its gradients add up "
    "over all leading axes to shape (D,).",
    lambda p: p.dout * p.x_hat,
)  # fmt: skip
_wrong_dgamma(
    "RB19", "dgamma keeps the summed axes",
    "Your dgamma holds the right numbers in shape (1, D). gamma has shape (D,), and its gradient "
    "the same: sum without keepdims.",
    lambda p: (p.dout * p.x_hat).sum(p.leading, keepdims=True),
)  # fmt: skip
_wrong_dgamma(
    "RB13", "dgamma averaged",
    "You averaged dgamma over the vectors. The loss is given, with whatever mean it contains, "
    "and its gradients add up: use the sum.",
    lambda p: (p.dout * p.x_hat).mean(p.leading),
)  # fmt: skip
_wrong_dgamma(
    "RB31", "dgamma divided by the batch size",
    "You divided dgamma by the number of examples. If the loss is a mean, dout already contains "
    "that factor: use the plain sum.",
    lambda p: p.dgamma() / len(p.x),
)  # fmt: skip


@wrong("RB35", "dx and dgamma swapped", "You returned dgamma first. The order is dx, dgamma.")
def _swapped(p):
    return p.dgamma(), p.dx()


@wrong(
    "RB37", "nothing returned",
    "Your function ends without a return statement, and then Python gives None. End it with "
    "return dx, dgamma.",
)  # fmt: skip
def _nothing(p):
    return None
