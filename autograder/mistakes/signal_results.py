"""Measurements of activations that are listed or returned wrongly (ids SF30 and on)."""

from __future__ import annotations

import numpy as np

from autograder.mistakes.registry import Function
from autograder.mistakes.signal import Array, normalize, rms, run, wrong, wrong_return


def _wrong_list(id: str, name: str, sentence: str, change: Function) -> None:
    """Register a mistake in the list of sizes: ``change(sizes, size of x)``."""

    def formula(x: Array, weights: list[Array], norm: str) -> tuple[Array, Array]:
        out, scales = run(x, weights, norm)
        return out, change(scales, rms(x))

    wrong(id, name, sentence)(formula)


_wrong_list(
    "SF30", "input counted as a layer",
    "Your list begins with the size of x. It has one entry for each matrix: the first is the "
    "output of the first layer.",
    lambda scales, first: np.append(first, scales),
)  # fmt: skip
_wrong_list(
    "SF31", "inputs of the layers measured",
    "You measured what each layer is given, so your list begins with x and lacks the last "
    "output. Measure h after the layer.",
    lambda scales, first: np.append(first, scales[:-1]),
)  # fmt: skip
_wrong_list(
    "SF33", "last layer first",
    "Your list is reversed. The first entry is the first layer's.",
    lambda scales, first: scales[::-1],
)  # fmt: skip
_wrong_list(
    "SF34", "relative to the input",
    "You divided by the size of x. The sizes themselves are asked for.",
    lambda scales, first: scales / first,
)  # fmt: skip
_wrong_list(
    "SF35", "only the last size",
    "You returned the size of the last layer alone. One number for each layer is asked for.",
    lambda scales, first: scales[-1:],
)  # fmt: skip


@wrong(
    "SF32", "every layer given x",
    "Every layer of yours multiplies x itself. Each one is given the output of the layer before: "
    "h = relu(norm(h @ w)).",
)  # fmt: skip
def _all_from_x(x, weights, norm):
    layers = [run(x, [w], norm) for w in weights]
    return layers[-1][0], np.array([scales[0] for _, scales in layers])


@wrong(
    "SF36", "x changed",
    "Your numbers are right, but the call changes x. Work on a new array: h = x, then h = ... "
    "with operators that make a new one.",
)  # fmt: skip
def _in_place(x, weights, norm):
    results = run(x, weights, norm)
    x *= 0.5
    return results


@wrong(
    "SF37", "computed in float16",
    "Your results carry only about three digits: something is computed in float16. Keep the "
    "precision of x.",
)  # fmt: skip
def _half(x, weights, norm):
    narrow = [w.astype(np.float16) for w in weights]
    out, scales = run(x.astype(np.float16), narrow, norm)
    return out, scales.astype(np.float16)


@wrong(
    "SF40", "last layer without its ReLU returned",
    "Your out is what goes into the last ReLU. Every layer ends with a ReLU, the last one too.",
)  # fmt: skip
def _before_the_relu(x, weights, norm):
    h = run(x, weights[:-1], norm)[0] if weights[1:] else x
    return normalize(h @ weights[-1], norm), run(x, weights, norm)[1]


@wrong_return(
    "SF41", "order of the results",
    "You returned the sizes first. The order is out, scales, cache.",
)  # fmt: skip
def _swapped(x, weights, norm):
    out, scales = run(x, weights, norm)
    return scales, out, None


@wrong_return(
    "SF38", "cache not returned",
    "Your function returns output and sizes alone. The backward pass needs a cache: return out, "
    "scales, cache.",
)  # fmt: skip
def _no_cache(x, weights, norm):
    return run(x, weights, norm)


@wrong_return(
    "SF39", "nothing returned",
    "Your function ends without a return statement, and then Python gives None. End it with "
    "return out, scales, cache.",
)  # fmt: skip
def _nothing(x, weights, norm):
    return None
