"""Backward passes that measure wrongly, or return the right things wrongly (ids SB23 and on)."""

from __future__ import annotations

import numpy as np

from autograder.mistakes.signal import rms
from autograder.mistakes.signal_backward import (
    back,
    through_layer,
    through_matrix,
    wrong,
    wrong_part,
)

wrong_part(
    "SB23", "standard deviation of the gradient",
    "You measured the gradients' standard deviation. The size is the root mean square, with no "
    "mean subtracted.",
    size=np.std,
)  # fmt: skip
wrong_part(
    "SB24", "mean absolute gradient",
    "You measured mean |dh|. The size is the root of the mean square.",
    size=lambda g: np.abs(g).mean(),
)  # fmt: skip
wrong_part(
    "SB25", "root missing",
    "Your sizes of the gradient are mean squares. The root of each is missing.",
    size=lambda g: (g**2).mean(),
)  # fmt: skip
wrong_part(
    "SB26", "average of the sizes of single examples",
    "You measured the gradient of every example and averaged the results. Average all squares "
    "first and take one root.",
    size=lambda g: np.sqrt((g**2).mean(-1)).mean(),
)  # fmt: skip
wrong_part(
    "SB27", "length of the gradient",
    "You measured the root of the sum of squares. The size is the root of their mean.",
    size=np.linalg.norm,
)  # fmt: skip


@wrong(
    "SB28", "sizes in the order of the way back",
    "Your sizes begin with the last layer, the first one that you visit. The list has the order "
    "of the weights: turn it round.",
)  # fmt: skip
def _reversed_sizes(dout, layers):
    dx, dweights, scales = back(dout, layers)
    return dx, dweights, scales[::-1]


@wrong(
    "SB29", "dweights in the order of the way back",
    "Your dweights begin with the last layer, the first one that you visit. The list has the "
    "order of the weights: turn it round.",
)  # fmt: skip
def _reversed_dweights(dout, layers):
    dx, dweights, scales = back(dout, layers)
    return dx, dweights[::-1], scales


@wrong(
    "SB30", "both lists in the order of the way back",
    "Both of your lists begin with the last layer, the first one that you visit. They have the "
    "order of the weights: turn them round.",
)  # fmt: skip
def _both_reversed(dout, layers):
    dx, dweights, scales = back(dout, layers)
    return dx, dweights[::-1], scales[::-1]


@wrong(
    "SB31", "gradients on the outputs measured",
    "You measured the gradient on each layer's output. Asked for is the one on its input, after "
    "the way back through the layer.",
)  # fmt: skip
def _on_outputs(dout, layers):
    dx, dweights, scales = back(dout, layers)
    return dx, dweights, [*scales[1:], rms(dout)]


@wrong(
    "SB32", "dout counted too",
    "Your sizes contain dout as well. There is one for each layer: the gradient on its input.",
)  # fmt: skip
def _with_dout(dout, layers):
    dx, dweights, scales = back(dout, layers)
    return dx, dweights, [*scales, rms(dout)]


@wrong(
    "SB33", "dweights measured",
    "You measured the gradients on the weights. The sizes asked for are those of the gradient on "
    "each layer's input.",
)  # fmt: skip
def _dweights_measured(dout, layers):
    dx, dweights, _ = back(dout, layers)
    return dx, dweights, [rms(dw) for dw in dweights]


@wrong(
    "SB34", "dx of the first matrix missing",
    "Your dx is the gradient behind the first matrix. One step is missing: dx = dz @ w.T of the "
    "first layer.",
)  # fmt: skip
def _one_short(dout, layers):
    dx, dweights, scales = back(dout, layers[1:])
    dz = through_layer(dx, layers[0])
    return dz, [layers[0].h.T @ dz, *dweights], [rms(through_matrix(dz, layers[0])), *scales]


@wrong("SB35", "dout ignored", "Your gradient starts from ones. It starts from dout.")
def _ones(dout, layers):
    return back(np.ones_like(dout), layers)


@wrong(
    "SB36", "order of the results",
    "You returned dweights first. The order is dx, dweights, scales.",
)  # fmt: skip
def _swapped(dout, layers):
    dx, dweights, scales = back(dout, layers)
    return dweights, dx, scales


@wrong(
    "SB37", "nothing returned",
    "Your function ends without a return statement, and then Python gives None. End it with "
    "return dx, dweights, scales.",
)  # fmt: skip
def _nothing(dout, layers):
    return None
