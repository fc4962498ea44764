"""Known wrong dropout backward passes (ids DB...)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from autograder.mistakes.registry import Family, Function

Array = np.ndarray


class _Cache(NamedTuple):
    """What every backward formula is made of."""

    x: Array
    out: Array
    keep: Array
    p: float
    training: bool
    rng: np.random.Generator

    @property
    def scale(self) -> float:
        return 1 / (1 - self.p)


def _drop(x: Array, p: float, training: bool, rng: np.random.Generator) -> tuple[Array, _Cache]:
    keep = rng.random(x.shape) >= p
    out = x * keep / (1 - p) if training else x
    return out, _Cache(x, out, keep, p, training, rng)


def _forward(x: Array, p: float, training: bool, rng: np.random.Generator) -> Any:
    return _drop(x, p, training, rng)


def _adapt(formula: Function) -> Function:
    def dropout_backward(dout: Array, cache: _Cache) -> Array:
        return formula(dout, cache) if cache.training else dout

    return dropout_backward


wrong = Family("dropout_backward", _adapt, partners=(_forward,))


def _wrong_dx(id: str, name: str, sentence: str, dx: Function) -> None:
    """Register a mistake that shows in training."""
    wrong(id, name, sentence)(dx)


_wrong_dx(
    "DB1", "a new mask in the backward pass",
    "Your backward pass draws a new mask. Only the entries that the forward pass kept had a part "
    "in the loss: keep its mask in the cache and use it again.",
    lambda dout, c: dout * (c.rng.random(dout.shape) >= c.p) * c.scale,
)  # fmt: skip
_wrong_dx(
    "DB2", "scale missing in dx",
    "Your dx has the mask but not the scale. The forward pass divides the survivors by 1 - p, so "
    "their gradient is divided by 1 - p too.",
    lambda dout, c: dout * c.keep,
)  # fmt: skip
_wrong_dx(
    "DB3", "mask guessed from zeros in out",
    "You take every zero of out for a dropped entry. After a ReLU x has zeros of its own, and "
    "those may have been kept: their gradient is dout / (1 - p). Keep the mask itself.",
    lambda dout, c: dout * (c.out != 0) * c.scale,
)  # fmt: skip
_wrong_dx(
    "DB4", "dout passed through unchanged",
    "Your backward pass returns dout in training. A dropped entry has gradient 0, and a kept one "
    "dout / (1 - p).",
    lambda dout, c: dout,
)  # fmt: skip
_wrong_dx(
    "DB5", "scaled twice in dx",
    "Your dx is divided by 1 - p twice. Perhaps the mask in your cache already holds the scale.",
    lambda dout, c: dout * c.keep * c.scale**2,
)  # fmt: skip
_wrong_dx(
    "DB6", "mask the wrong way round",
    "Your dx is 0 where the entry was kept, and not 0 where it was dropped. The gradient flows "
    "through the survivors.",
    lambda dout, c: dout * ~c.keep * c.scale,
)  # fmt: skip
_wrong_dx(
    "DB7", "mask recovered as out / x",
    "You divide out by x to get mask and scale back, which is 0 / 0 = NaN where x is 0, as after "
    "a ReLU. Keep the mask in the cache.",
    lambda dout, c: dout * (c.out / c.x),
)  # fmt: skip
_wrong_dx(
    "DB8", "multiplied by x",
    "Your dx contains x. The derivative of x * mask / (1 - p) with respect to x is "
    "mask / (1 - p): x itself is gone.",
    lambda dout, c: dout * c.x * c.keep,
)  # fmt: skip
_wrong_dx(
    "DB9", "dx divided by p",
    "You divide dx by p. The share that survives is 1 - p: divide by that, as in the forward "
    "pass. At p = 0.5 nobody sees the difference.",
    lambda dout, c: dout * c.keep / np.asarray(c.p, dout.dtype),
)  # fmt: skip
_wrong_dx(
    "DB10", "divided by the mask",
    "You divide dout by the mask. A product is differentiated by multiplying with the other "
    "factor: dx = dout * mask / (1 - p).",
    lambda dout, c: dout / (c.keep * c.scale),
)  # fmt: skip
_wrong_dx(
    "DB11", "mask missing in dx",
    "You scale dout but do not mask it. An entry that was dropped had no part in the output: its "
    "gradient is 0.",
    lambda dout, c: dout * c.scale,
)  # fmt: skip
_wrong_dx(
    "DB12", "multiplied by out",
    "You multiply dout by the output of the forward pass. Multiply by the mask and the scale: "
    "out still contains x.",
    lambda dout, c: dout * c.out,
)  # fmt: skip
_wrong_dx(
    "DB13", "dx multiplied by 1 - p",
    "You multiply dx by 1 - p. The forward pass divides by 1 - p, and so does the backward pass.",
    lambda dout, c: dout * c.keep * (1 - c.p),
)  # fmt: skip


def _none_where(without_mask: Function) -> Function:
    """Make a forward pass whose cache is None where it takes a short cut."""

    def forward(x, p, training, rng):
        return (x, None) if without_mask(p, training) else _drop(x, p, training, rng)

    return forward


def _unprepared(dout: Array, cache: _Cache) -> Array:
    _, _, keep, p, training, _ = cache
    return dout * keep / (1 - p) if training else dout


def _wrong_short_cut(id: str, name: str, sentence: str, without_mask: Function) -> None:
    """Register a backward pass that fails where the forward pass left no mask."""
    family = Family("dropout_backward", partners=(_none_where(without_mask),))
    family(id, name, sentence)(_unprepared)


_wrong_short_cut(
    "DB14", "no cache for p = 0",
    "With p = 0 your forward pass leaves no mask, and your backward pass needs one. Nothing was "
    "dropped: return dout.",
    lambda p, training: training and p == 0,
)  # fmt: skip
_wrong_short_cut(
    "DB15", "no cache in inference",
    "With training=False your forward pass leaves no mask, and your backward pass needs one. "
    "The output is x there, so the gradient is dout.",
    lambda p, training: not training,
)  # fmt: skip
_wrong_short_cut(
    "DB16", "no cache in inference and for p = 0",
    "Where nothing is dropped your forward pass leaves no mask, and your backward pass needs one. "
    "With training=False and with p = 0 the gradient is dout.",
    lambda p, training: not training or p == 0,
)  # fmt: skip

_whatever_mode = Family("dropout_backward", partners=(_forward,))


@_whatever_mode(
    "DB17", "dx scaled after inference",
    "After training=False your dx is still divided by 1 - p. The output is x there, so the "
    "gradient is dout: keep in the cache which mode it was.",
)  # fmt: skip
def _scaled_in_inference(dout, cache):
    return dout * (cache.keep | (not cache.training)) * cache.scale


@_whatever_mode(
    "DB18", "dx masked after inference",
    "After training=False your dx is masked. The output is x there, so the gradient is dout: "
    "keep in the cache which mode it was.",
)  # fmt: skip
def _masked_in_inference(dout, cache):
    return dout * cache.keep * cache.scale


_LATEST: dict[str, _Cache] = {}


def _forward_with_one_cache(x, p, training, rng):
    out, _LATEST["cache"] = _drop(x, p, training, rng)
    return out, _LATEST


_one_cache = Family("dropout_backward", partners=(_forward_with_one_cache,))


@_one_cache(
    "DB19", "the mask of the latest forward pass",
    "Your mask lives in one place that the next forward pass overwrites (a global, or one cache "
    "object for all calls). A network has many dropout layers: each call needs its own cache.",
)  # fmt: skip
def _latest_mask(dout, cache):
    latest = cache["cache"]
    return dout * latest.keep * latest.scale if latest.training else dout
