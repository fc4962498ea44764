"""Known wrong answers about the scale of weights (ids SE..., SP..., SW...)."""

from __future__ import annotations

import numpy as np

from autograder.mistakes.registry import Family, Function

wrong_rate = Family("effective_rate")
wrong_split = Family("split_gradient")
wrong_growth = Family("weight_growth")


def _rate(id: str, name: str, sentence: str, formula: Function) -> None:
    wrong_rate(id, name, sentence)(formula)


_rate(
    "SE1", "length not squared",
    "You divided by the length of the weights. It has to be squared: twice the weights have half "
    "the gradient and need twice the step.",
    lambda weight, learning_rate: learning_rate / np.linalg.norm(weight.ravel()),
)  # fmt: skip
_rate(
    "SE2", "multiplied by the squared length",
    "You multiplied by the squared length of the weights. Larger weights turn less in a step: "
    "divide.",
    lambda weight, learning_rate: learning_rate * (weight**2).sum(),
)  # fmt: skip
_rate(
    "SE3", "mean of squares",
    "You divided by the mean of the squares. The squared length is their sum, over all entries.",
    lambda weight, learning_rate: learning_rate / (weight**2).mean(),
)  # fmt: skip
_rate(
    "SE4", "largest singular value",
    "You used the largest singular value, which np.linalg.norm(weight, 2) gives. The length "
    "meant here is the root of the sum of all squares: np.linalg.norm(weight).",
    lambda weight, learning_rate: learning_rate / np.linalg.norm(np.atleast_2d(weight), 2) ** 2,
)  # fmt: skip
_rate(
    "SE5", "square of the sum",
    "You squared the sum of the weights. Square every entry first, then add.",
    lambda weight, learning_rate: learning_rate / weight.sum() ** 2,
)  # fmt: skip
_rate(
    "SE6", "sum of absolute values",
    "You measured the weights by the sum of |w|. Their length is the root of the sum of squares.",
    lambda weight, learning_rate: learning_rate / np.abs(weight).sum() ** 2,
)  # fmt: skip
_rate(
    "SE7", "one rate for each column",
    "You gave each column a rate of its own. Behind LayerNorm and RMSNorm only the scale of the "
    "whole matrix does not matter: sum over all entries.",
    lambda weight, learning_rate: learning_rate / (weight**2).sum(0),
)  # fmt: skip
_rate(
    "SE8", "fourth power of the length",
    "You squared twice. The rate is divided by the squared length, |W|**2.",
    lambda weight, learning_rate: learning_rate / (weight**2).sum() ** 2,
)  # fmt: skip
_rate(
    "SE9", "a small number added",
    "You added a small number to the squared length. For small weights it counts; nothing has to "
    "be added, as the weights are never all 0.",
    lambda weight, learning_rate: learning_rate / ((weight**2).sum() + 1e-5),
)  # fmt: skip
_rate(
    "SE10", "learning rate left out",
    "Your result does not contain the learning rate: it is learning_rate / |W|**2.",
    lambda weight, learning_rate: 1 / (weight**2).sum(),
)  # fmt: skip
_rate(
    "SE11", "upside down",
    "Your fraction is upside down: it is learning_rate / |W|**2.",
    lambda weight, learning_rate: (weight**2).sum() / learning_rate,
)  # fmt: skip
_rate(
    "SE12", "variance",
    "You divided by the variance. The squared length is the sum of the squares, with no mean "
    "subtracted.",
    lambda weight, learning_rate: learning_rate / weight.var(),
)  # fmt: skip
_rate(
    "SE13", "nothing returned",
    "Your function ends without a return statement, and then Python gives None.",
    lambda weight, learning_rate: None,
)  # fmt: skip


@wrong_rate(
    "SE14", "weight changed",
    "Your number is right, but the call changes weight: weight **= 2 works in place. Write "
    "weight**2.",
)  # fmt: skip
def _squared_in_place(weight, learning_rate):
    weight **= 2
    return learning_rate / weight.sum()


def _along(weight, gradient):
    return (weight * gradient).sum() / (weight**2).sum() * weight


def _split(id: str, name: str, sentence: str, along: Function) -> None:
    """Register a mistake in the part along the weights; the rest follows from it."""

    def split_gradient(weight, gradient):
        part = along(weight, gradient)
        return part, gradient - part

    wrong_split(id, name, sentence)(split_gradient)


_split(
    "SP1", "column by column",
    "You split every column by itself. The matrix is one long vector here: behind LayerNorm and "
    "RMSNorm only its scale as a whole does not matter.",
    lambda w, g: (w * g).sum(0) / (w**2).sum(0) * w,
)  # fmt: skip
_split(
    "SP2", "row by row",
    "You split every row by itself. The matrix is one long vector here: sum over all entries.",
    lambda w, g: (w * g).sum(-1, keepdims=True) / (w**2).sum(-1, keepdims=True) * w,
)  # fmt: skip
_split(
    "SP3", "not divided by the squared length",
    "The division by the squared length of the weights is missing: <W, G> / <W, W> * W.",
    lambda w, g: (w * g).sum() * w,
)  # fmt: skip
_split(
    "SP4", "divided by the length once",
    "You divided by the length once. It takes two, one to make W a direction and one inside the "
    "product: <W, G> / <W, W> * W.",
    lambda w, g: (w * g).sum() / np.linalg.norm(w.ravel()) * w,
)  # fmt: skip
_split(
    "SP5", "projected on the gradient",
    "You projected the weights on the gradient. Asked for is the part of the gradient that "
    "points along the weights: a multiple of W.",
    lambda w, g: (w * g).sum() / (g**2).sum() * g,
)  # fmt: skip
_split(
    "SP6", "divided by the gradient's length",
    "You divided by <G, G>. The direction is that of the weights, so <W, W> stands below.",
    lambda w, g: (w * g).sum() / (g**2).sum() * w,
)  # fmt: skip
_split(
    "SP7", "matrix product",
    "You used a matrix product. <W, G> is one number, the sum of the products of entries that "
    "stand in the same place: (W * G).sum().",
    lambda w, g: w @ (w.T @ g) / (w**2).sum(),
)  # fmt: skip
_split(
    "SP8", "entry by entry",
    "You divided every entry by itself, so all of the gradient points along. Sum W * G over all "
    "entries first.",
    lambda w, g: w * g / (w**2) * w,
)  # fmt: skip
_split(
    "SP9", "sign lost",
    "You took the absolute value of <W, G>. The part along the weights can point against them.",
    lambda w, g: np.abs(_along(w, g)) * np.sign(w),
)  # fmt: skip
_split(
    "SP10", "mean below, sum above",
    "You divided a sum by a mean, or a mean by a sum. Use the same for <W, G> and <W, W>.",
    lambda w, g: (w * g).sum() / (w**2).mean() * w,
)  # fmt: skip


@wrong_split(
    "SP11", "order of the results", "You returned across first. The order is along, across."
)
def _swapped(weight, gradient):
    along = _along(weight, gradient)
    return gradient - along, along


@wrong_split(
    "SP12", "sign of the part across",
    "Your second part has the wrong sign: across = gradient - along, so that both add up to the "
    "gradient.",
)  # fmt: skip
def _turned(weight, gradient):
    along = _along(weight, gradient)
    return along, along - gradient


@wrong_split(
    "SP13", "part along added",
    "You added the part along the weights to the gradient. What is left when it is taken away "
    "is the part across.",
)  # fmt: skip
def _added(weight, gradient):
    along = _along(weight, gradient)
    return along, gradient + along


@wrong_split(
    "SP14", "factor returned",
    "Your first result is a number. The part along the weights has their shape: factor * weight.",
)  # fmt: skip
def _factor(weight, gradient):
    along = _along(weight, gradient)
    return (weight * gradient).sum() / (weight**2).sum(), gradient - along


@wrong_split(
    "SP15", "gradient changed",
    "Your parts are right, but the call changes gradient: gradient -= ... works in place. Write "
    "across = gradient - along.",
)  # fmt: skip
def _in_place(weight, gradient):
    along = _along(weight, gradient)
    gradient -= along
    return along, gradient


@wrong_split(
    "SP16", "nothing returned",
    "Your function ends without a return statement, and then Python gives None. End it with "
    "return along, across.",
)  # fmt: skip
def _nothing(weight, gradient):
    return None


def _growth(id: str, name: str, sentence: str, formula: Function) -> None:
    wrong_growth(id, name, sentence)(formula)


def _new(w, g, rate, decay):
    return w - rate * (g + decay * w)


def _ratio(new, w):
    return float((new**2).sum() / (w**2).sum())


_growth(
    "SW1", "lengths not squared",
    "You compared the lengths. The factor is that of the squared lengths.",
    lambda w, g, rate, decay: _ratio(_new(w, g, rate, decay), w) ** 0.5,
)  # fmt: skip
_growth(
    "SW2", "upside down",
    "Your fraction is upside down: the new squared length over the old one.",
    lambda w, g, rate, decay: 1 / _ratio(_new(w, g, rate, decay), w),
)  # fmt: skip
_growth(
    "SW3", "increase instead of factor",
    "You gave the increase, in which 1 is subtracted. A step that changes nothing has factor 1.",
    lambda w, g, rate, decay: _ratio(_new(w, g, rate, decay), w) - 1,
)  # fmt: skip
_growth(
    "SW4", "not divided by the old squared length",
    "You gave the new squared length. Divide it by the old one.",
    lambda w, g, rate, decay: float((_new(w, g, rate, decay) ** 2).sum()),
)  # fmt: skip
_growth(
    "SW5", "difference instead of quotient",
    "You subtracted the old squared length. Divide by it: a factor is asked for.",
    lambda w, g, rate, decay: float((_new(w, g, rate, decay) ** 2).sum() - (w**2).sum()),
)  # fmt: skip
_growth(
    "SW6", "gradient added",
    "You stepped up the gradient. Descent subtracts it. For a gradient across the weights nobody "
    "sees the difference, for any other the length changes the other way.",
    lambda w, g, rate, decay: _ratio(_new(w, -g, rate, decay), w),
)  # fmt: skip
_growth(
    "SW7", "every gradient taken to be across",
    "You added squares, as in a right-angled triangle. That holds for gradients across the "
    "weights; for any other one take the step and measure.",
    lambda w, g, rate, decay: (1 - rate * decay) ** 2 + rate**2 * _ratio(g, w),
)  # fmt: skip
_growth(
    "SW8", "part along the weights removed",
    "You removed the part of the gradient along the weights. The step is taken with the whole "
    "gradient.",
    lambda w, g, rate, decay: _ratio(_new(w, g - _along(w, g), rate, decay), w),
)  # fmt: skip
_growth(
    "SW9", "decay without the learning rate",
    "Your decay is not multiplied by the learning rate: learning_rate * weight_decay * weight is "
    "subtracted.",
    lambda w, g, rate, decay: _ratio((1 - decay) * w - rate * g, w),
)  # fmt: skip
_growth(
    "SW10", "decay with the wrong sign",
    "Your decay makes the weights grow. It is subtracted, like the gradient.",
    lambda w, g, rate, decay: _ratio(_new(w, g, rate, -decay), w),
)  # fmt: skip
_growth(
    "SW11", "decay left out",
    "Your step has no decay: learning_rate * weight_decay * weight is subtracted besides.",
    lambda w, g, rate, decay: _ratio(_new(w, g, rate, 0.0), w),
)  # fmt: skip
_growth(
    "SW12", "decay of the new weights",
    "You applied the decay after the gradient step, to the new weights. Both are computed from "
    "the weights before the step.",
    lambda w, g, rate, decay: _ratio((1 - rate * decay) * (w - rate * g), w),
)  # fmt: skip
_growth(
    "SW13", "square of the decay dropped",
    "You used 1 - 2 * learning_rate * weight_decay. The square has a third term: "
    "(1 - learning_rate * weight_decay)**2.",
    lambda w, g, rate, decay: _ratio(_new(w, g, rate, decay), w) - (rate * decay) ** 2,
)  # fmt: skip
_growth(
    "SW14", "column by column",
    "You measured every column by itself. One factor for the whole matrix is asked for.",
    lambda w, g, rate, decay: (_new(w, g, rate, decay) ** 2).sum(0) / (w**2).sum(0),
)  # fmt: skip
_growth(
    "SW15", "largest singular values",
    "You compared largest singular values, which np.linalg.norm(weight, 2) gives. The squared "
    "length is the sum of all squares.",
    lambda w, g, rate, decay: float(
        (np.linalg.norm(_new(w, g, rate, decay), 2) / np.linalg.norm(w, 2)) ** 2
    ),
)  # fmt: skip
_growth(
    "SW16", "nothing returned",
    "Your function ends without a return statement, and then Python gives None.",
    lambda w, g, rate, decay: None,
)  # fmt: skip


@wrong_growth(
    "SW17", "weight changed before it is measured",
    "You changed weight in place, so the old length is that of the new weights and the factor is "
    "1. Keep the old weights: new = weight - ...",
)  # fmt: skip
def _changed(weight, gradient, learning_rate, weight_decay):
    weight -= learning_rate * (gradient + weight_decay * weight)
    return _ratio(weight, weight)
