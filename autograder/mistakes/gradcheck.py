"""Known wrong numerical gradients (ids GC...); those of the two other functions stand beside."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.mistakes.registry import Family, Function

Array = np.ndarray


def _adapt(formula: Function) -> Function:
    def numerical_gradient(function: Function, x: Array, dout: Array, step: float = 1e-5) -> Any:
        return formula(function, x, dout, step)

    return numerical_gradient


wrong = Family("numerical_gradient", _adapt)


def central(loss: Function, at: Array, index: Any, h: float) -> Any:
    """Give the central difference of a loss along one entry, which is put back."""
    kept = at[index]
    at[index] = kept + h
    above = loss(at)
    at[index] = kept - h
    below = loss(at)
    at[index] = kept
    return (above - below) / (2 * h)


def entry_by_entry(loss: Function, at: Array, h: float, slope: Function = central) -> Array:
    """Measure one slope for each entry of an array that may be changed on the way."""
    dx = np.zeros(at.shape)
    for index in np.ndindex(at.shape):
        dx[index] = slope(loss, at, index, h)
    return dx


def _by(slope: Function) -> Function:
    """Give the formula that differs from the right one in its slope only."""

    def formula(function, x, dout, step):
        return entry_by_entry(_loss(function, dout), np.array(x, float), step, slope)

    return formula


def _loss(function: Function, dout: Array) -> Function:
    return lambda at: np.sum(function(at) * dout)


def _with_step(size: Function) -> Function:
    return lambda function, x, dout, step: entry_by_entry(
        _loss(function, dout), np.array(x, float), size(step)
    )


def forward_difference(loss, at, index, h):
    """Give the slope between the point itself and the one above."""
    here, kept = loss(at), at[index]
    at[index] = kept + h
    above = loss(at)
    at[index] = kept
    return (above - here) / h


wrong(
    "GC1", "forward difference",
    "You compare f(x + step) with f(x). That one-sided slope is wrong by about step times the "
    "curvature, 1e-5, which rejects right code. Take f(x + step) - f(x - step), over 2 * step.",
)(_by(forward_difference))  # fmt: skip


def _backward_difference(loss, at, index, h):
    return forward_difference(loss, at, index, -h)


wrong(
    "GC18", "backward difference",
    "You compare f(x) with f(x - step). Move to both sides: the errors of the two one-sided "
    "slopes cancel, and that is what makes central differences good enough.",
)(_by(_backward_difference))  # fmt: skip
wrong(
    "GC2", "divided by the step only",
    "Your slopes are twice too large. From x - step to x + step it is 2 * step: divide by that.",
)(_by(lambda *given: 2 * central(*given)))  # fmt: skip
wrong(
    "GC19", "divided by 2 only",
    "You halve the difference but never divide by the step. A slope is a difference divided by "
    "the distance, which is 2 * step.",
)(_by(lambda loss, at, index, h: h * central(loss, at, index, h)))  # fmt: skip
wrong(
    "GC20", "wrong sign",
    "Your slopes have the wrong sign. Take the value above minus the value below.",
)(_by(lambda *given: -central(*given)))  # fmt: skip
wrong(
    "GC34", "absolute values",
    "Your slopes are never negative. Drop the absolute value: the sign is half of a gradient.",
)(_by(lambda *given: abs(central(*given))))  # fmt: skip

_IGNORED = "Your function takes a step of {} whatever it is given. {}"
wrong(
    "GC3", "a step of 1e-12",
    _IGNORED.format("1e-12", "Rounding in f, about 1e-16, is divided by the step: 1e-4 of error."),
)(_with_step(lambda step: 1e-12))  # fmt: skip
wrong(
    "GC4", "a step of 0.1",
    _IGNORED.format("0.1", "Over so long a way the function bends: use the argument step."),
)(_with_step(lambda step: 0.1))  # fmt: skip
wrong(
    "GC21", "the argument step ignored",
    _IGNORED.format("1e-5", "Use the argument step, whose default is 1e-5."),
)(_with_step(lambda step: 1e-5))  # fmt: skip
wrong(
    "GC30", "half the step",
    "You move by step / 2 to each side. Here the step is the distance to one side, and the whole "
    "way is 2 * step.",
)(_with_step(lambda step: step / 2))  # fmt: skip
wrong(
    "GC29", "a step that grows with the entry",
    "You scale the step with the entry. That can be wise, but here every entry is moved by step "
    "itself.",
)(_by(lambda loss, at, i, h: central(loss, at, i, h * max(1.0, abs(at[i])))))  # fmt: skip


@wrong(
    "GC7", "only the first entry",
    "Only the first entry of your dx is measured. Every entry needs its own two calls: loop over "
    "np.ndindex(x.shape).",
)  # fmt: skip
def _first_entry(function, x, dout, step):
    dx, at = np.zeros(x.shape), np.array(x, float)
    first = (0,) * x.ndim
    dx[first] = central(_loss(function, dout), at, first, step)
    return dx


@wrong(
    "GC9", "dout left out",
    "You add up the output without dout. The loss is sum(function(x) * dout): with a plain sum "
    "all that depends on dout goes unseen.",
)  # fmt: skip
def _plain_sum(function, x, dout, step):
    return entry_by_entry(lambda at: np.sum(function(at)), np.array(x, float), step)


@wrong(
    "GC22", "mean instead of sum",
    "You average the output times dout. The gradient belongs to the sum, np.sum(out * dout).",
)  # fmt: skip
def _mean(function, x, dout, step):
    return entry_by_entry(lambda at: np.mean(function(at) * dout), np.array(x, float), step)


@wrong(
    "GC23", "sum of out times sum of dout",
    "You multiply two sums. Each output has its own entry of dout: multiply first, then add up.",
)  # fmt: skip
def _product_of_sums(function, x, dout, step):
    return entry_by_entry(lambda at: np.sum(function(at)) * np.sum(dout), np.array(x, float), step)


@wrong(
    "GC31", "dout on the upper value only",
    "Only f(x + step) is multiplied by dout. Put brackets around the difference: "
    "(above - below) * dout.",
)  # fmt: skip
def _half_weighted(function, x, dout, step):
    def slope(_, at, index, h):
        kept = at[index]
        at[index] = kept + h
        above = function(at) * dout
        at[index] = kept - h
        below = function(at)
        at[index] = kept
        return np.sum(above - below) / (2 * h)

    return entry_by_entry(None, np.array(x, float), step, slope)


def drifting(loss, at, index, h):
    """Leave the entry at its lower point."""
    kept = at[index]
    at[index] = kept + h
    above = loss(at)
    at[index] = kept - h
    return (above - loss(at)) / (2 * h)


wrong(
    "GC12", "entries not put back",
    "You move an entry and leave it where it is, so that the next one is measured at another "
    "point. Put the old value back before you go on.",
)(_by(drifting))  # fmt: skip


@wrong(
    "GC27", "x itself moved and not put back",
    "You move the entries of x and leave them there: the caller's x is changed, and all entries "
    "but the first are measured at another point. Keep the old value and put it back.",
)  # fmt: skip
def _x_moved(function, x, dout, step):
    return entry_by_entry(_loss(function, dout), np.asarray(x, float), step, drifting)


def by_steps(loss, at, index, h):
    """Put the entry back by arithmetic, which leaves rounding behind."""
    at[index] += h
    above = loss(at)
    at[index] -= 2 * h
    below = loss(at)
    at[index] += h
    return (above - below) / (2 * h)


@wrong(
    "GC28", "x put back by adding the step",
    "You put x back by adding and subtracting the step. Rounding leaves it a little off. Keep the "
    "old value in a variable and store it again.",
)  # fmt: skip
def _put_back_by_steps(function, x, dout, step):
    return entry_by_entry(_loss(function, dout), np.asarray(x, float), step, by_steps)


@wrong(
    "GC13", "float32",
    "You move a copy of x in float32. A step of 1e-5 is only about 100 times the distance between "
    "two such numbers: it is rounded, and the slope with it. Work in float64.",
)  # fmt: skip
def _float32(function, x, dout, step):
    return entry_by_entry(_loss(function, dout), x.astype(np.float32), step)


@wrong(
    "GC14", "the step lost in integers",
    "Your copy of x keeps its type. In an array of integers 2 + 1e-5 is stored as 2, and the "
    "slope is lost: make the copy with np.array(x, dtype=np.float64).",
)  # fmt: skip
def _keeps_integers(function, x, dout, step):
    return entry_by_entry(_loss(function, dout), x.copy(), step)


@wrong(
    "GC33", "dx in the integers of x",
    "You make dx like x. If x holds integers, so does dx, and every slope is cut to a whole "
    "number: make it with np.zeros(x.shape).",
)  # fmt: skip
def _integer_result(function, x, dout, step):
    dx = entry_by_entry(_loss(function, dout), np.array(x, float), step)
    return dx.astype(x.dtype)


@wrong(
    "GC15", "a copy moved, the function called with x",
    "You move a copy but call the function with x, which never changes: all slopes are 0. Call "
    "it with the array that you moved.",
)  # fmt: skip
def _copy_moved(function, x, dout, step):
    return entry_by_entry(lambda at: np.sum(function(x.astype(float)) * dout), x.astype(float), 1.0)


def _together(places: Function) -> Function:
    """Give the formula that moves all entries of a place together."""

    def formula(function, x, dout, step):
        dx, loss = np.zeros(x.shape), _loss(function, dout)
        for place in places(x):
            above, below = np.array(x, float), np.array(x, float)
            above[place] += step
            below[place] -= step
            dx[place] = (loss(above) - loss(below)) / (2 * step)
        return dx

    return formula


wrong(
    "GC24", "all entries moved at once",
    "You add the step to the whole of x at once. That gives one slope, the sum of all. Move one "
    "entry at a time.",
)(_together(lambda x: [...]))  # fmt: skip
wrong(
    "GC25", "whole rows moved",
    "Your loop runs over the first axis only and moves a whole row at once. Every single entry "
    "needs its own slope: loop over np.ndindex(x.shape).",
)(_together(lambda x: range(len(x))))  # fmt: skip


@wrong(
    "GC26", "dx flat",
    "Your dx is one long row. Give it the shape of x.",
)  # fmt: skip
def _flat(function, x, dout, step):
    return entry_by_entry(_loss(function, dout), np.array(x, float), step).reshape(-1)


from autograder.mistakes import gradcheck_error, gradcheck_planted  # noqa: E402, F401
