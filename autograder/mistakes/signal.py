"""Known wrong measurements of activations (ids SF...); the other functions stand beside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograder.mistakes.registry import Family, Function

Array = np.ndarray
EPS = 1e-5


def mean(z: Array, axis: Any = -1) -> Array:
    """Take the mean and keep the axis."""
    return z.mean(axis=axis, keepdims=True)


def spread(z: Array, norm: str, axis: Any = -1, eps: float = EPS) -> Any:
    """Give what the norm divides by."""
    if norm == "none":
        return 1.0
    centred = z - mean(z, axis) if norm == "layernorm" else z
    return np.sqrt(mean(centred**2, axis) + eps)


def normalize(z: Array, norm: str, axis: Any = -1, eps: float = EPS) -> Array:
    """Apply a norm: right over the last axis, a mistake over another."""
    centred = z - mean(z, axis) if norm == "layernorm" else z
    return centred / spread(z, norm, axis, eps)


def rms(h: Array) -> float:
    """Give the root mean square over all entries."""
    return float(np.sqrt(np.mean(h**2)))


def relu(n: Array) -> Array:
    """Zero what is negative."""
    return np.maximum(n, 0)


def run(
    x: Array,
    weights: list[Array],
    norm: str,
    size: Callable[[Array], Any] = rms,
    layer: Callable[[Array, Array, str], Array] | None = None,
    normalize: Function = normalize,
) -> tuple[Array, Array]:
    """Give output and sizes: right by default, with a mistake in one part otherwise."""
    h, scales = x, []
    for w in weights:
        h = relu(normalize(h @ w, norm)) if layer is None else layer(h, w, norm)
        scales.append(size(h))
    return h, np.array(scales)


def _adapt(formula: Function) -> Function:
    def activation_scale(x: Array, weights: list[Array], norm: str) -> Any:
        return *formula(x, weights, norm), None

    return activation_scale


wrong = Family("activation_scale", _adapt)
wrong_return = Family("activation_scale")


def _wrong_size(id: str, name: str, sentence: str, size: Callable[[Array], Any]) -> None:
    """Register a mistake in how a layer's size is measured."""
    wrong(id, name, sentence)(lambda x, weights, norm: run(x, weights, norm, size=size))


def _wrong_norm(id: str, name: str, sentence: str, normalize: Function) -> None:
    """Register a mistake in the norm."""
    wrong(id, name, sentence)(lambda x, ws, norm: run(x, ws, norm, normalize=normalize))


def _wrong_layer(id: str, name: str, sentence: str, layer: Function) -> None:
    """Register a mistake in how a layer is put together."""
    wrong(id, name, sentence)(lambda x, weights, norm: run(x, weights, norm, layer=layer))


_wrong_size(
    "SF1", "standard deviation instead of root mean square",
    "You measured the standard deviation, which subtracts the mean. After a ReLU the mean is far "
    "from 0, and the next layer sees the squares themselves: sqrt(mean(h**2)).",
    np.std,
)  # fmt: skip
_wrong_size(
    "SF2", "mean absolute value",
    "You measured mean |h|. The size of this book is the root of the mean of the squares.",
    lambda h: np.abs(h).mean(),
)  # fmt: skip
_wrong_size(
    "SF3", "variance",
    "You measured the variance. The size is the root of the mean square, without the mean "
    "subtracted: sqrt(mean(h**2)).",
    np.var,
)  # fmt: skip
_wrong_size(
    "SF4", "square root missing",
    "Your numbers are mean squares. The root of each is missing: sqrt(mean(h**2)).",
    lambda h: (h**2).mean(),
)  # fmt: skip
_wrong_size(
    "SF5", "average of the sizes of single examples",
    "You measured every example and averaged the results. Average the squares of all entries "
    "first and take one root: a mean of roots is smaller.",
    lambda h: np.sqrt((h**2).mean(-1)).mean(),
)  # fmt: skip
_wrong_size(
    "SF6", "average of the sizes of single units",
    "You measured every unit over the batch and averaged the results. Average the squares of all "
    "entries first and take one root.",
    lambda h: np.sqrt((h**2).mean(0)).mean(),
)  # fmt: skip
_wrong_size(
    "SF7", "sum instead of mean",
    "You summed the squares. The size must not depend on how many entries there are: take their "
    "mean.",
    lambda h: np.sqrt((h**2).sum()),
)  # fmt: skip
_wrong_size(
    "SF8", "first example only",
    "You measured the first example. The size is taken over all entries of the batch.",
    lambda h: rms(h[0]),
)  # fmt: skip
_wrong_size(
    "SF9", "only units that are on",
    "You left the zeros out of the mean. They belong to the output like every other entry.",
    lambda h: rms(h[h > 0]),
)  # fmt: skip
_wrong_size(
    "SF10", "largest entry",
    "You took the largest entry. The size is the root of the mean of all squares.",
    lambda h: np.abs(h).max(),
)  # fmt: skip


def _before(measured: Function) -> Function:
    """Measure something on the way to h instead of h."""

    def formula(x: Array, weights: list[Array], norm: str) -> tuple[Array, Array]:
        h, scales = x, []
        for w in weights:
            z = h @ w
            scales.append(rms(measured(z, norm)))
            h = relu(normalize(z, norm))
        return h, np.array(scales)

    return formula


wrong(
    "SF11", "measured before the ReLU",
    "You measured what goes into the ReLU. The size of a layer is that of its output h, after "
    "the ReLU.",
)(_before(normalize))  # fmt: skip
wrong(
    "SF12", "measured before the norm",
    "You measured the matrix product. The size of a layer is that of its output h, after norm "
    "and ReLU.",
)(_before(lambda z, norm: z))  # fmt: skip

_wrong_layer(
    "SF13", "norm after the ReLU",
    "You normalized after the ReLU. Here the norm stands before it: h = relu(norm(h @ w)).",
    lambda h, w, norm: normalize(relu(h @ w), norm),
)  # fmt: skip
_wrong_layer(
    "SF14", "norm before the matrix",
    "You normalized the input of the layer. Here the norm stands between the matrix and the "
    "ReLU: h = relu(norm(h @ w)).",
    lambda h, w, norm: relu(normalize(h, norm) @ w),
)  # fmt: skip
_wrong_layer(
    "SF15", "ReLU missing",
    "Your layers have no ReLU: h = relu(norm(h @ w)).",
    lambda h, w, norm: normalize(h @ w, norm),
)  # fmt: skip
_wrong_layer(
    "SF16", "absolute value instead of the ReLU",
    "You took the absolute value. A ReLU sets negative entries to 0: np.maximum(n, 0).",
    lambda h, w, norm: np.abs(normalize(h @ w, norm)),
)  # fmt: skip
_wrong_layer(
    "SF17", "matrix transposed",
    "You multiplied by the transposed matrix. weights[l] has a row for each input: h @ w. With "
    "square matrices nothing crashes.",
    lambda h, w, norm: relu(normalize(h @ w.T, norm)),
)  # fmt: skip

_wrong_norm(
    "SF18", "norm never applied",
    'Your layers ignore the argument norm. With "layernorm" or "rmsnorm" every row of h @ w is '
    "normalized before the ReLU.",
    lambda z, norm: z,
)  # fmt: skip
_wrong_norm(
    "SF19", "LayerNorm for RMSNorm",
    'With "rmsnorm" you subtract the mean. RMSNorm divides a row by its root mean square and '
    "leaves the mean in.",
    lambda z, norm: normalize(z, "none" if norm == "none" else "layernorm"),
)  # fmt: skip
_wrong_norm(
    "SF20", "RMSNorm for LayerNorm",
    'With "layernorm" you do not subtract the mean. LayerNorm brings the mean of each row to 0 '
    "before it divides.",
    lambda z, norm: normalize(z, "none" if norm == "none" else "rmsnorm"),
)  # fmt: skip
_wrong_norm(
    "SF21", "norm over the batch",
    "You normalized over axis 0, the batch. LayerNorm and RMSNorm treat every row by itself: "
    "axis=-1, keepdims=True.",
    lambda z, norm: normalize(z, norm, 0),
)  # fmt: skip
_wrong_norm(
    "SF22", "norm over the whole array",
    "You normalized the whole array with one number. Every row has a mean and a size of its own: "
    "axis=-1, keepdims=True.",
    lambda z, norm: normalize(z, norm, None),
)  # fmt: skip
_wrong_norm(
    "SF23", "eps left out",
    "Your norm has no eps. With small weights the rows are so small that 1e-5 counts: it stands "
    "inside the root.",
    lambda z, norm: normalize(z, norm, eps=0.0),
)  # fmt: skip
_wrong_norm(
    "SF24", "eps of 1e-8",
    "Your norm adds 1e-8. Here eps is 1e-5, inside the root; with small weights the difference "
    "shows.",
    lambda z, norm: normalize(z, norm, eps=1e-8),
)  # fmt: skip
_wrong_norm(
    "SF25", "eps outside the root",
    "You added eps after the root. It stands inside: sqrt(mean square + 1e-5).",
    lambda z, norm: z if norm == "none" else (z - (mean(z) if norm == "layernorm" else 0))
    / (spread(z, norm, eps=0.0) + EPS),
)  # fmt: skip
_wrong_norm(
    "SF26", "divided by D - 1",
    "The variance of your LayerNorm divides by D - 1. It divides by D, the number of features.",
    lambda z, norm: (z - mean(z)) / np.sqrt(z.var(-1, ddof=1, keepdims=True) + EPS)
    if norm == "layernorm" else normalize(z, norm),
)  # fmt: skip
_wrong_norm(
    "SF27", "root missing in the norm",
    "Your norm divides by the variance or mean square. It divides by the root of that.",
    lambda z, norm: (z - (mean(z) if norm == "layernorm" else 0)) / spread(z, norm) ** 2,
)  # fmt: skip
_wrong_norm(
    "SF28", "divided by the length of the row",
    "Your norm divides by the root of the sum of squares. It is the root of their mean: a factor "
    "sqrt(D) is missing.",
    lambda z, norm: normalize(z, norm) / (1 if norm == "none" else np.sqrt(z.shape[-1])),
)  # fmt: skip
_wrong_norm(
    "SF29", "mean subtracted, not divided",
    'With "layernorm" you subtract the mean and stop. The second half is to divide by '
    "sqrt(var + eps).",
    lambda z, norm: z - mean(z) if norm == "layernorm" else normalize(z, norm),
)  # fmt: skip


from autograder.mistakes import (  # noqa: E402
    signal_backward,  # noqa: F401
    signal_rate,  # noqa: F401
    signal_results,  # noqa: F401
)
