"""Known mistakes in what BatchNorm remembers and in its use (ids BN...)."""

from __future__ import annotations

import numpy as np

from autograder.mistakes.batchnorm_parts import anywhere, wrong


def _wrong_moved(id, name, sentence, moved):
    """Register a mistake in the running values of training alone."""
    wrong(id, name, sentence, moved=moved)


def _wrong_in_use(id, name, sentence, in_use):
    """Register a mistake in the output of inference alone."""
    wrong(id, name, sentence, in_use=in_use)


_wrong_moved(
    "BN3", "running variance divides by N",
    "Your running variance takes the variance that divides by N. Here it estimates the variance "
    "of all data, and divides by N - 1: var * N / (N - 1).",
    lambda p: p.moved(var=p.var),
)  # fmt: skip
_wrong_moved(
    "BN43", "N taken from the first axis",
    "Your running variance uses len(x) as N. With (B, T, D) the batch holds B * T vectors: "
    "N = x.size // x.shape[-1].",
    lambda p: p.moved(var=p.var * len(p.x) / (len(p.x) - 1)),
)  # fmt: skip
_wrong_moved(
    "BN44", "the factor of the variance upside down",
    "Your running variance contains (N - 1) / N. It is the other way round: var * N / (N - 1), "
    "a little more than the variance of the batch.",
    lambda p: p.moved(var=p.var * p.var / p.unbiased),
)  # fmt: skip
_wrong_moved(
    "BN4", "momentum turned round",
    "You gave the old value the weight momentum. Here, as in PyTorch, it is the weight of the "
    "new one: (1 - momentum) * running + momentum * new.",
    lambda p: p.moved(momentum=1 - p.momentum),
)  # fmt: skip
_wrong_moved(
    "BN45", "momentum fixed at 0.1",
    "Your function uses a momentum of 0.1 whatever it is given. Use the argument momentum.",
    lambda p: p.moved(momentum=0.1),
)  # fmt: skip
_wrong_moved(
    "BN46", "momentum fixed at 0.9",
    "Your function gives the new value the weight 0.9 whatever it is given. Use the argument "
    "momentum, which is the weight of the new value.",
    lambda p: p.moved(momentum=0.9),
)  # fmt: skip
_wrong_moved(
    "BN5", "running standard deviation",
    "You keep the standard deviation. The second running value is a variance: the root is taken "
    "when it is used, after eps is added.",
    lambda p: p.moved(var=np.sqrt(p.unbiased)),
)  # fmt: skip
_wrong_moved(
    "BN64", "running standard deviation, dividing by N",
    "You keep the standard deviation. The second running value is a variance, which divides by "
    "N - 1: the root is taken when it is used, after eps is added.",
    lambda p: p.moved(var=np.sqrt(p.var)),
)  # fmt: skip
_wrong_moved(
    "BN47", "eps inside the running variance",
    "You added eps before you stored the variance. It is added where the root is taken, in "
    "training and again in use, and is no part of what is remembered.",
    lambda p: p.moved(var=p.unbiased + p.eps),
)  # fmt: skip
_wrong_moved(
    "BN9", "running values replaced",
    "Your running values are those of the last batch. They move only a part of the way: "
    "(1 - momentum) * running + momentum * new.",
    lambda p: p.moved(momentum=1.0),
)  # fmt: skip
_wrong_moved(
    "BN65", "running values replaced, variance dividing by N",
    "Your running values are those of the last batch. They move only a part of the way: "
    "(1 - momentum) * running + momentum * new, with the variance that divides by N - 1.",
    lambda p: (p.mean, p.var),
)  # fmt: skip
_wrong_moved(
    "BN10", "running values never moved",
    "Your running values come back from training as they went in. Move them: "
    "(1 - momentum) * running + momentum * new.",
    lambda p: p.kept,
)  # fmt: skip
_wrong_moved(
    "BN48", "running variance never moved",
    "You moved the running mean and forgot the running variance.",
    lambda p: (p.moved()[0], p.running_var),
)  # fmt: skip
_wrong_moved(
    "BN49", "running mean never moved",
    "You moved the running variance and forgot the running mean.",
    lambda p: (p.running_mean, p.moved()[1]),
)  # fmt: skip
_wrong_moved(
    "BN50", "running values added up",
    "You added momentum * new without shrinking the old value, so the running values grow with "
    "every step: (1 - momentum) * running + momentum * new.",
    lambda p: (
        p.running_mean + p.momentum * p.mean, p.running_var + p.momentum * p.unbiased,
    ),
)  # fmt: skip
_wrong_moved(
    "BN51", "running values of the output",
    "You remembered mean and variance of the output. In use the running values normalize x, so "
    "they are those of x.",
    lambda p: p._replace(x=p.out()).moved(),
)  # fmt: skip


@anywhere(
    "BN52", "running values swapped",
    "You returned the running variance in the place of the running mean. The order is out, "
    "cache, running_mean, running_var.",
)  # fmt: skip
def _swapped(p):
    mean, var = p.moved() if p.training else p.kept
    return (p.out() if p.training else p.out_in_use()), None, var, mean


@anywhere(
    "BN53", "running arrays changed in place",
    "Your result is right, but your function overwrote running_mean or running_var (*=, +=). "
    "Return new arrays: the caller may still need the old ones.",
)  # fmt: skip
def _in_place(p):
    out = p.out() if p.training else p.out_in_use()
    if p.training:
        p.running_mean[...], p.running_var[...] = p.moved()
    return out, None, p.running_mean.copy(), p.running_var.copy()


_wrong_in_use(
    "BN6", "use with the statistics of the batch",
    "In use you normalized with the batch's own statistics. The answer to one question then "
    "depends on which questions were asked with it, and a single vector becomes beta. Use the "
    "running values.",
    lambda p: p.out(),
)  # fmt: skip
wrong(
    "BN54", "the flag training ignored",
    "Your function does the same whatever training says. With training=False it uses the running "
    "values in place of the batch's statistics, and returns them unchanged.",
    in_use=lambda p: p.out(), kept=lambda p: p.moved(),
)  # fmt: skip
wrong(
    "BN7", "running values moved in use",
    "Your running values move in use as well. They are learned in training alone: return them "
    "unchanged when training is False.",
    kept=lambda p: p.moved(),
)  # fmt: skip
wrong(
    "BN66", "running values moved in use, variance dividing by N",
    "Your running values move in use as well. They are learned in training alone: return them "
    "unchanged when training is False.",
    moved=lambda p: p.moved(var=p.var), kept=lambda p: p.moved(var=p.var),
)  # fmt: skip
_wrong_in_use(
    "BN12", "divided by the running variance",
    "In use you divided by the running variance. Divide by sqrt(running_var + eps).",
    lambda p: p.gamma * (p.x - p.running_mean) / (p.running_var + p.eps) + p.beta,
)  # fmt: skip
_wrong_in_use(
    "BN13", "gamma and beta left out in use",
    "In use you returned x_hat itself. The scale and the shift belong to both modes: "
    "out = gamma * x_hat + beta.",
    lambda p: (p.x - p.running_mean) / np.sqrt(p.running_var + p.eps),
)  # fmt: skip
_wrong_in_use(
    "BN55", "eps missing in use",
    "In use your formula has no eps, in training it has one. Both divide by sqrt(var + eps).",
    lambda p: p._replace(eps=0.0).out_in_use(),
)  # fmt: skip
_wrong_in_use(
    "BN56", "eps outside the square root in use",
    "In use you added eps to the root of the running variance. It belongs inside, as in "
    "training: sqrt(running_var + eps).",
    lambda p: p.gamma * (p.x - p.running_mean) / (np.sqrt(p.running_var) + p.eps) + p.beta,
)  # fmt: skip
_wrong_in_use(
    "BN57", "running variance taken as N / (N - 1) times too large",
    "In use you divide the running variance by N / (N - 1) again. It is used as it is: the batch "
    "at hand has nothing to do with it.",
    lambda p: p.out(
        p.running_mean, p.running_var * (p.x.size - len(p.gamma)) / p.x.size
    ),
)  # fmt: skip
_wrong_in_use(
    "BN58", "running mean not subtracted",
    "In use you did not subtract the running mean.",
    lambda p: p.out(np.zeros_like(p.running_mean), p.running_var),
)  # fmt: skip
_wrong_in_use(
    "BN59", "batch mean with running variance",
    "In use you subtracted the mean of the batch and divided by the running spread. Both come "
    "from the running values.",
    lambda p: p.out(p.mean, p.running_var),
)  # fmt: skip
_wrong_in_use(
    "BN60", "running mean with batch variance",
    "In use you subtracted the running mean and divided by the spread of the batch. Both come "
    "from the running values.",
    lambda p: p.out(p.running_mean, p.var),
)  # fmt: skip
_wrong_in_use(
    "BN61", "no normalization in use",
    "In use you returned gamma * x + beta. The features still have to be normalized, with the "
    "running values.",
    lambda p: p.gamma * p.x + p.beta,
)  # fmt: skip
_wrong_in_use(
    "BN62", "x returned in use",
    "In use you returned x itself. That is right for dropout; BatchNorm normalizes in both "
    "modes, in use with the running values.",
    lambda p: p.x.copy(),
)  # fmt: skip
