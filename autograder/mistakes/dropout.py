"""Known wrong dropout forward passes (ids DF...); the backward ones stand beside."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.mistakes.registry import Family, Function

Array = np.ndarray


def _adapt(formula: Function) -> Function:
    def dropout_forward(x: Array, p: float, training: bool, rng: np.random.Generator) -> Any:
        return formula(x, p, training, rng), None

    return dropout_forward


wrong = Family("dropout_forward", _adapt)


def _in_training(formula: Function) -> Function:
    """Make a whole forward pass of what it does in training; inference is right."""
    return lambda x, p, training, rng: formula(x, p, rng) if training else x


def _wrong_training(id: str, name: str, sentence: str, formula: Function) -> None:
    """Register a mistake in training alone."""
    wrong(id, name, sentence)(_in_training(formula))


def _wrong_inference(id: str, name: str, sentence: str, factor: Function) -> None:
    """Register a mistake in inference alone: x times a factor that depends on p."""
    wrong(id, name, sentence)(
        lambda x, p, training, rng: _right(x, p, rng) if training else x * factor(p)
    )


def _keep(x: Array, p: float, rng: np.random.Generator) -> Array:
    return rng.random(x.shape) >= p


def _right(x: Array, p: float, rng: np.random.Generator) -> Array:
    return x * _keep(x, p, rng) / (1 - p)


def _over(value: Array, p: float) -> Array:
    """Divide by p as NumPy does for arrays: by 0 without an exception."""
    return value / np.asarray(p, value.dtype)


_wrong_training(
    "DF1", "survivors not scaled",
    "You zero entries but leave the others as they are, so the average output shrinks to 1 - p "
    "of the input. Divide the survivors by 1 - p in training.",
    lambda x, p, rng: x * _keep(x, p, rng),
)  # fmt: skip
_wrong_training(
    "DF2", "survivors multiplied by 1 - p",
    "You multiplied the survivors by 1 - p. Divide by it: fewer entries have to carry the same "
    "sum, so each one grows.",
    lambda x, p, rng: x * _keep(x, p, rng) * (1 - p),
)  # fmt: skip
_wrong_training(
    "DF3", "kept with probability p",
    "Your mask keeps an entry with probability p. p is the probability of zeroing it: keep where "
    "the random number is at least p. At p = 0.5 nobody sees the difference.",
    lambda x, p, rng: x * (rng.random(x.shape) < p) / (1 - p),
)  # fmt: skip
_wrong_training(
    "DF4", "p taken for the probability of keeping",
    "Mask and scale are consistent, but for a p that is the probability of keeping. Here p is "
    "the probability of zeroing: keep with probability 1 - p and divide by 1 - p.",
    lambda x, p, rng: _over(x * (rng.random(x.shape) < p), p),
)  # fmt: skip
_wrong_training(
    "DF5", "survivors divided by p",
    "You zero the right share, but divide the survivors by p. The share that survives is 1 - p: "
    "divide by that. At p = 0.5 nobody sees the difference.",
    lambda x, p, rng: _over(x * _keep(x, p, rng), p),
)  # fmt: skip


@wrong(
    "DF6", "dropping in inference too",
    "Your function drops entries whatever training says. With training=False the output is x: "
    "a trained network should answer the same question the same way every time.",
)  # fmt: skip
def _always_active(x, p, training, rng):
    return _right(x, p, rng)


@wrong(
    "DF7", "scaled in inference instead of training",
    "You leave the survivors unscaled and multiply by 1 - p in inference: the original form of "
    "dropout. Here it is inverted: divide by 1 - p in training, and return x in inference.",
)  # fmt: skip
def _classic(x, p, training, rng):
    return x * _keep(x, p, rng) if training else x * (1 - p)


_wrong_inference(
    "DF8", "inference multiplied by 1 - p",
    "Training already divides by 1 - p, and you multiply by 1 - p in inference as well: the "
    "correction is made twice. With training=False return x.",
    lambda p: 1 - p,
)  # fmt: skip
_wrong_inference(
    "DF21", "inference divided by 1 - p",
    "You still divide by 1 - p in inference, where nothing is zeroed and nothing is to be made "
    "up for. With training=False return x.",
    lambda p: 1 / (1 - p),
)  # fmt: skip
_wrong_inference(
    "DF22", "inference multiplied by p",
    "You multiply by p in inference. Training already has the right average: return x.",
    lambda p: p,
)  # fmt: skip
_wrong_inference(
    "DF23", "inference divided by p",
    "You divide by p in inference. Training already has the right average: return x.",
    lambda p: 1 / p,
)  # fmt: skip


def _shared(shape: Function) -> Function:
    """Draw a smaller mask of the given shape and let it broadcast."""
    return lambda x, p, rng: x * (rng.random(shape(x)) >= p) / (1 - p)


_wrong_training(
    "DF9", "one mask for the whole batch",
    "Your mask has no batch axis, so every example loses the same entries. Draw one number for "
    "each entry: the mask has the shape of x.",
    _shared(lambda x: x.shape[1:]),
)  # fmt: skip
_wrong_training(
    "DF28", "one mask for all vectors",
    "Your mask has only the last axis, so every vector loses the same features. Draw one number "
    "for each entry: the mask has the shape of x.",
    _shared(lambda x: x.shape[-1:]),
)  # fmt: skip
_wrong_training(
    "DF10", "whole vectors dropped",
    "You draw one number per vector, so a vector is kept or lost as a whole. Draw one for each "
    "entry: the mask has the shape of x.",
    _shared(lambda x: (*x.shape[:-1], 1)),
)  # fmt: skip
_wrong_training(
    "DF30", "whole examples dropped",
    "You draw one number per example, so an example is kept or lost as a whole. Draw one for "
    "each entry: the mask has the shape of x.",
    _shared(lambda x: (x.shape[0], *(1,) * (x.ndim - 1))),
)  # fmt: skip
_wrong_training(
    "DF29", "one mask for all positions of a sequence",
    "With (B, T, D) every position of a sequence loses the same features, because your mask is "
    "shared along the middle axis. Draw one number for each entry.",
    _shared(lambda x: (x.shape[0], *(1,) * (x.ndim - 2), *x.shape[1:][-1:])),
)  # fmt: skip


@wrong(
    "DF11", "exactly p N entries dropped",
    "You drop a fixed number of entries, so one fate depends on the others. Each entry has its "
    "own coin: the number dropped varies from call to call, with variance N p (1 - p).",
)  # fmt: skip
@_in_training
def _fixed_count(x, p, rng):
    keep = np.ones(x.size, dtype=bool)
    keep[rng.permutation(x.size)[: round(p * x.size)]] = False
    return x * keep.reshape(x.shape) / (1 - p)


_wrong_training(
    "DF12", "a fixed seed inside",
    "Your function starts its own generator with a fixed seed, so the same entries are zeroed in "
    "every step, and the others are never. Draw from the argument rng.",
    lambda x, p, rng: _right(x, p, np.random.default_rng(0)),
)  # fmt: skip
_wrong_training(
    "DF13", "random numbers not taken from rng",
    "Your random numbers do not come from the argument rng (np.random.rand, or a generator of "
    "your own), so a run cannot be repeated from its seed. Draw with rng.random(x.shape).",
    lambda x, p, rng: _right(x, p, np.random.default_rng()),
)  # fmt: skip


@wrong(
    "DF14", "a mask kept from call to call",
    "You draw a mask once for each shape and use it again. Every call in training needs a fresh "
    "mask, or the network is only ever trained without the same entries.",
    factory=True,
)  # fmt: skip
def _cached_mask():
    masks = {}

    def formula(x, p, rng):
        if x.shape not in masks:
            masks[x.shape] = _keep(x, p, rng)
        return x * masks[x.shape] / (1 - p)

    return _in_training(formula)


@wrong(
    "DF31", "one mask for every call and shape",
    "You keep the mask of the first call and use it for every later x, which fails as soon as the "
    "shape changes. Every call in training needs a fresh mask of the shape of its x.",
    factory=True,
)  # fmt: skip
def _first_mask():
    masks = []

    def formula(x, p, rng):
        masks.append(masks[0] if masks else _keep(x, p, rng))
        return x * masks[0] / (1 - p)

    return _in_training(formula)


@wrong(
    "DF15", "input changed in place",
    "Your result is right, but your function overwrote x (*=, x[...] = 0, or out=x). The caller "
    "still needs x, for the residual connection for one. Work on a new array.",
)  # fmt: skip
@_in_training
def _in_place(x, p, rng):
    x *= _keep(x, p, rng)
    x /= 1 - p
    return x


@wrong(
    "DF16", "scaled by the share that happened to survive",
    "You divide by the share of entries that survived in this call. Divide by the probability "
    "1 - p: it is the expected output that equals x, and the scale must not depend on the mask.",
)  # fmt: skip
@_in_training
def _actual_share(x, p, rng):
    keep = _keep(x, p, rng)
    return x * keep / np.asarray(keep.mean(), x.dtype)


_wrong_training(
    "DF17", "Gaussian noise instead of zeros",
    "You multiply by random numbers around 1. Mean and variance are dropout's, but nothing is "
    "zeroed: an entry is either 0 or x / (1 - p).",
    lambda x, p, rng: x * rng.normal(1.0, np.sqrt(p / (1 - p)), x.shape).astype(x.dtype),
)  # fmt: skip
_wrong_training(
    "DF18", "float32 turned into float64",
    "Your values are right, but float32 x comes out as float64: a mask that holds the scale is a "
    "float64 array and drags the product along. Cast it, mask.astype(x.dtype), or divide last.",
    lambda x, p, rng: x * (_keep(x, p, rng) / (1 - p)),
)  # fmt: skip
_wrong_training(
    "DF19", "scaled twice",
    "You divide by 1 - p twice, perhaps once in the mask and once in the output. Once is right.",
    lambda x, p, rng: _right(x, p, rng) / (1 - p),
)  # fmt: skip


# In training x * mask turns a dropped infinity into NaN. Most right answers are written so, and
# the statement asks for finite x there; where the output is to be x, infinity times 0 is a fault.
@wrong(
    "DF20", "infinity times zero",
    "You choose between training and inference by multiplying one of them by 0. Infinity times 0 "
    "is NaN, so an infinite entry is lost where nothing should change. Use if, and return x.",
)  # fmt: skip
def _blended(x, p, training, rng):
    active = x.dtype.type(training)
    return active * _right(x, p, rng) + (1 - active) * x


def _normal(x: Array, rng: np.random.Generator) -> Array:
    return rng.standard_normal(x.shape)


_wrong_training(
    "DF24", "normal instead of uniform random numbers",
    "Your mask compares normally distributed numbers with p. Only for uniform numbers in [0, 1) "
    "is p the probability to lie below p: use rng.random.",
    lambda x, p, rng: x * (_normal(x, rng) >= p) / (1 - p),
)  # fmt: skip
_wrong_training(
    "DF25", "normal random numbers below 1 - p",
    "Your mask asks whether normally distributed numbers lie below 1 - p. Only for uniform "
    "numbers in [0, 1) is that the probability: use rng.random.",
    lambda x, p, rng: x * (_normal(x, rng) < 1 - p) / (1 - p),
)  # fmt: skip
_wrong_training(
    "DF26", "nothing ever dropped",
    "In training your output is x: nothing is zeroed and nothing scaled. Is a division made before "
    "the comparison? random < q / q means random < 1; write (random < q) / q.",
    lambda x, p, rng: x * (rng.random(x.shape) < (1 - p) / (1 - p)),
)  # fmt: skip
_wrong_training(
    "DF27", "negative entries zeroed",
    "Every negative entry comes out as 0: a ReLU is hidden in your function, such as "
    "np.maximum(0, ...). Dropout looks at the random number, never at the value.",
    lambda x, p, rng: np.maximum(x, 0) * _keep(x, p, rng) / (1 - p),
)  # fmt: skip
_wrong_training(
    "DF32", "a fair coin whatever p is",
    "Your mask zeroes half of the entries for every p. The probability of zeroing is p: compare "
    "rng.random(x.shape) with p.",
    lambda x, p, rng: x * (rng.random(x.shape) < 0.5) / (1 - p),
)  # fmt: skip
_wrong_training(
    "DF33", "kept with probability p and not scaled",
    "Your mask keeps an entry with probability p, and the survivors are not scaled. p is the "
    "probability of zeroing, and survivors are divided by 1 - p.",
    lambda x, p, rng: x * (rng.random(x.shape) < p),
)  # fmt: skip


@wrong(
    "DF34", "the original dropout with p for keeping",
    "You keep with probability p and multiply by p in inference: the original form, with the "
    "other p. Here p is the probability of zeroing, the division by 1 - p happens in training, "
    "and inference returns x.",
)  # fmt: skip
def _classic_keep(x, p, training, rng):
    return x * (rng.random(x.shape) < p) if training else x * p


from autograder.mistakes import dropout_backward  # noqa: E402, F401  (registers DB...)
