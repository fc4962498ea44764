"""Known wrong steps of gradient descent (ids SG...); Adam, AdamW and the schedule stand beside."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.mistakes.registry import Family, Function

Array = np.ndarray


def _adapt(rule: Function) -> Function:
    """Apply a rule for one array to all of them, whatever their shapes."""

    def sgd_step(params: dict[str, Array], grads: dict[str, Array], learning_rate: float) -> Any:
        return {name: rule(p, grads[name], learning_rate) for name, p in params.items()}

    return sgd_step


wrong = Family("sgd_step", _adapt)
wrong_whole = Family("sgd_step")

wrong(
    "SG1", "uphill",
    "You added the gradient. It points to where the loss grows: subtract learning_rate * g.",
)(lambda p, g, rate: p + rate * g)  # fmt: skip
wrong(
    "SG2", "the learning rate left out",
    "You subtracted the whole gradient. Multiply it by learning_rate first.",
)(lambda p, g, rate: p - g)  # fmt: skip
wrong(
    "SG3", "only the sign of the gradient",
    "Every entry moves by learning_rate, whatever the size of its gradient. A step of SGD is "
    "proportional to the gradient: learning_rate * g.",
)(lambda p, g, rate: p - rate * np.sign(g))  # fmt: skip
wrong(
    "SG4", "the step instead of the new values",
    "You return the step itself, -learning_rate * g. Return where it leads: p - learning_rate * g.",
)(lambda p, g, rate: -rate * g)  # fmt: skip
wrong(
    "SG7", "vectors left as they were",
    "Matrices move, vectors do not. Every array in params takes its step; only weight decay, in "
    "AdamW, makes a difference between the two.",
)(lambda p, g, rate: p - rate * g if p.ndim > 1 else p.copy())  # fmt: skip
wrong(
    "SG8", "the gradient multiplied by the parameter",
    "You subtracted learning_rate * g * p. The gradient already says how the loss changes with p: "
    "subtract learning_rate * g.",
)(lambda p, g, rate: p - rate * g * p)  # fmt: skip
wrong(
    "SG9", "the gradient brought to length 1",
    "You divided each gradient by its length, so every step is equally long. A step of SGD is "
    "proportional to the gradient: near a minimum it becomes short by itself.",
)(lambda p, g, rate: p - rate * g / np.linalg.norm(g))  # fmt: skip
wrong(
    "SG10", "divided by the learning rate",
    "You divided the gradient by learning_rate, so that a smaller rate gives a larger step. "
    "Multiply.",
)(lambda p, g, rate: p - g / rate)  # fmt: skip
wrong(
    "SG11", "nothing moves",
    "You return the values you were given. In a loop `p = p - ...` gives the name p to a new "
    "array and leaves the dict alone: store the new array under its name in a new dict.",
)(lambda p, g, rate: p.copy())  # fmt: skip
wrong(
    "SG12", "the gradient averaged once more",
    "You divided the gradient by the length of its first axis. That axis is not the batch: the "
    "gradient has the shape of the parameter, and the loss has averaged already.",
)(lambda p, g, rate: p - rate * g / len(g))  # fmt: skip
wrong(
    "SG13", "one step for the whole array",
    "All entries of an array move by the same amount, the mean of its gradient. Each entry has a "
    "slope of its own.",
)(lambda p, g, rate: p - rate * g.mean())  # fmt: skip


@wrong(
    "SG5", "params changed in place",
    "Your values are right, but your function overwrote the arrays it was given (`p -= ...`). "
    "Whoever wants to compare before and after has lost the before: make new arrays.",
)  # fmt: skip
def _in_place(p, g, rate):
    p -= rate * g
    return p


@wrong(
    "SG14", "grads changed in place",
    "Your values are right, but your function multiplied the gradients by the learning rate where "
    "they lie (`g *= ...`). Make new arrays.",
)  # fmt: skip
def _scales_gradients(p, g, rate):
    g *= rate
    return p - g


@wrong_whole(
    "SG6", "returned after the first array",
    "You return only the first array: does your return stand inside the loop? Go through all "
    "names, then return the dict.",
)  # fmt: skip
def _first_only(params, grads, learning_rate):
    name = next(iter(params))
    return {name: params[name] - learning_rate * grads[name]}


@wrong_whole(
    "SG15", "nothing returned",
    "Your function returns nothing. Put the new arrays into a new dict, under the names of the "
    "old ones, and return it.",
)  # fmt: skip
def _nothing(params, grads, learning_rate):
    return None


@wrong_whole(
    "SG16", "a list instead of a dict",
    "You return the arrays in a list. Whoever takes the next step needs them by name: return a "
    "dict with the names of params.",
)  # fmt: skip
def _list(params, grads, learning_rate):
    return [p - learning_rate * grads[name] for name, p in params.items()]


from autograder.mistakes import (  # noqa: E402
    optimizer_adam,  # noqa: F401  (registers AD..., and what AdamW has in common with it)
    optimizer_adamw,  # noqa: F401  (registers AW...)
    optimizer_memory,  # noqa: F401  (registers AD30 and up)
    optimizer_rate,  # noqa: F401  (registers LR...)
)
