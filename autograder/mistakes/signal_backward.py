"""Known wrong backward passes through a deep network (ids SB...)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from autograder.mistakes.registry import Family, Function
from autograder.mistakes.signal import EPS, mean, normalize, relu, rms, spread

Array = np.ndarray
Gradients = tuple[Array, list[Array], list[float]]


class _Layer(NamedTuple):
    """What the forward pass leaves behind for each layer."""

    h: Array
    w: Array
    z: Array
    n: Array
    norm: str


def _forward(x: Array, weights: list[Array], norm: str) -> Any:
    h, layers, scales = x, [], []
    for w in weights:
        z = h @ w
        layers.append(_Layer(h, w, z, normalize(z, norm), norm))
        h = relu(layers[-1].n)
        scales.append(rms(h))
    return h, np.array(scales), layers


def _mask(layer: _Layer) -> Array:
    return layer.n > 0


def _through_norm(dn: Array, layer: _Layer, eps: float = EPS, axis: Any = -1) -> Array:
    """Send a gradient back through the norm."""
    if layer.norm == "none":
        return dn
    n = layer.n
    middle = mean(dn, axis) if layer.norm == "layernorm" else 0
    along = n * mean(dn * n, axis)
    return (dn - middle - along) / spread(layer.z, layer.norm, axis, eps)


def through_layer(dh: Array, layer: _Layer) -> Array:
    return _through_norm(dh * _mask(layer), layer)


def _dw(dh: Array, dz: Array, layer: _Layer) -> Array:
    return layer.h.T @ dz


def through_matrix(dz: Array, layer: _Layer) -> Array:
    return dz @ layer.w.T


def back(
    dout: Array,
    layers: list[_Layer],
    dz: Callable[[Array, _Layer], Array] = through_layer,
    dw: Callable[[Array, Array, _Layer], Array] = _dw,
    dh: Callable[[Array, _Layer], Array] = through_matrix,
    size: Callable[[Array], float] = rms,
) -> Gradients:
    """Go back through all layers: right by default, with a mistake in one part otherwise."""
    gradient, dweights, scales = dout, [], []
    for layer in reversed(layers):
        through = dz(gradient, layer)
        dweights.append(dw(gradient, through, layer))
        gradient = dh(through, layer)
        scales.append(size(gradient))
    return gradient, dweights[::-1], scales[::-1]


def _adapt(formula: Function) -> Function:
    def gradient_scale(dout: Array, cache: Any) -> Any:
        returned = formula(dout, cache)
        if not isinstance(returned, tuple):
            return returned
        return tuple(np.array(p) if type(p) is list and np.isscalar(p[0]) else p for p in returned)

    return gradient_scale


wrong = Family("gradient_scale", _adapt, partners=(_forward,))


def wrong_part(id: str, name: str, sentence: str, **part: Any) -> None:
    """Register a mistake in one part of the way back."""
    wrong(id, name, sentence)(lambda dout, layers: back(dout, layers, **part))


def _unless_none(formula: Function) -> Function:
    """Give a mistaken way through the norm; without a norm it is right."""

    def dz(dh: Array, layer: _Layer) -> Array:
        dn = dh * _mask(layer)
        return dn if layer.norm == "none" else formula(dn, layer)

    return dz


wrong_part(
    "SB1", "ReLU forgotten on the way back",
    "Your gradient passes where the ReLU was off. Multiply by n > 0: an output that stays 0 does "
    "not move the loss.",
    dz=_through_norm,
)  # fmt: skip
wrong_part(
    "SB2", "norm forgotten on the way back",
    "Your gradient does not go back through the norm. In the forward pass it stands between the "
    "matrix and the ReLU, so its backward pass stands between them too.",
    dz=lambda dh, layer: dh * _mask(layer),
)  # fmt: skip
wrong_part(
    "SB3", "norm treated as a fixed scale",
    "You only divided by the spread, as if mean and spread were constants. They depend on z: "
    "the terms mean(dn) and n * mean(dn * n) are missing.",
    dz=_unless_none(lambda dn, layer: dn / spread(layer.z, layer.norm)),
)  # fmt: skip
wrong_part(
    "SB4", "mean(dn) missing for LayerNorm",
    "Your LayerNorm has RMSNorm's backward pass: the term mean(dn) is missing. LayerNorm "
    "subtracts the mean, and its gradient does the same.",
    dz=_unless_none(
        lambda dn, p: (dn - p.n * mean(dn * p.n)) / spread(p.z, p.norm)
    ),
)  # fmt: skip
wrong_part(
    "SB5", "mean(dn) subtracted for RMSNorm",
    "Your RMSNorm has LayerNorm's backward pass: it subtracts mean(dn). RMSNorm leaves the mean "
    "in, forward and backward.",
    dz=_unless_none(
        lambda dn, p: (dn - mean(dn) - p.n * mean(dn * p.n)) / spread(p.z, p.norm)
    ),
)  # fmt: skip
wrong_part(
    "SB6", "term along n missing",
    "The term n * mean(dn * n) is missing: the push that the norm undoes, because stretching a "
    "row changes nothing behind it.",
    dz=_unless_none(
        lambda dn, p: (dn - (mean(dn) if p.norm == "layernorm" else 0)) / spread(p.z, p.norm)
    ),
)  # fmt: skip
wrong_part(
    "SB7", "term along n added",
    "You added n * mean(dn * n). It is subtracted.",
    dz=_unless_none(
        lambda dn, p: 2 * dn / spread(p.z, p.norm) - _through_norm(dn, p)
        - (2 * mean(dn) if p.norm == "layernorm" else 0) / spread(p.z, p.norm)
    ),
)  # fmt: skip
wrong_part(
    "SB8", "not divided by the spread",
    "The division by the spread is missing in the norm's backward pass. It is what makes the "
    "gradient on the weights inverse to their scale.",
    dz=_unless_none(lambda dn, p: _through_norm(dn, p) * spread(p.z, p.norm)),
)  # fmt: skip
wrong_part(
    "SB9", "divided by the spread twice",
    "The norm's backward pass divides by the spread once, not by the variance or mean square.",
    dz=_unless_none(lambda dn, p: _through_norm(dn, p) / spread(p.z, p.norm)),
)  # fmt: skip
wrong_part(
    "SB10", "eps forgotten on the way back",
    "Your backward pass computes the spread without eps, your forward pass with it. Keep the "
    "spread in the cache.",
    dz=_unless_none(lambda dn, p: _through_norm(dn, p, eps=0.0)),
)  # fmt: skip
wrong_part(
    "SB11", "sum instead of mean in the norm",
    "You summed dn * n where its mean belongs: a factor D too much.",
    dz=_unless_none(
        lambda dn, p: (
            dn - (mean(dn) if p.norm == "layernorm" else 0) - p.n * (dn * p.n).sum(-1)[:, None]
        ) / spread(p.z, p.norm)
    ),
)  # fmt: skip
wrong_part(
    "SB12", "norm's means over the batch",
    "The means of your norm's backward pass run over axis 0. They belong to the features: axis=-1.",
    dz=_unless_none(
        lambda dn, p: (
            dn - (mean(dn, 0) if p.norm == "layernorm" else 0) - p.n * mean(dn * p.n, 0)
        ) / spread(p.z, p.norm)
    ),
)  # fmt: skip
wrong_part(
    "SB13", "h used in place of n",
    "You used the output of the ReLU in the norm's backward pass. It needs n, with its negative "
    "entries: keep n in the cache.",
    dz=_unless_none(
        lambda dn, p: (
            dn - (mean(dn) if p.norm == "layernorm" else 0)
            - relu(p.n) * mean(dn * p.n)
        ) / spread(p.z, p.norm)
    ),
)  # fmt: skip
wrong_part(
    "SB14", "z used in place of n",
    "You used the matrix product z in the norm's backward pass. It needs n, the normalized row.",
    dz=_unless_none(
        lambda dn, p: (
            dn - (mean(dn) if p.norm == "layernorm" else 0) - p.z * mean(dn * p.z)
        ) / spread(p.z, p.norm)
    ),
)  # fmt: skip
wrong_part(
    "SB15", "ReLU's mask from z",
    "Your mask asks where z > 0. The ReLU saw n: after LayerNorm has subtracted the mean, other "
    "entries are positive.",
    dz=lambda dh, layer: _through_norm(dh * (layer.z > 0), layer),
)  # fmt: skip
wrong_part(
    "SB16", "ReLU and norm in forward order",
    "You went back through the norm first and then through the ReLU. On the way back the order "
    "is reversed: the ReLU came last, so its mask comes first.",
    dz=lambda dh, layer: _through_norm(dh, layer) * _mask(layer),
)  # fmt: skip
wrong_part(
    "SB17", "multiplied by h instead of the mask",
    "You multiplied by the ReLU's output. Its slope is 1 where n > 0 and 0 elsewhere.",
    dz=lambda dh, layer: _through_norm(dh * relu(layer.n), layer),
)  # fmt: skip
wrong_part(
    "SB18", "matrix not transposed",
    "You multiplied the gradient by w. The way back goes through the transposed matrix: "
    "dh = dz @ w.T. With square matrices nothing crashes.",
    dh=lambda dz, layer: dz @ layer.w,
)  # fmt: skip
wrong_part(
    "SB19", "dweights transposed",
    "Your dweights are transposed: dw = h.T @ dz has the shape of w. With square matrices "
    "nothing crashes.",
    dw=lambda dh, dz, layer: dz.T @ layer.h,
)  # fmt: skip
wrong_part(
    "SB20", "dweights from the layer's output",
    "Your dweights use the output of a layer. The matrix multiplied its input: dw = h.T @ dz "
    "with the h that went in.",
    dw=lambda dh, dz, layer: relu(layer.n).T @ dz,
)  # fmt: skip
wrong_part(
    "SB21", "dweights from the gradient before ReLU and norm",
    "Your dweights use the gradient on the layer's output. It must have gone back through ReLU "
    "and norm first: dw = h.T @ dz.",
    dw=lambda dh, dz, layer: layer.h.T @ dh,
)  # fmt: skip
wrong_part(
    "SB22", "dweights averaged over the batch",
    "You divided dweights by the number of examples. If the loss is a mean, dout already "
    "contains that factor: the shares of the examples add up.",
    dw=lambda dh, dz, layer: layer.h.T @ dz / len(dz),
)  # fmt: skip


from autograder.mistakes import signal_backward_results  # noqa: E402, F401
