"""What is asked of a random split: nothing twice, nobody preferred, all randomness from rng."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.checks.compare import Observation
from autograder.checks.core import Check, Functions, Property
from autograder.checks.inputs import Array, Rng
from autograder.checks.observe import RefusedError, array, call, unpack
from autograder.checks.statistics import contained, global_state
from autograder.kernels.regularization import train_split

# Enough calls for a preferred example to show, few enough for calls to another process.
CALLS, EXAMPLES, TRAIN, VAL = 50, 10, 5, 4
ERRORS = 5.0
_FIRST = "no index twice"


def _fresh(rng: Rng) -> Rng:
    return np.random.default_rng(int(rng.integers(2**63)))


def _split(functions: Functions, n: int, n_train: int, n_val: int, rng: Rng) -> list[Array]:
    """Call the student's function; give train and val as whole numbers."""
    returned = unpack(call(functions[0], n, n_train, n_val, rng), ("train", "val"))
    return [_indices(value, name) for value, name in zip(returned, ("train", "val"))]


def _indices(value: Any, name: str) -> Array:
    found = array(value, name)
    if value.dtype.kind not in "iu":
        raise RefusedError(f"returned {name} with dtype {value.dtype}; integer indices are needed")
    if found.ndim != 1:
        raise RefusedError(f"returned {name} with shape {found.shape}; one axis is needed")
    return found.astype(np.int64)


def _sizes(functions: Functions, rng: Rng) -> Observation:
    train, val = _split(functions, 30, 12, 9, _fresh(rng))
    both = np.concatenate([train, val])
    return {
        "indices in train": len(train),
        "indices in val": len(val),
        "all indices in 0 .. n - 1": bool(((both >= 0) & (both < 30)).all()),
    }


def _different(functions: Functions, rng: Rng) -> Observation:
    train, val = _split(functions, 50, 30, 18, _fresh(rng))
    return {
        "all of train different": len(set(train)) == len(train),
        "all of val different": len(set(val)) == len(val),
        "none in both": not set(train) & set(val),
        "all of val in train": set(val) <= set(train),
    }


def _everything(functions: Functions, rng: Rng) -> Observation:
    train, val = _split(functions, 20, 13, 7, _fresh(rng))
    return {"every example once": sorted([*train, *val]) == list(range(20))}


def _likely(functions: Functions, rng: Rng) -> Observation:
    draws, counts, neighbours, far = _fresh(rng), np.zeros((2, EXAMPLES)), 0, False
    for _ in range(CALLS):
        parts = _split(functions, EXAMPLES, TRAIN, VAL, draws)
        for count, part in zip(counts, parts):
            inside = part[(part >= 0) & (part < EXAMPLES)]
            count += np.bincount(inside, minlength=EXAMPLES)
            far |= len(inside) < len(part)
        chosen = set(parts[0])
        neighbours += sum(index + 1 in chosen for index in chosen)
    # A pair of given examples is in train together with probability k (k - 1) / (n (n - 1)); the
    # number of such pairs varies by less than 1 from call to call.
    pairs = (EXAMPLES - 1) * TRAIN * (TRAIN - 1) / (EXAMPLES * (EXAMPLES - 1))
    return {
        "every index in 0 .. n - 1": not far,
        "every example in train equally often": _even(counts[0], TRAIN),
        "every example in val equally often": _even(counts[1], VAL),
        "neighbours together as often as others": bool(
            abs(neighbours / CALLS - pairs) <= ERRORS / np.sqrt(CALLS)
        ),
    }


def _even(counts: Array, size: int) -> bool:
    share = size / EXAMPLES
    error = np.sqrt(share * (1 - share) / CALLS)
    return bool((np.abs(counts / CALLS - share) <= ERRORS * error).all())


def _from_rng(functions: Functions, rng: Rng) -> Observation:
    seed, before = int(rng.integers(2**32)), global_state()
    draws = np.random.default_rng(seed)
    first, second = (_split(functions, 40, 20, 15, draws) for _ in range(2))
    again = _split(functions, 40, 20, 15, np.random.default_rng(seed))
    return {
        "new split in the next call": not _equal(first, second),
        "same seed, same split": _equal(first, again),
        "train is 0, 1, 2, ...": first[0].tolist() == list(range(20)),
        "global random state of NumPy left alone": global_state() == before,
    }


def _equal(one: list[Array], other: list[Array]) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(one, other))


SPLIT = Check(
    "train_split",
    "regularization",
    (
        Property("sizes and range", 0.2, contained(_sizes), "n = 30, n_train = 12, n_val = 9"),
        Property(_FIRST, 0.2, contained(_different), "n = 50, n_train = 30, n_val = 18"),
        Property("all examples used", 0.1, contained(_everything), "n = 20 = 13 + 7", needs=_FIRST),
        Property(
            "every example equally likely", 0.3, contained(_likely),
            f"{CALLS} calls with n = {EXAMPLES}, n_train = {TRAIN}, n_val = {VAL}",
        ),
        Property(
            "randomness comes from rng", 0.2, contained(_from_rng),
            "two calls with one rng, a third with the same seed",
        ),
    ),
    (train_split,),
)  # fmt: skip
