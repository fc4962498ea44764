"""Known wrong comparisons over splits (ids RG80 to RG99)."""

from __future__ import annotations

import numpy as np

from autograder.mistakes.registry import Family, Function

wrong = Family("paired_difference")


def _mean(a, b):
    return float(np.mean(b - a))


def _std(a, b):
    return float(np.std(b - a, ddof=1))


def _factor(n, n_train, n_val):
    return np.sqrt(1 / n + n_val / n_train)


def _by(mean: Function = _mean, std: Function = _std, factor: Function = _factor) -> Function:
    """Compare with another mean, spread or factor."""

    def formula(a, b, n_train, n_val):
        return mean(a, b), std(a, b) * factor(len(a), n_train, n_val)

    return formula


def _rule(id: str, name: str, sentence: str, **rules: Function) -> None:
    wrong(id, name, sentence)(_by(**rules))


_rule(
    "RG80", "splits taken for independent",
    "Your standard error is the usual s / sqrt(n). The splits share their examples, so they are "
    "not independent: the factor is sqrt(1 / n + n_val / n_train).",
    factor=lambda n, n_train, n_val: np.sqrt(1 / n),
)  # fmt: skip
_rule(
    "RG81", "n in the denominator of the variance",
    "Your spread divides by n. For the variance of n differences around their own mean it is "
    "n - 1: np.std(d, ddof=1).",
    std=lambda a, b: float(np.std(b - a)),
)  # fmt: skip
_rule(
    "RG82", "not paired",
    "You added the variances of a and b. Both were measured on the same splits, and what makes a "
    "split hard cancels in the difference: take the spread of b - a.",
    std=lambda a, b: float(np.sqrt(np.var(a, ddof=1) + np.var(b, ddof=1))),
)  # fmt: skip
_rule(
    "RG83", "difference of the spreads",
    "You subtracted the spread of a from that of b. The spread of the differences is asked for: "
    "np.std(b - a, ddof=1).",
    std=lambda a, b: float(np.std(b, ddof=1) - np.std(a, ddof=1)),
)  # fmt: skip
_rule(
    "RG84", "spread of all numbers together",
    "You took the spread of a and b in one heap. Take that of the differences, b - a.",
    std=lambda a, b: float(np.std([*a, *b], ddof=1)),
)  # fmt: skip
_rule(
    "RG85", "a - b",
    "Your mean has the wrong sign: the difference is b - a, what changes from a to b.",
    mean=lambda a, b: _mean(b, a),
)  # fmt: skip
_rule(
    "RG86", "absolute differences",
    "You took absolute values of the differences. A split on which b is better and one on which it "
    "is worse then look alike: keep the signs.",
    mean=lambda a, b: float(np.abs(b - a).mean()),
    std=lambda a, b: float(np.abs(b - a).std(ddof=1)),
)  # fmt: skip
_rule(
    "RG87", "median instead of mean",
    "You took the median of the differences. Their mean is asked for.",
    mean=lambda a, b: float(np.median(b - a)),
)  # fmt: skip
_rule(
    "RG88", "relative difference",
    "You divided by a. The plain difference b - a is asked for.",
    mean=lambda a, b: float(np.mean((b - a) / a)),
    std=lambda a, b: float(np.std((b - a) / a, ddof=1)),
)  # fmt: skip
_rule(
    "RG89", "n_train and n_val the wrong way round",
    "Your correction is n_train / n_val. It is n_val / n_train: the more examples the training "
    "sets have in common, the more do the differences resemble each other.",
    factor=lambda n, n_train, n_val: np.sqrt(1 / n + n_train / n_val),
)  # fmt: skip
_rule(
    "RG90", "share of all examples",
    "Your correction is n_val / (n_train + n_val). Nadeau and Bengio divide by n_train alone.",
    factor=lambda n, n_train, n_val: np.sqrt(1 / n + n_val / (n_train + n_val)),
)  # fmt: skip
_rule(
    "RG91", "square root missing",
    "You multiplied the standard deviation by 1 / n + n_val / n_train. That factor belongs to the "
    "variance; the standard error has its square root.",
    factor=lambda n, n_train, n_val: 1 / n + n_val / n_train,
)  # fmt: skip
_rule(
    "RG92", "roots added",
    "You added sqrt(1 / n) and sqrt(n_val / n_train). Variances add up, so the sum stands under "
    "one root: sqrt(1 / n + n_val / n_train).",
    factor=lambda n, n_train, n_val: np.sqrt(1 / n) + np.sqrt(n_val / n_train),
)  # fmt: skip
_rule(
    "RG93", "only the second term",
    "Your factor lacks 1 / n. Without it the number of splits would not matter at all.",
    factor=lambda n, n_train, n_val: np.sqrt(n_val / n_train),
)  # fmt: skip
_rule(
    "RG94", "variance instead of standard deviation",
    "You used the variance of the differences. The standard error has their standard deviation.",
    std=lambda a, b: float(np.var(b - a, ddof=1)),
)  # fmt: skip
_rule(
    "RG95", "divided by the root of n once more",
    "You divided by sqrt(n) besides. The n is in the factor already: "
    "sqrt(1 / n + n_val / n_train).",
    factor=lambda n, n_train, n_val: np.sqrt(1 / n + n_val / n_train) / np.sqrt(n),
)  # fmt: skip
_rule(
    "RG96", "the spread itself",
    "Your standard error is the spread of single differences. That of their mean is smaller, by "
    "the factor sqrt(1 / n + n_val / n_train).",
    factor=lambda n, n_train, n_val: 1.0,
)  # fmt: skip
_rule(
    "RG97", "minus instead of plus",
    "You subtracted 1 / n from n_val / n_train, or the other way round. The two add up.",
    factor=lambda n, n_train, n_val: np.sqrt(abs(1 / n - n_val / n_train)),
)  # fmt: skip


@wrong(
    "RG98", "both results the wrong way round",
    "You return the error first. The order is mean, standard_error.",
)  # fmt: skip
def _swapped(a, b, n_train, n_val):
    return _by()(a, b, n_train, n_val)[::-1]


@wrong(
    "RG99", "b changed in place",
    "Your numbers are right, but b is not what it was: b -= a writes into the caller's array. "
    "d = b - a makes a new one.",
)  # fmt: skip
def _in_place(a, b, n_train, n_val):
    b -= a
    return float(b.mean()), float(b.std(ddof=1)) * _factor(len(b), n_train, n_val)
