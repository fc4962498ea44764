"""Known mistakes in what Adam keeps, and between its arrays (ids AD..., continued)."""

from __future__ import annotations

import numpy as np

from autograder.mistakes.optimizer_adam import (
    Numbers,
    adam,
    adam_and_adamw,
    corrected,
    means,
    moved,
    right,
)
from autograder.mistakes.registry import Family

wrong_rule = Family("adam_step", adam)
wrong_whole = Family("adam_step")


@adam_and_adamw(
    "AD30", "AW60", "the corrected means kept",
    "You keep the corrected means in the state, so each step corrects what was corrected before. "
    "Keep m and v as they are, and correct copies of them.",
)  # fmt: skip
def _keeps_corrected(p, g, m, v, n):
    m, v = corrected(*means(g, m, v, n), n)
    return moved(p, m, v, n), m, v


@adam_and_adamw(
    "AD31", "AW61", "the step taken before the means are updated",
    "You move with the means of the step before, which at first are 0. Take this gradient into m "
    "and v first.",
)  # fmt: skip
def _old_means(p, g, m, v, n):
    return moved(p, *corrected(m, v, n), n), *means(g, m, v, n)


@adam_and_adamw(
    "AD32", "AW62", "eps added before the correction",
    "You add eps to the root of the uncorrected v and correct afterwards, as some libraries do. "
    "Here v is corrected first, then the root is taken, then eps is added. The difference shows "
    "where gradients are tiny.",
)  # fmt: skip
def _early_eps(p, g, m, v, n):
    m, v = means(g, m, v, n)
    correction = np.sqrt(1 - n.beta2**n.t) / (1 - n.beta1**n.t)
    return p - n.rate * correction * m / (np.sqrt(v) + n.eps), m, v


@wrong_whole(
    "AD33", "t counted once for each array",
    "Your t grows inside the loop over the arrays, so the second one is corrected as if it had "
    "taken more steps. Count once in each call.",
)  # fmt: skip
def _counts_arrays(params, grads, state, learning_rate, beta1=0.9, beta2=0.999, eps=1e-8):
    t, memory = state or (0, {})
    new, kept = {}, {}
    for name, p in params.items():
        t += 1
        numbers = Numbers(learning_rate, beta1, beta2, eps, t)
        m, v = memory.get(name) or (np.zeros_like(p), np.zeros_like(p))
        new[name], *kept[name] = right(p, grads[name], m, v, numbers)
    return new, (t, kept)


@wrong_whole(
    "AD34", "one m and v for all arrays",
    "All arrays share one m and one v, which fails as soon as their shapes differ. Keep a pair "
    "for each name.",
)  # fmt: skip
def _shared(params, grads, state, learning_rate, beta1=0.9, beta2=0.999, eps=1e-8):
    t, m, v = state or (0, 0.0, 0.0)
    numbers, new = Numbers(learning_rate, beta1, beta2, eps, t + 1), {}
    for name, p in params.items():
        new[name], m, v = right(p, grads[name], m, v, numbers)
    return new, (t + 1, m, v)


wrong_rule(
    "AD35", "beta1 and beta2 fixed",
    "You always use 0.9 and 0.999. beta1 and beta2 are arguments; these are only their defaults.",
)(lambda p, g, m, v, n: right(p, g, m, v, n._replace(beta1=0.9, beta2=0.999)))  # fmt: skip
wrong_rule(
    "AD36", "eps fixed",
    "You always use 1e-8. eps is an argument; this is only its default.",
)(lambda p, g, m, v, n: right(p, g, m, v, n._replace(eps=1e-8)))  # fmt: skip
wrong_rule(
    "AD37", "betas and eps fixed",
    "You always use 0.9, 0.999 and 1e-8. beta1, beta2 and eps are arguments; these are only their "
    "defaults.",
)(lambda p, g, m, v, n: right(p, g, m, v, Numbers(n.rate, 0.9, 0.999, 1e-8, n.t)))  # fmt: skip


@wrong_rule(
    "AD38", "params changed in place",
    "Your values are right, but your function overwrote the arrays in params (`p -= ...`). Make "
    "new arrays: whoever wants to go back needs the old ones.",
)  # fmt: skip
def _in_place(p, g, m, v, n):
    p[...], m, v = right(p, g, m, v, n)
    return p, m, v


@wrong_rule(
    "AD39", "grads changed in place",
    "Your values are right, but your function overwrote the gradients, perhaps with `g *= g` for "
    "the square. Make a new array: g**2.",
)  # fmt: skip
def _squares_gradients(p, g, m, v, n):
    moments = right(p, g, m, v, n)
    g *= g
    return moments


@wrong_whole(
    "AD40", "the state not returned",
    "You return the parameters alone. Return two things, the new parameters and the state: the "
    "next step needs m, v and t.",
)  # fmt: skip
def _no_state(params, grads, state, learning_rate, beta1=0.9, beta2=0.999, eps=1e-8):
    return adam(right)(params, grads, state, learning_rate, beta1, beta2, eps)[0]


@wrong_whole(
    "AD41", "m, v and t outside the state",
    "Your function keeps m, v and t to itself and ignores state, so every call goes on from the "
    "last one, whatever is being trained. None means a fresh start.",
    factory=True,
)  # fmt: skip
def _keeps_to_itself():
    step, own = adam(right), [None]

    def adam_step(params, grads, state, learning_rate, beta1=0.9, beta2=0.999, eps=1e-8):
        new, own[0] = step(params, grads, own[0], learning_rate, beta1, beta2, eps)
        return new, own[0]

    return adam_step


@wrong_whole(
    "AD42", "m, v and t outside the state, cleared by None",
    "Your function keeps m, v and t to itself and uses state only to see when to begin anew. Two "
    "models that are trained in turn then share one memory: take everything from state, and "
    "return it.",
    factory=True,
)  # fmt: skip
def _one_memory():
    step, own = adam(right), [None]

    def adam_step(params, grads, state, learning_rate, beta1=0.9, beta2=0.999, eps=1e-8):
        before = None if state is None else own[0]
        new, own[0] = step(params, grads, before, learning_rate, beta1, beta2, eps)
        return new, "kept"

    return adam_step
