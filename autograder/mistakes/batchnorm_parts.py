"""What every BatchNorm forward pass is made of, each part open to a mistake."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from autograder.mistakes.registry import Family, Function

Array = np.ndarray


class Given(NamedTuple):
    """What the forward pass is called with, and what follows from it."""

    x: Array
    gamma: Array
    beta: Array
    running_mean: Array
    running_var: Array
    training: bool
    momentum: float
    eps: float

    @property
    def leading(self) -> tuple[int, ...]:
        """All axes but the last: the batch."""
        return tuple(range(self.x.ndim - 1))

    @property
    def mean(self) -> Array:
        """Mean of each feature."""
        return self.x.mean(self.leading)

    @property
    def var(self) -> Array:
        """Variance of each feature, dividing by N."""
        return self.x.var(self.leading)

    @property
    def unbiased(self) -> Array:
        """Variance of each feature, dividing by N - 1."""
        return self.x.var(self.leading, ddof=1)

    @property
    def kept(self) -> tuple[Array, Array]:
        """The running values as they came."""
        return self.running_mean, self.running_var

    def out(self, mean: Array | None = None, var: Array | None = None) -> Array:
        """Give the right output of training, or the one that mistaken statistics lead to."""
        mean = self.mean if mean is None else mean
        var = self.var if var is None else var
        return self.gamma * (self.x - mean) / np.sqrt(var + self.eps) + self.beta

    def out_in_use(self) -> Array:
        """Give the right output of inference."""
        return self.out(*self.kept)

    def moved(
        self, mean: Array | None = None, var: Array | None = None, momentum: float | None = None
    ) -> tuple[Array, Array]:
        """Give the right new running values, or those that mistaken parts lead to."""
        mean = self.mean if mean is None else mean
        var = self.unbiased if var is None else var
        new = self.momentum if momentum is None else momentum
        old = 1 - new
        return old * self.running_mean + new * mean, old * self.running_var + new * var


def _adapt(formula: Function) -> Function:
    def batchnorm_forward(
        x: Array,
        gamma: Array,
        beta: Array,
        running_mean: Array,
        running_var: Array,
        training: bool,
        momentum: float = 0.1,
        eps: float = 1e-5,
    ) -> Any:
        return formula(
            Given(x, gamma, beta, running_mean, running_var, training, momentum, eps)
        )  # fmt: skip

    return batchnorm_forward


anywhere = Family("batchnorm_forward", _adapt)


def wrong(
    id: str,
    name: str,
    sentence: str,
    out: Function = Given.out,
    moved: Function = Given.moved,
    in_use: Function = Given.out_in_use,
    kept: Function = lambda p: p.kept,
) -> None:
    """Register a forward pass with a mistake in some of its four parts.

    Parameters
    ----------
    out, moved : callable
        Output and running values in training, from a `Given`.
    in_use, kept : callable
        The same outside training.
    """

    def formula(p: Given) -> Any:
        if p.training:
            running = moved(p)
            return out(p), None, *running
        return in_use(p), None, *kept(p)

    anywhere(id, name, sentence)(formula)


def both_modes(
    id: str, name: str, sentence: str, out: Function, moved: Function = Given.moved
) -> None:
    """Register a mistake in ``out(p, mean, var)``, made in training and in use alike."""
    wrong(
        id, name, sentence,
        lambda p: out(p, p.mean, p.var), moved, lambda p: out(p, *p.kept),
    )  # fmt: skip
