"""Known wrong cross-entropies and gradients (ids TG45 to TG69, TG133 to TG137)."""

from __future__ import annotations

import numpy as np

from autograder.mistakes.registry import Family


def _softmax(logits):
    weights = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def _at(values, targets):
    return np.take_along_axis(values, targets[..., None], axis=-1)[..., 0]


def _surprise(logits, targets):
    shifted = logits - logits.max(axis=-1, keepdims=True)
    return np.log(np.exp(shifted).sum(axis=-1)) - _at(shifted, targets)


def _right(logits, targets):
    return _surprise(logits, targets).mean(), (logits, targets)


def _hot(logits, targets):
    return np.eye(logits.shape[-1])[targets]


loss = Family("cross_entropy_forward", lambda formula: lambda *given: (formula(*given), given))
gradient = Family(
    "cross_entropy_backward", lambda formula: lambda cache: formula(*cache), (_right,)
)


@loss(
    "TG45", "sum instead of mean",
    "You added the losses of all positions. The mean is asked for, so that the size of the loss "
    "does not depend on the batch.",
)  # fmt: skip
def total(logits, targets):
    return _surprise(logits, targets).sum()


@loss(
    "TG46", "mean over the batch only",
    "You divided by the first axis alone. With logits (B, T, V) there are B * T positions to "
    "take the mean over.",
)  # fmt: skip
def by_batch(logits, targets):
    return _surprise(logits, targets).sum() / len(logits)


@loss(
    "TG47", "divided by the number of classes too",
    "You took a mean over the tokens as well, and so divided by V. The mean runs over positions.",
)  # fmt: skip
def over_everything(logits, targets):
    return _surprise(logits, targets).mean() / logits.shape[-1]


@loss(
    "TG48", "probabilities clipped",
    "You clipped the probabilities before the logarithm. A sure and wrong answer then costs 23 "
    "at most, whatever the gap, while its gradient says otherwise. Use log-sum-exp.",
)  # fmt: skip
def clipped(logits, targets):
    return -np.log(np.clip(_at(_softmax(logits), targets), 1e-10, 1)).mean()


@loss(
    "TG49", "small number added to the probabilities",
    "You added a small number inside the logarithm, which caps the loss of a sure and wrong "
    "answer. Use log-sum-exp, which needs no such guard.",
)  # fmt: skip
def guarded(logits, targets):
    return -np.log(_at(_softmax(logits), targets) + 1e-12).mean()


@loss(
    "TG50", "small number, larger than most",
    "You added 1e-8 or so inside the logarithm, which caps the loss at about 18. Use log-sum-exp, "
    "which needs no such guard.",
)  # fmt: skip
def guarded_more(logits, targets):
    return -np.log(_at(_softmax(logits), targets) + 1e-8).mean()


@loss(
    "TG51", "logarithm of a probability that can vanish",
    "You take the logarithm of the softmax. For large logits a probability underflows to 0 and "
    "the loss is infinite. Take the logarithm of the sum instead: log-sum-exp.",
)  # fmt: skip
def log_of_softmax(logits, targets):
    return -np.log(_at(_softmax(logits), targets)).mean()


@loss(
    "TG52", "exponentials overflow",
    "Your exponentials overflow for large logits. Subtract the largest logit of each position "
    "first: the softmax does not change.",
)  # fmt: skip
def overflowing(logits, targets):
    return (np.log(np.exp(logits).sum(axis=-1)) - _at(logits, targets)).mean()


@loss(
    "TG53", "sign forgotten",
    "Your loss is negative: it is the mean logarithm of the probability. The loss is minus that.",
)  # fmt: skip
def negative(logits, targets):
    return -_surprise(logits, targets).mean()


@loss(
    "TG54", "softmax over the wrong axis",
    "Your softmax runs over the positions. It runs over the last axis, the V tokens of one "
    "position.",
)  # fmt: skip
def over_positions(logits, targets):
    weights = np.exp(logits - logits.max(axis=0))
    return -np.log(_at(weights / weights.sum(axis=0), targets)).mean()


@loss(
    "TG55", "softmax over everything",
    "You divided by the sum over all positions together. Each position has a softmax of its own.",
)  # fmt: skip
def over_all(logits, targets):
    weights = np.exp(logits - logits.max())
    return -np.log(_at(weights / weights.sum(), targets)).mean()


@loss(
    "TG56", "logarithm to base 2",
    "Your loss is measured in bits. Use the natural logarithm.",
)  # fmt: skip
def bits(logits, targets):
    return (_surprise(logits, targets) / np.log(2)).mean()


@loss(
    "TG57", "probability instead of its logarithm",
    "Your loss is 1 minus the mean probability of the right token. Take minus the logarithm.",
)  # fmt: skip
def no_logarithm(logits, targets):
    return 1 - _at(_softmax(logits), targets).mean()


@loss(
    "TG58", "logarithm of the sum missing",
    "Your loss is minus the logit of the right token. The logarithm of the sum of exponentials "
    "must be added, or larger logits would always look better.",
)  # fmt: skip
def without_sum(logits, targets):
    return -_at(logits, targets).mean()


@loss(
    "TG59", "one loss per position",
    "You return one loss for each position. Return their mean, a single number.",
)  # fmt: skip
def not_reduced(logits, targets):
    return _surprise(logits, targets)


@loss(
    "TG60", "largest logit taken out but not put back",
    "You subtracted the largest logit in the sum of exponentials and not from the logit of the "
    "right token. It must be taken from both, or be added again after the logarithm.",
)  # fmt: skip
def not_put_back(logits, targets):
    shifted = logits - logits.max(axis=-1, keepdims=True)
    return (np.log(np.exp(shifted).sum(axis=-1)) - _at(logits, targets)).mean()


@loss(
    "TG136", "exponentials overflow, and a small number added",
    "Your exponentials overflow for large logits, and the small number inside the logarithm caps "
    "the loss. Log-sum-exp with the largest logit taken out mends both.",
)  # fmt: skip
def overflowing_and_guarded(logits, targets):
    weights = np.exp(logits)
    return -np.log(_at(weights / weights.sum(axis=-1, keepdims=True), targets) + 1e-10).mean()


@loss(
    "TG137", "logarithm of a softmax that overflows",
    "You take the logarithm of a softmax whose exponentials overflow for large logits. Log-sum-exp "
    "with the largest logit taken out is safe.",
)  # fmt: skip
def log_of_overflowing(logits, targets):
    weights = np.exp(logits)
    return -np.log(_at(weights / weights.sum(axis=-1, keepdims=True), targets)).mean()


@loss(
    "TG133", "logarithm of the logits",
    "You took the logarithm of the logits themselves, which are no probabilities and may be "
    "negative. The softmax comes between.",
)  # fmt: skip
def log_of_logits(logits, targets):
    return -np.log(_at(logits, targets)).mean()


@loss(
    "TG134", "two axes only",
    "Your function works for logits (N, V) alone. Use the last axis, or reshape to two axes "
    "first, so that (B, T, V) works too.",
)  # fmt: skip
def two_axes(logits, targets):
    shifted = logits - logits.max(axis=1, keepdims=True)
    logsum = np.log(np.exp(shifted).sum(axis=1))
    return (logsum - shifted[np.arange(len(logits)), targets]).mean()


@gradient(
    "TG61", "not divided by the number of positions",
    "The loss is a mean over N positions, so its gradient carries 1/N, which is missing.",
)  # fmt: skip
def not_divided(logits, targets):
    return _softmax(logits) - _hot(logits, targets)


@gradient(
    "TG62", "divided by the batch only",
    "You divided by the first axis alone. With logits (B, T, V) the loss is a mean over B * T "
    "positions.",
)  # fmt: skip
def divided_by_batch(logits, targets):
    return not_divided(logits, targets) / len(logits)


@gradient(
    "TG63", "sign exchanged",
    "Your gradient has the wrong sign: it is softmax minus one-hot. A step against it must raise "
    "the logit of the right token.",
)  # fmt: skip
def exchanged(logits, targets):
    return -not_divided(logits, targets) / targets.size


@gradient(
    "TG64", "one-hot not subtracted",
    "You return the softmax alone. Subtract 1 at the right token of each position.",
)  # fmt: skip
def softmax_only(logits, targets):
    return _softmax(logits) / targets.size


@gradient(
    "TG65", "nothing but the right token",
    "Only the right tokens have a gradient in yours. Every logit takes part in the sum of "
    "exponentials: the gradient is softmax minus one-hot everywhere.",
)  # fmt: skip
def right_tokens_only(logits, targets):
    return not_divided(logits, targets) * _hot(logits, targets) / targets.size


@gradient(
    "TG66", "derivative of the softmax applied twice",
    "You multiplied by p * (1 - p) as well. softmax minus one-hot is already the gradient with "
    "respect to the logits.",
)  # fmt: skip
def twice(logits, targets):
    p = _softmax(logits)
    return not_divided(logits, targets) * p * (1 - p) / targets.size


@gradient(
    "TG67", "gradient with respect to the probabilities",
    "This is the gradient with respect to the probabilities, -1/p at the right token. The logits "
    "come before the softmax: there it is softmax minus one-hot.",
)  # fmt: skip
def of_probabilities(logits, targets):
    return -_hot(logits, targets) / _softmax(logits) / targets.size


@gradient(
    "TG68", "divided by all entries",
    "You divided by every entry of the logits. The mean runs over positions: divide by B * T, "
    "not by B * T * V.",
)  # fmt: skip
def divided_by_all(logits, targets):
    return not_divided(logits, targets) / logits.size


@gradient(
    "TG69", "exponentials overflow",
    "Your softmax overflows for large logits. Subtract the largest logit of each position first.",
)  # fmt: skip
def overflowing_softmax(logits, targets):
    weights = np.exp(logits)
    p = weights / weights.sum(axis=-1, keepdims=True)
    return (p - _hot(logits, targets)) / targets.size


@gradient(
    "TG135", "two axes only",
    "Your function works for logits (N, V) alone. Use the last axis, or reshape to two axes "
    "first, so that (B, T, V) works too.",
)  # fmt: skip
def two_axes_back(logits, targets):
    p = _softmax(logits)
    p[np.arange(len(p)), targets] -= 1
    return p / len(p)
