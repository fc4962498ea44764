"""Known wrong steps of Adam (ids AD...), most of which AdamW has in common (AW31 and up)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from autograder.mistakes.registry import Family, Function

Array = np.ndarray

_FRESH: tuple[int, dict[str, Any]] = (0, {})


class Numbers(NamedTuple):
    """What a rule needs besides the arrays; t is 1 at the first step."""

    rate: float
    beta1: float
    beta2: float
    eps: float
    t: int


def means(g: Array, m: Array, v: Array, n: Numbers) -> tuple[Array, Array]:
    """Give the two running means after this gradient."""
    return n.beta1 * m + (1 - n.beta1) * g, n.beta2 * v + (1 - n.beta2) * g * g


def corrected(m: Array, v: Array, n: Numbers) -> tuple[Array, Array]:
    """Make up for the zeros at which the means began."""
    return m / (1 - n.beta1**n.t), v / (1 - n.beta2**n.t)


def moved(p: Array, m: Array, v: Array, n: Numbers) -> Array:
    """Take the step."""
    return p - n.rate * m / (np.sqrt(v) + n.eps)


def right(p: Array, g: Array, m: Array, v: Array, n: Numbers) -> tuple[Array, Array, Array]:
    """Do all of it right."""
    m, v = means(g, m, v, n)
    return moved(p, *corrected(m, v, n), n), m, v


def adam(rule: Function) -> Function:
    """Make a step over all arrays of a rule ``p, g, m, v, numbers -> p, m, v`` for one."""

    def adam_step(
        params: dict[str, Array], grads: dict[str, Array], state: Any, learning_rate: float,
        beta1: float = 0.9, beta2: float = 0.999, eps: float = 1e-8,
    ) -> Any:  # fmt: skip
        done, memory = state or _FRESH
        numbers = Numbers(learning_rate, beta1, beta2, eps, done + 1)
        new, kept = {}, {}
        for name, p in params.items():
            m, v = memory.get(name) or (np.zeros_like(p), np.zeros_like(p))
            new[name], *kept[name] = rule(p, grads[name], m, v, numbers)
        return new, (done + 1, kept)

    return adam_step


def with_decay(rule: Function) -> Function:
    """Add a right decay to a wrong rule of Adam."""
    step = adam(rule)

    def adamw_step(
        params: dict[str, Array], grads: dict[str, Array], state: Any, learning_rate: float,
        weight_decay: float, beta1: float = 0.9, beta2: float = 0.999, eps: float = 1e-8,
    ) -> Any:  # fmt: skip
        decay = {k: learning_rate * weight_decay * p for k, p in params.items() if p.ndim > 1}
        new, state = step(params, grads, state, learning_rate, beta1, beta2, eps)
        return {name: p - decay.get(name, 0.0) for name, p in new.items()}, state

    return adamw_step


_wrong, _wrong_w = Family("adam_step", adam), Family("adamw_step", with_decay)


def adam_and_adamw(id: str, id_w: str, name: str, sentence: str) -> Function:
    """Register a wrong rule for Adam, and for AdamW with a right decay."""

    def register(rule: Function) -> Function:
        _wrong(id, name, sentence)(rule)
        return _wrong_w(id_w, name, sentence)(rule)

    return register


def _wrong_correction(id: str, id_w: str, name: str, sentence: str, correct: Function) -> None:
    def rule(p, g, m, v, n):
        m, v = means(g, m, v, n)
        return moved(p, *correct(m, v, n), n), m, v

    adam_and_adamw(id, id_w, name, sentence)(rule)


def _wrong_move(id: str, id_w: str, name: str, sentence: str, move: Function) -> None:
    """Register a wrong last line: ``move(p, g, m_hat, v_hat, numbers)``."""

    def rule(p, g, m, v, n):
        m, v = means(g, m, v, n)
        return move(p, g, *corrected(m, v, n), n), m, v

    adam_and_adamw(id, id_w, name, sentence)(rule)


def _wrong_means(id: str, id_w: str, name: str, sentence: str, mean: Function) -> None:
    def rule(p, g, m, v, n):
        m, v = mean(g, m, v, n)
        return moved(p, *corrected(m, v, n), n), m, v

    adam_and_adamw(id, id_w, name, sentence)(rule)


_wrong_correction(
    "AD1", "AW31", "no bias correction",
    "You use m and v as they are. Both began at 0, so at first they are too small, v more so than "
    "m, and the first steps come out too long: divide m by 1 - beta1**t and v by 1 - beta2**t.",
    lambda m, v, n: (m, v),
)  # fmt: skip
_wrong_correction(
    "AD2", "AW32", "v not corrected",
    "You corrected m but not v. v began at 0 as well and is slower to forget it: divide it by "
    "1 - beta2**t.",
    lambda m, v, n: (corrected(m, v, n)[0], v),
)  # fmt: skip
_wrong_correction(
    "AD3", "AW33", "m not corrected",
    "You corrected v but not m, so the first steps come out too short: divide m by 1 - beta1**t.",
    lambda m, v, n: (m, corrected(m, v, n)[1]),
)  # fmt: skip
_wrong_correction(
    "AD4", "AW34", "t is ahead by one",
    "Your first step corrects with t = 2. Does the counter start at 1 and grow before it is used? "
    "At the first step t is 1.",
    lambda m, v, n: corrected(m, v, n._replace(t=n.t + 1)),
)  # fmt: skip
_wrong_correction(
    "AD5", "AW35", "t starts at 0",
    "Your first step corrects with t = 0, and 1 - beta**0 is 0: you divide by zero. Count the step "
    "before you use t; at the first step t is 1.",
    lambda m, v, n: corrected(m, v, n._replace(t=n.t - 1)),
)  # fmt: skip
_wrong_correction(
    "AD6", "AW36", "t never grows",
    "Every step corrects as if it were the first, so the steps soon come out far too long or far "
    "too short. Keep t in the state, and return the state with t grown by one.",
    lambda m, v, n: corrected(m, v, n._replace(t=1)),
)  # fmt: skip
_wrong_correction(
    "AD7", "AW37", "beta times t for beta to the power of t",
    "Your correction is 1 - beta * t. It is 1 - beta**t, a power: the share of the zeros that is "
    "left in the mean after t steps.",
    lambda m, v, n: (m / (1 - n.beta1 * n.t), v / (1 - n.beta2 * n.t)),
)  # fmt: skip
_wrong_correction(
    "AD8", "AW38", "1 - (1 - beta)**t for the correction",
    "Your correction is 1 - (1 - beta)**t. What is left of the start after t steps is beta**t, so "
    "divide by 1 - beta**t.",
    lambda m, v, n: (m / (1 - (1 - n.beta1) ** n.t), v / (1 - (1 - n.beta2) ** n.t)),
)  # fmt: skip
_wrong_correction(
    "AD9", "AW39", "both corrected with beta1",
    "You divided v by 1 - beta1**t. v is a mean with beta2: divide it by 1 - beta2**t.",
    lambda m, v, n: (m / (1 - n.beta1**n.t), v / (1 - n.beta1**n.t)),
)  # fmt: skip

_wrong_move(
    "AD10", "AW40", "eps inside the root",
    "You took the root of v + eps. Adam adds eps after the root, sqrt(v) + eps. Inside it acts "
    "like the root of eps, 1e-4, and swallows every gradient smaller than that.",
    lambda p, g, m, v, n: p - n.rate * m / np.sqrt(v + n.eps),
)  # fmt: skip
_wrong_move(
    "AD11", "AW41", "no eps",
    "eps is missing. Where a gradient has always been 0, v is 0 too, and 0 / 0 is not a number: "
    "divide by sqrt(v) + eps.",
    lambda p, g, m, v, n: p - n.rate * m / np.sqrt(v),
)  # fmt: skip
_wrong_move(
    "AD12", "AW42", "the larger of root and eps",
    "You divide by the larger of sqrt(v) and eps. Adam adds them: sqrt(v) + eps.",
    lambda p, g, m, v, n: p - n.rate * m / np.maximum(np.sqrt(v), n.eps),
)  # fmt: skip
_wrong_move(
    "AD13", "AW43", "no root",
    "You divide by v instead of its root. v has the unit of a squared gradient; only m / sqrt(v) "
    "does not depend on the scale of the loss.",
    lambda p, g, m, v, n: p - n.rate * m / (v + n.eps),
)  # fmt: skip
_wrong_move(
    "AD14", "AW44", "the bare gradient in the numerator",
    "You divide the gradient of this step by sqrt(v). Adam divides its running mean m. At the "
    "first step the two are equal, so look at the second.",
    lambda p, g, m, v, n: p - n.rate * g / (np.sqrt(v) + n.eps),
)  # fmt: skip
_wrong_move(
    "AD15", "AW45", "uphill",
    "Your step goes uphill: subtract it, p - learning_rate * m / (sqrt(v) + eps).",
    lambda p, g, m, v, n: p + n.rate * m / (np.sqrt(v) + n.eps),
)  # fmt: skip
_wrong_move(
    "AD16", "AW46", "the learning rate left out",
    "Your step is not multiplied by learning_rate, so every entry moves by about 1.",
    lambda p, g, m, v, n: p - m / (np.sqrt(v) + n.eps),
)  # fmt: skip
_wrong_move(
    "AD17", "AW47", "never divided by the root",
    "You move by the corrected m and never divide by sqrt(v) + eps. That is gradient descent with "
    "momentum; what makes it Adam is that every entry is measured by its own gradients.",
    lambda p, g, m, v, n: p - n.rate * m,
)  # fmt: skip
_wrong_move(
    "AD18", "AW48", "one root for the whole array",
    "You divide all entries of an array by the same number, from the mean of v. In Adam each "
    "entry has its own: v has the shape of the parameter.",
    lambda p, g, m, v, n: p - n.rate * m / (np.sqrt(v.mean()) + n.eps),
)  # fmt: skip
_wrong_move(
    "AD19", "AW49", "rate divided by the root of t",
    "Your steps become shorter with the root of t. learning_rate already is the rate of this "
    "step; a schedule is a function of its own.",
    lambda p, g, m, v, n: moved(p, m, v, n._replace(rate=n.rate / np.sqrt(n.t))),
)  # fmt: skip
_wrong_move(
    "AD20", "AW50", "entries with gradient 0 left out",
    "You move only the entries whose gradient is not 0 in this step. The mean m remembers earlier "
    "gradients, and goes on moving them.",
    lambda p, g, m, v, n: np.where(g != 0, moved(p, m, v, n), p),
)  # fmt: skip

adam_and_adamw(
    "AD21", "AW51", "the betas exchanged",
    "You used beta2 where beta1 belongs, and beta1 for beta2. m, in the numerator, has beta1; v, "
    "under the root, has beta2. At the first step nobody sees the difference.",
)(lambda p, g, m, v, n: right(p, g, m, v, n._replace(beta1=n.beta2, beta2=n.beta1)))  # fmt: skip
_wrong_means(
    "AD43", "AW63", "the betas exchanged in the means",
    "You used beta2 for m and beta1 for v, but corrected each with its own. m has beta1, in the "
    "mean and in the correction; v has beta2.",
    lambda g, m, v, n: means(g, m, v, n._replace(beta1=n.beta2, beta2=n.beta1)),
)  # fmt: skip
_wrong_means(
    "AD22", "AW52", "1 - beta1 left out",
    "You add the whole gradient to beta1 * m, so m grows to ten gradients: it is a sum. The "
    "running mean has weights that add up to one, beta1 * m + (1 - beta1) * g.",
    lambda g, m, v, n: (n.beta1 * m + g, means(g, m, v, n)[1]),
)  # fmt: skip
_wrong_means(
    "AD23", "AW53", "1 - beta2 left out",
    "You add the whole square to beta2 * v. The running mean has weights that add up to one, "
    "beta2 * v + (1 - beta2) * g**2.",
    lambda g, m, v, n: (means(g, m, v, n)[0], n.beta2 * v + g * g),
)  # fmt: skip
_wrong_means(
    "AD24", "AW54", "old and new value exchanged",
    "You gave the old means the weights 1 - beta. beta is the weight of the old value: "
    "m = beta1 * m + (1 - beta1) * g.",
    lambda g, m, v, n: means(g, m, v, n._replace(beta1=1 - n.beta1, beta2=1 - n.beta2)),
)  # fmt: skip
_wrong_means(
    "AD25", "AW55", "beta1 added instead of multiplied",
    "You wrote beta1 + ... where beta1 * m belongs: the old mean is forgotten and a constant is "
    "added to every gradient.",
    lambda g, m, v, n: (n.beta1 + (1 - n.beta1) * g, means(g, m, v, n)[1]),
)  # fmt: skip
_wrong_means(
    "AD26", "AW56", "v from the square of m",
    "Your v is a mean of m**2. It is a mean of g**2: gradients that change their sign cancel in m "
    "and must not cancel in v.",
    lambda g, m, v, n: (a := means(g, m, v, n)[0], n.beta2 * v + (1 - n.beta2) * a * a),
)  # fmt: skip
_wrong_means(
    "AD27", "AW57", "v from the size of g",
    "Your v is a mean of |g|, and you take its root. It is a mean of g**2.",
    lambda g, m, v, n: (means(g, m, v, n)[0], n.beta2 * v + (1 - n.beta2) * np.abs(g)),
)  # fmt: skip
_wrong_means(
    "AD28", "AW58", "v without the square",
    "Your v is a mean of g, and its root is not a number as soon as it is negative. It is a mean "
    "of g**2.",
    lambda g, m, v, n: (means(g, m, v, n)[0], n.beta2 * v + (1 - n.beta2) * g),
)  # fmt: skip
_wrong_means(
    "AD29", "AW59", "nothing remembered",
    "Every step begins with m = 0 and v = 0. Put the new means into the state that you return, "
    "and take them from there in the next step.",
    lambda g, m, v, n: means(g, 0 * m, 0 * v, n),
)  # fmt: skip
