"""Known wrong averages over masks and wrong gaps (ids RG1 to RG39); the others stand beside."""

from __future__ import annotations

from itertools import product

import numpy as np

from autograder.mistakes.registry import Family, Function

means = Family("thinned_means")
gap = Family("top2_gap")


def _masks(n):
    return np.array(list(product((0.0, 1.0), repeat=n)))


def _shares(masks, p):
    return np.prod(np.where(masks > 0, 1 - p, p), axis=1)


def _relu(z):
    return np.maximum(z, 0)


def _by_shares(shares: Function = _shares, scale: Function = lambda p: 1 / (1 - p)) -> Function:
    """Average over all masks, with other shares or another scale."""

    def formula(x, w, p):
        masks = _masks(len(x))
        z = (masks * x * scale(p)) @ w
        share = shares(masks, p)
        return share @ z, share @ _relu(z)

    return formula


def _mask_rule(id: str, name: str, sentence: str, **rules: Function) -> None:
    means(id, name, sentence)(_by_shares(**rules))


_mask_rule(
    "RG1", "survivors not scaled",
    "Your thinned networks do not divide by 1 - p. Inverted dropout scales the survivors, so that "
    "the average over the masks is the full network's input: use mask * x / (1 - p).",
    scale=lambda p: 1.0,
)  # fmt: skip
_mask_rule(
    "RG2", "every mask counted alike",
    "You took the plain mean over the masks. A mask with k zeros has probability "
    "p**k * (1 - p)**(n - k); all masks are equally likely only at p = 0.5.",
    shares=lambda masks, p: np.full(len(masks), 1 / len(masks)),
)  # fmt: skip
_mask_rule(
    "RG3", "p taken as the probability of keeping",
    "Your shares give a zero the probability 1 - p. In this course p is the probability of "
    "zeroing: a zero in the mask counts p, a one counts 1 - p.",
    shares=lambda masks, p: _shares(masks, 1 - p),
)  # fmt: skip
_mask_rule(
    "RG4", "p for keeping in shares and scale",
    "You keep with probability p and divide by p. That is dropout with the other p: here p is the "
    "probability of zeroing, survivors have probability 1 - p and are divided by 1 - p.",
    shares=lambda masks, p: _shares(masks, 1 - p),
    scale=lambda p: 1 / p if p else np.inf,
)  # fmt: skip
_mask_rule(
    "RG5", "divided by p",
    "You divided the survivors by p. They are divided by the probability of keeping, 1 - p.",
    scale=lambda p: 1 / p if p else np.inf,
)  # fmt: skip
_mask_rule(
    "RG6", "multiplied by 1 - p",
    "You multiplied the survivors by 1 - p. Inverted dropout divides by it.",
    scale=lambda p: 1 - p,
)  # fmt: skip
_mask_rule(
    "RG7", "scaled twice",
    "You divided the survivors by 1 - p twice, or by its square. Once is right.",
    scale=lambda p: 1 / (1 - p) ** 2,
)  # fmt: skip
_mask_rule(
    "RG8", "zeros forgotten in the shares",
    "Your share of a mask multiplies 1 - p for every unit kept, and nothing for those zeroed. "
    "Each zero has probability p, which belongs into the product too.",
    shares=lambda masks, p: (1 - p) ** masks.sum(axis=1),
)  # fmt: skip
_mask_rule(
    "RG9", "number of masks forgotten",
    "Your shares are the probability of each NUMBER of zeros, with its binomial coefficient. Each "
    "single mask has only p**k * (1 - p)**(n - k); the coefficient counts how many there are.",
    shares=lambda masks, p: _shares(masks, p) * _choose(masks),
)  # fmt: skip
_mask_rule(
    "RG10", "the empty mask left out",
    "You left out the mask in which every unit is zeroed and made the other shares add up to 1. "
    "It has the share p**n and the output 0, which lowers the mean.",
    shares=lambda masks, p: _shares(masks, p) * (masks.sum(axis=1) > 0) / (1 - p**masks.shape[1]),
)  # fmt: skip
_mask_rule(
    "RG11", "the full mask left out",
    "Your list of masks lacks the one that keeps every unit, such as range(2**n - 1) does. It has "
    "the share (1 - p)**n, the largest of all for small p.",
    shares=lambda masks, p: _shares(masks, p) * (masks.sum(axis=1) < masks.shape[1]),
)  # fmt: skip


def _choose(masks):
    ones = masks.sum(axis=1)
    return np.array([np.count_nonzero(ones == count) for count in ones])


@means(
    "RG12", "ReLU of the mean",
    "Your relu_mean is the ReLU of the mean. The ReLU comes first, for every mask, and the mean "
    "over the masks last: a mean of maxima is not the maximum of a mean.",
)  # fmt: skip
def _relu_last(x, w, p):
    return x @ w, _relu(x @ w)


@means(
    "RG13", "the full network after the ReLU, scaled",
    "Your relu_mean is (1 - p) times that of the full network, as in the first form of dropout. "
    "What is asked is the mean over the masks itself.",
)  # fmt: skip
def _weight_scaling(x, w, p):
    return x @ w, (1 - p) * _relu(x @ w)


@means(
    "RG14", "ReLU missing",
    "Your relu_mean equals linear_mean: the ReLU, max(z, 0), is missing in it.",
)  # fmt: skip
def _no_relu(x, w, p):
    return x @ w, x @ w


@means(
    "RG15", "ReLU in both results",
    "Both of your results are means after the ReLU. The first one, linear_mean, is the mean of z "
    "itself.",
)  # fmt: skip
def _relu_twice(x, w, p):
    mean = _by_shares()(x, w, p)[1]
    return mean, mean


@means(
    "RG16", "ReLU on the inputs",
    "You put the ReLU on the inputs, before the weights. It belongs after them: max(z, 0).",
)  # fmt: skip
def _relu_first(x, w, p):
    return x @ w, _by_shares()(_relu(x), w, p)[0]


@means(
    "RG17", "sums instead of means",
    "You added the outputs of all masks up without their shares. A mean over the masks weighs each "
    "by its probability.",
)  # fmt: skip
def _summed(x, w, p):
    return _by_shares(shares=lambda masks, p: np.ones(len(masks)))(x, w, p)


@means(
    "RG18", "x changed in place",
    "Your results are right, but x is not what it was: *= or x[...] = changes the caller's array. "
    "Make a new one, mask * x / (1 - p).",
)  # fmt: skip
def _in_place(x, w, p):
    out = _by_shares()(x, w, p)
    x /= 1 - p
    x[0] = 0
    return out


def _top(logits):
    return np.sort(logits, axis=-1)


def _gap_of(id: str, name: str, sentence: str, formula: Function) -> None:
    gap(id, name, sentence)(formula)


_gap_of(
    "RG20", "largest minus smallest",
    "You subtracted the smallest logit. The gap is the distance to the second largest.",
    lambda logits: float(np.mean(logits.max(-1) - logits.min(-1))),
)  # fmt: skip
_gap_of(
    "RG21", "sorted along the examples",
    "You sorted along axis 0, across the examples. The classes are on the last axis: axis=-1.",
    lambda logits: float(np.mean(np.diff(np.sort(logits, axis=0)[-2:], axis=0))),
)  # fmt: skip
_gap_of(
    "RG22", "second and third",
    "You subtracted the third largest logit from the second: sorted[..., -2] - sorted[..., -3]. "
    "The largest is at index -1.",
    lambda logits: float(np.mean(_top(logits)[..., -2] - _top(logits)[..., -3])),
)  # fmt: skip
_gap_of(
    "RG23", "largest and third",
    "You subtracted the third largest logit from the largest. The second is at index -2.",
    lambda logits: float(np.mean(_top(logits)[..., -1] - _top(logits)[..., -3])),
)  # fmt: skip
_gap_of(
    "RG24", "the two smallest",
    "You compared the two smallest logits: after sorting they stand first, the largest last.",
    lambda logits: float(np.mean(_top(logits)[..., 1] - _top(logits)[..., 0])),
)  # fmt: skip
_gap_of(
    "RG25", "the first two classes, unsorted",
    "You subtracted the logits of two fixed classes. Which class is largest differs from example "
    "to example: sort each row, or take its two largest.",
    lambda logits: float(np.mean(np.abs(logits[..., 0] - logits[..., 1]))),
)  # fmt: skip
_gap_of(
    "RG26", "sum instead of mean",
    "You added the gaps of all examples up. Their mean is asked for.",
    lambda logits: float(np.sum(_top(logits)[..., -1] - _top(logits)[..., -2])),
)  # fmt: skip
_gap_of(
    "RG27", "median instead of mean",
    "You took the median over the examples. Their mean is asked for.",
    lambda logits: float(np.median(_top(logits)[..., -1] - _top(logits)[..., -2])),
)  # fmt: skip
_gap_of(
    "RG28", "absolute values",
    "You sorted the absolute values. A strongly negative logit is a class that is ruled out, not a "
    "likely one: sort the logits as they are.",
    lambda logits: float(np.mean(np.diff(_top(np.abs(logits))[..., -2:], axis=-1))),
)  # fmt: skip
_gap_of(
    "RG29", "gap of the probabilities",
    "You took the softmax first. The gap of this exercise is the distance of the logits, which has "
    "no upper limit and so still tells how sure a network is when the probability is 1.000.",
    lambda logits: float(np.mean(np.diff(_top(_softmax(logits))[..., -2:], axis=-1))),
)  # fmt: skip
_gap_of(
    "RG30", "distance to the mean of the others",
    "You subtracted the mean of the other logits. The gap is the distance to the best of them.",
    lambda logits: float(
        np.mean(logits.max(-1) - (logits.sum(-1) - logits.max(-1)) / (logits.shape[-1] - 1))
    ),
)  # fmt: skip
_gap_of(
    "RG31", "distance to the mean of all",
    "You subtracted the mean of all logits. The gap is the distance to the second largest.",
    lambda logits: float(np.mean(logits.max(-1) - logits.mean(-1))),
)  # fmt: skip
_gap_of(
    "RG32", "the sign turned round",
    "Your gap is the second largest minus the largest. It is the other way round, and never "
    "negative.",
    lambda logits: float(np.mean(_top(logits)[..., -2] - _top(logits)[..., -1])),
)  # fmt: skip
_gap_of(
    "RG33", "two largest of all examples together",
    "You sorted all logits together. Each example has a gap of its own; then comes the mean.",
    lambda logits: float(np.diff(np.sort(logits, axis=None)[-2:])[0]),
)  # fmt: skip


@gap(
    "RG34", "ties skipped",
    "Where the largest logit occurs twice you compare it with the next SMALLER value (through "
    "np.unique, or logits < maximum). Two equal largest logits are 0 apart.",
)  # fmt: skip
def _next_smaller(logits):
    top = logits.max(-1, keepdims=True)
    second = np.where(logits < top, logits, -np.inf).max(-1, keepdims=True)
    return float(np.mean(top - second))


@gap(
    "RG35", "largest set to zero",
    "To find the second largest you set the largest to 0. Where all others are negative, that 0 "
    "becomes the second largest: use -np.inf.",
)  # fmt: skip
def _zeroed(logits):
    rest = logits.copy()
    np.put_along_axis(rest, logits.argmax(-1)[..., None], 0, axis=-1)
    return float(np.mean(logits.max(-1) - rest.max(-1)))


@gap(
    "RG36", "logits changed in place",
    "Your gap is right, but logits is not what it was: logits.sort() sorts the caller's array. "
    "np.sort(logits) gives a new one.",
)  # fmt: skip
def _sorted_in_place(logits):
    logits.sort(axis=-1)
    return float(np.mean(logits[..., -1] - logits[..., -2]))


@gap(
    "RG37", "only two axes",
    "Your function works for (N, K) only. Use axis=-1 and the ellipsis, sorted[..., -1], and any "
    "number of leading axes will do.",
)  # fmt: skip
def _axis_one(logits):
    ranked = np.sort(logits, axis=1)
    return float(np.mean(ranked[:, -1] - ranked[:, -2]))


def _softmax(logits):
    powers = np.exp(logits - logits.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


from autograder.mistakes import (  # noqa: E402  (they register RG40 and above)
    regularization_paired,  # noqa: F401
    regularization_split,  # noqa: F401
    regularization_step,  # noqa: F401
)
