"""Known wrong steps with weight decay (ids RG60 to RG79)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from autograder.mistakes.registry import Family

wrong = Family("decayed_step")


def _each(rule: Callable) -> Callable:
    """Make a step of a rule for one parameter, ``rule(param, grad, rate, decay, name)``."""

    def step(params, grads, learning_rate, weight_decay):
        return {
            name: rule(params[name], grads[name], learning_rate, weight_decay, name)
            for name in params
        }

    return step


def _matrices(rule: Callable) -> Callable:
    """Make a step in which only matrices follow a wrong rule; vectors take plain steps."""
    return _each(
        lambda p, g, rate, decay, name: rule(p, g, rate, decay) if p.ndim >= 2 else p - rate * g
    )


def _of_matrices(id: str, name: str, sentence: str, rule: Callable) -> None:
    wrong(id, name, sentence)(_matrices(rule))


def _of_all(id: str, name: str, sentence: str, rule: Callable) -> None:
    wrong(id, name, sentence)(_each(rule))


_of_all(
    "RG60", "everything decayed",
    "You shrink every parameter. Biases and gains are exempt: only arrays with two or more axes "
    "decay.",
    lambda p, g, rate, decay, name: p - rate * (g + decay * p),
)  # fmt: skip
_of_all(
    "RG61", "nothing decayed",
    "Your parameters take a plain gradient step; weight_decay changes nothing. Matrices also lose "
    "learning_rate * weight_decay * param.",
    lambda p, g, rate, decay, name: p - rate * g,
)  # fmt: skip
_of_all(
    "RG62", "vectors decayed instead of matrices",
    "You shrink the vectors and leave the matrices. It is the other way round: decay where "
    "param.ndim >= 2.",
    lambda p, g, rate, decay, name: p - rate * (g + (decay * p if p.ndim < 2 else 0)),
)  # fmt: skip
_of_matrices(
    "RG63", "decay without the learning rate",
    "You subtract weight_decay * param, without the learning rate. Both parts of the step are "
    "multiplied by it: learning_rate * (grad + weight_decay * param).",
    lambda p, g, rate, decay: p - rate * g - decay * p,
)  # fmt: skip
_of_matrices(
    "RG64", "decay with the wrong sign",
    "Your decay makes the weights grow. It is subtracted, like the gradient.",
    lambda p, g, rate, decay: p - rate * (g - decay * p),
)  # fmt: skip
_of_matrices(
    "RG65", "decay of the moved weights",
    "You take the gradient step first and shrink its result. Here the decay is that of the weights "
    "before the step: param - learning_rate * (grad + weight_decay * param).",
    lambda p, g, rate, decay: (p - rate * g) * (1 - rate * decay),
)  # fmt: skip
_of_matrices(
    "RG66", "decay twice as strong",
    "Your decay is twice as strong: 2 * weight_decay * param, the derivative of weight_decay * "
    "param**2. The convention here has no 2, as if the penalty were halved.",
    lambda p, g, rate, decay: p - rate * (g + 2 * decay * p),
)  # fmt: skip
_of_matrices(
    "RG67", "decay half as strong",
    "Your decay is half as strong, 0.5 * weight_decay * param. The factor belongs to the penalty, "
    "whose derivative has none.",
    lambda p, g, rate, decay: p - rate * (g + 0.5 * decay * p),
)  # fmt: skip
_of_matrices(
    "RG68", "a constant pull",
    "You subtract the sign of the weights (L1). Weight decay is proportional to the weight itself.",
    lambda p, g, rate, decay: p - rate * (g + decay * np.sign(p)),
)  # fmt: skip
_of_matrices(
    "RG69", "decay divided by the norm",
    "You divide the decay by the norm of the matrix. Weight decay is plainly weight_decay * param.",
    lambda p, g, rate, decay: p - rate * (g + decay * p / np.linalg.norm(p)),
)  # fmt: skip
_of_matrices(
    "RG70", "the gradient decayed",
    "You shrink the gradient. It is the weights that decay: grad + weight_decay * param.",
    lambda p, g, rate, decay: p - rate * (g + decay * g),
)  # fmt: skip
_of_matrices(
    "RG71", "gradient forgotten in the matrices",
    "Your matrices only decay. They also follow the gradient: grad + weight_decay * param.",
    lambda p, g, rate, decay: p - rate * decay * p,
)  # fmt: skip
_of_matrices(
    "RG72", "the learning rate squared in the decay",
    "You multiply the decay by the learning rate twice. Once is right.",
    lambda p, g, rate, decay: p - rate * (g + rate * decay * p),
)  # fmt: skip
_of_all(
    "RG73", "uphill",
    "You add the gradient. The loss falls against its gradient: subtract.",
    lambda p, g, rate, decay, name: p + rate * (g - (decay * p if p.ndim >= 2 else 0)),
)  # fmt: skip
_of_all(
    "RG74", "decided by the name",
    "You decide by the name of a parameter which one decays. Decide by its axes, param.ndim >= 2: "
    "names are chosen freely.",
    lambda p, g, rate, decay, name: p - rate * (g + (decay * p if name[0] in "wk" else 0)),
)  # fmt: skip
_of_all(
    "RG75", "only exactly two axes decayed",
    "You decay arrays of exactly two axes. A kernel with three is no bias: decay where param.ndim "
    ">= 2.",
    lambda p, g, rate, decay, name: p - rate * (g + (decay * p if p.ndim == 2 else 0)),
)  # fmt: skip


@wrong(
    "RG76", "parameters changed in place",
    "Your new parameters are right, but the old ones are no longer what they were (-=, or writing "
    "into params). Return a new dict of new arrays.",
)  # fmt: skip
def _in_place(params, grads, learning_rate, weight_decay):
    for name, param in params.items():
        decay = weight_decay * param if param.ndim >= 2 else 0
        param -= learning_rate * (grads[name] + decay)
    return params


@wrong(
    "RG77", "gradients changed in place",
    "Your new parameters are right, but you added the decay to the caller's gradients (+=). Make a "
    "new array: grad + weight_decay * param.",
)  # fmt: skip
def _into_the_gradients(params, grads, learning_rate, weight_decay):
    for name, param in params.items():
        if param.ndim >= 2:
            grads[name] += weight_decay * param
    return {name: param - learning_rate * grads[name] for name, param in params.items()}


@wrong(
    "RG78", "only the matrices returned",
    "Your dict holds only the matrices. Vectors take a step too, without decay.",
)  # fmt: skip
def _matrices_only(params, grads, learning_rate, weight_decay):
    return {
        name: param - learning_rate * (grads[name] + weight_decay * param)
        for name, param in params.items()
        if param.ndim >= 2
    }
