"""Known wrong random splits (ids RG40 to RG59)."""

from __future__ import annotations

import numpy as np

from autograder.mistakes.registry import Family

wrong = Family("train_split")


def _cut(order, n_train, n_val):
    return order[:n_train], order[n_train : n_train + n_val]


@wrong(
    "RG40", "not shuffled",
    "You cut the indices 0, 1, 2, ... in their order. Data often come sorted by class, and every "
    "split would be the same: shuffle first, rng.permutation(n).",
)  # fmt: skip
def _in_order(n, n_train, n_val, rng):
    return _cut(np.arange(n), n_train, n_val)


@wrong(
    "RG41", "drawn with replacement",
    "You draw indices with replacement (rng.integers, or rng.choice without replace=False). An "
    "example then comes twice, and some stand in train and in val.",
)  # fmt: skip
def _with_replacement(n, n_train, n_val, rng):
    return _cut(rng.integers(0, n, n_train + n_val), n_train, n_val)


@wrong(
    "RG42", "two independent draws",
    "You draw train and val independently of each other, so some examples are in both. What is in "
    "train says nothing about examples a network has not seen: shuffle once and cut.",
)  # fmt: skip
def _twice(n, n_train, n_val, rng):
    return rng.permutation(n)[:n_train], rng.permutation(n)[:n_val]


@wrong(
    "RG43", "val taken from train",
    "Your val is a part of train. It must hold examples that train does not: cut the shuffled "
    "indices behind the first n_train.",
)  # fmt: skip
def _inside(n, n_train, n_val, rng):
    order = rng.permutation(n)
    return order[:n_train], order[:n_val]


@wrong(
    "RG44", "all the rest in val",
    "Your val holds everything that is not in train. It has n_val indices; n may be larger than "
    "n_train + n_val.",
)  # fmt: skip
def _rest(n, n_train, n_val, rng):
    order = rng.permutation(n)
    return order[:n_train], order[n_train:]


@wrong(
    "RG45", "cut at n_val instead of behind it",
    "You cut val with order[n_train:n_val]. A slice ends at a place, not after a number of items: "
    "order[n_train : n_train + n_val].",
)  # fmt: skip
def _wrong_end(n, n_train, n_val, rng):
    order = rng.permutation(n)
    return order[:n_train], order[n_train:n_val]


@wrong(
    "RG46", "counted from 1",
    "Your indices run from 1 to n. Those of an array with n rows run from 0 to n - 1.",
)  # fmt: skip
def _from_one(n, n_train, n_val, rng):
    return _cut(1 + rng.permutation(n), n_train, n_val)


@wrong(
    "RG47", "the last example left out",
    "Your indices never reach n - 1. The end of a range is not part of it: range(n) already stops "
    "at n - 1.",
)  # fmt: skip
def _without_last(n, n_train, n_val, rng):
    return _cut(rng.permutation(n - 1), n_train, n_val)


@wrong(
    "RG48", "a block of neighbours",
    "You draw where the training set begins and take the examples that follow. Neighbours then "
    "stay together; every choice of examples must be equally likely: rng.permutation(n).",
)  # fmt: skip
def _block(n, n_train, n_val, rng):
    return _cut(np.roll(np.arange(n), rng.integers(n)), n_train, n_val)


@wrong(
    "RG49", "train and val the wrong way round",
    "You return val first. The order is train, val.",
)  # fmt: skip
def _swapped(n, n_train, n_val, rng):
    return _cut(rng.permutation(n), n_train, n_val)[::-1]


@wrong(
    "RG50", "the first of the rest held out",
    "Your training set is random, but val takes the first of what is left, in order. Examples at "
    "the end of the data are then never held out: val is drawn, too.",
)  # fmt: skip
def _first_of_the_rest(n, n_train, n_val, rng):
    train = rng.permutation(n)[:n_train]
    return train, np.setdiff1d(np.arange(n), train)[:n_val]


@wrong(
    "RG51", "the last examples always held out",
    "Only your training set is random: val is always the end of the data. Both are drawn.",
)  # fmt: skip
def _fixed_val(n, n_train, n_val, rng):
    return rng.permutation(n - n_val)[:n_train], np.arange(n - n_val, n)


@wrong(
    "RG52", "a fixed seed inside",
    "You made a generator with a fixed seed inside the function, so every split is the same and "
    "many of them say no more than one. Draw from the rng that is passed in.",
)  # fmt: skip
def _fixed_seed(n, n_train, n_val, rng):
    return _cut(np.random.default_rng(0).permutation(n), n_train, n_val)


@wrong(
    "RG53", "random numbers not taken from rng",
    "Your random numbers do not come from rng (a generator of your own, or NumPy's global one), so "
    "nobody can repeat the experiment: the same seed gives another split each time.",
)  # fmt: skip
def _own_generator(n, n_train, n_val, rng):
    return _cut(np.random.default_rng().permutation(n), n_train, n_val)


@wrong(
    "RG54", "NumPy's global generator",
    "You shuffled with np.random.<something>, the generator that all code shares. Whoever else "
    "draws from it changes your split: use the methods of rng.",
)  # fmt: skip
def _global(n, n_train, n_val, rng):
    return _cut(np.random.permutation(n), n_train, n_val)  # noqa: NPY002 (the mistake itself)


@wrong(
    "RG55", "NumPy's global generator seeded",
    "You seeded NumPy's global generator inside the function: every split is the same, and all "
    "other code that draws is reset too. Use rng as it comes.",
)  # fmt: skip
def _global_seed(n, n_train, n_val, rng):
    np.random.seed(0)  # noqa: NPY002 (the mistake itself)
    return _cut(np.random.permutation(n), n_train, n_val)  # noqa: NPY002


@wrong(
    "RG56", "indices of train as a mask",
    "You return boolean masks over all n examples. Indices are asked for: np.flatnonzero(mask).",
)  # fmt: skip
def _masks(n, n_train, n_val, rng):
    return tuple(np.isin(np.arange(n), part) for part in _cut(rng.permutation(n), n_train, n_val))


@wrong(
    "RG57", "a coin for each example",
    "You throw a coin for each example, so the number of training examples varies. Exactly n_train "
    "and n_val are asked for.",
)  # fmt: skip
def _coins(n, n_train, n_val, rng):
    draws = rng.random(n) * n
    return np.flatnonzero(draws < n_train), np.flatnonzero(
        (draws >= n_train) & (draws < n_train + n_val)
    )


@wrong(
    "RG58", "the first split kept for ever",
    "You draw a split at the first call and return it at every later one of the same sizes. Each "
    "call draws anew.",
    equivalent=("RG52",),
    factory=True,
)  # fmt: skip
def _kept():
    splits = {}

    def split(n, n_train, n_val, rng):
        sizes = n, n_train, n_val
        if sizes not in splits:
            splits[sizes] = _cut(rng.permutation(n), n_train, n_val)
        return splits[sizes]

    return split
