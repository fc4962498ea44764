"""Known mistakes in the decay of AdamW (ids AW...)."""

from __future__ import annotations

import numpy as np

from autograder.mistakes.optimizer_adam import Numbers, adam, right
from autograder.mistakes.registry import Family, Function


def _adapt(pull: Function) -> Function:
    """Make a step that subtracts ``pull(name, p, new_p, learning_rate, weight_decay)``."""

    def adamw_step(
        params, grads, state, learning_rate, weight_decay, beta1=0.9, beta2=0.999, eps=1e-8
    ):
        new, state = adam(right)(params, grads, state, learning_rate, beta1, beta2, eps)
        pulled = {
            name: new[name] - pull(name, p, new[name], learning_rate, weight_decay)
            for name, p in params.items()
        }
        return pulled, state

    return adamw_step


def _matrices(pull: Function) -> Function:
    """Leave vectors alone, as is right."""
    return lambda name, p, new, rate, decay: pull(p, new, rate, decay) if p.ndim > 1 else 0.0


wrong, wrong_whole = Family("adamw_step", _adapt), Family("adamw_step")


def _wrong_pull(id: str, name: str, sentence: str, pull: Function) -> None:
    """Register a wrong pull on arrays with two or more axes."""
    wrong(id, name, sentence)(_matrices(pull))


def _coupled(exempt: bool) -> Function:
    """Put the decay into the gradient, as L2 regularization does."""

    def adamw_step(
        params, grads, state, learning_rate, weight_decay, beta1=0.9, beta2=0.999, eps=1e-8
    ):
        slopes = {
            name: g if exempt and g.ndim < 2 else g + weight_decay * params[name]
            for name, g in grads.items()
        }
        return adam(right)(params, slopes, state, learning_rate, beta1, beta2, eps)

    return adamw_step


wrong_whole(
    "AW1", "decay in the gradient",
    "You added weight_decay * p to the gradient (L2 regularization). Adam divides it by the size "
    "of the gradient like everything else, so it no longer pulls in proportion to p. Keep it out "
    "of m and v: subtract learning_rate * weight_decay * p from the parameter.",
)(_coupled(exempt=True))  # fmt: skip
wrong_whole(
    "AW2", "decay in the gradient, of vectors too",
    "You added weight_decay * p to every gradient (L2 regularization). Keep decay out of m and v: "
    "subtract learning_rate * weight_decay * p from the parameter, where it has two axes or more.",
)(_coupled(exempt=False))  # fmt: skip
wrong(
    "AW3", "vectors decay too",
    "Biases and gains decay in your version. Only arrays with two or more axes are pulled towards "
    "0; a gain of a norm belongs near 1.",
)(lambda name, p, new, rate, decay: rate * decay * p)  # fmt: skip
wrong(
    "AW4", "no decay",
    "Your step is Adam's: nothing decays. Subtract learning_rate * weight_decay * p as well, from "
    "arrays with two or more axes.",
)(lambda name, p, new, rate, decay: 0.0)  # fmt: skip
wrong(
    "AW5", "only vectors decay",
    "Vectors decay in your version and matrices do not. It is the other way round: arrays with "
    "two or more axes decay.",
)(lambda name, p, new, rate, decay: rate * decay * p if p.ndim < 2 else 0.0)  # fmt: skip
_wrong_pull(
    "AW6", "decay without the learning rate",
    "You subtracted weight_decay * p. Multiply it by learning_rate too, so that decay and step "
    "shrink together under a schedule.",
    lambda p, new, rate, decay: decay * p,
)  # fmt: skip
_wrong_pull(
    "AW7", "decay after the step",
    "You pulled the parameter after its step, in proportion to the new value. Here p is the value "
    "from before the step in both terms.",
    lambda p, new, rate, decay: rate * decay * new,
)  # fmt: skip
_wrong_pull(
    "AW8", "decay away from 0",
    "Your decay makes the weights grow. Subtract learning_rate * weight_decay * p.",
    lambda p, new, rate, decay: -rate * decay * p,
)  # fmt: skip
_wrong_pull(
    "AW9", "learning rate squared in the decay",
    "Your decay is multiplied by learning_rate twice. Once is right.",
    lambda p, new, rate, decay: rate * rate * decay * p,
)  # fmt: skip
_wrong_pull(
    "AW10", "the same pull for every size",
    "You subtract the same amount from every weight, towards 0. The pull is proportional to the "
    "weight: learning_rate * weight_decay * p.",
    lambda p, new, rate, decay: rate * decay * np.sign(p),
)  # fmt: skip
_wrong_pull(
    "AW11", "decay twice",
    "The weights decay twice as much as asked for. Is the decay in two places, or did you take "
    "the slope of weight_decay * p**2? Subtract learning_rate * weight_decay * p once.",
    lambda p, new, rate, decay: 2 * rate * decay * p,
)  # fmt: skip
_wrong_pull(
    "AW12", "weight_decay fixed at 0.01",
    "You always use 0.01. weight_decay is an argument.",
    lambda p, new, rate, decay: rate * 0.01 * p,
)  # fmt: skip
wrong(
    "AW13", "only arrays with exactly two axes decay",
    "You ask for two axes exactly. Arrays with three or more, such as the kernels of a "
    "convolution, decay as well: two or more.",
)(lambda name, p, new, rate, decay: rate * decay * p if p.ndim == 2 else 0.0)  # fmt: skip
wrong(
    "AW14", "everything called weight decays",
    "You decide by the name: everything called weight decays. The gain of a norm is called so "
    "too. Decide by the number of axes.",
)(lambda name, p, new, rate, decay: rate * decay * p if "weight" in name else 0.0)  # fmt: skip


@wrong_whole(
    "AW15", "decay divided by the root",
    "Your decay stands in the numerator, beside m, and is divided by sqrt(v) + eps. It is a term "
    "of its own: learning_rate * weight_decay * p.",
)  # fmt: skip
def _inside_the_fraction(
    params, grads, state, learning_rate, weight_decay, beta1=0.9, beta2=0.999, eps=1e-8
):
    still = {name: np.zeros_like(p) for name, p in params.items()}
    steps, state = adam(right)(still, grads, state, learning_rate, beta1, beta2, eps)
    t, kept = state
    new = {}
    for name, p in params.items():
        root = np.sqrt(kept[name][1] / (1 - beta2**t)) + eps
        pull = learning_rate * weight_decay * p / root if p.ndim > 1 else 0.0
        new[name] = p + steps[name] - pull
    return new, state


@wrong_whole(
    "AW16", "params changed in place",
    "Your values are right, but your function overwrote the arrays in params (`p -= ...`). Make "
    "new arrays: whoever wants to go back needs the old ones.",
)  # fmt: skip
def _in_place(params, grads, state, learning_rate, weight_decay, beta1=0.9, beta2=0.999, eps=1e-8):
    for p in params.values():
        if p.ndim > 1:
            p *= 1 - learning_rate * weight_decay
    return adam(right)(params, grads, state, learning_rate, beta1, beta2, eps)


@wrong_whole(
    "AW17", "t counted once for each array",
    "Your t grows inside the loop over the arrays, so the second one is corrected as if it had "
    "taken more steps. Count once in each call.",
)  # fmt: skip
def _counts_arrays(
    params, grads, state, learning_rate, weight_decay, beta1=0.9, beta2=0.999, eps=1e-8
):
    t, memory = state or (0, {})
    new, kept = {}, {}
    for name, p in params.items():
        t += 1
        numbers = Numbers(learning_rate, beta1, beta2, eps, t)
        m, v = memory.get(name) or (np.zeros_like(p), np.zeros_like(p))
        new[name], *kept[name] = right(p, grads[name], m, v, numbers)
        new[name] = new[name] - (learning_rate * weight_decay * p if p.ndim > 1 else 0.0)
    return new, (t, kept)


@wrong_whole(
    "AW18", "the state not returned",
    "You return the parameters alone. Return two things, the new parameters and the state: the "
    "next step needs m, v and t.",
)  # fmt: skip
def _no_state(params, grads, state, learning_rate, weight_decay, beta1=0.9, beta2=0.999, eps=1e-8):
    pull = _matrices(lambda p, new, rate, decay: rate * decay * p)
    step = _adapt(pull)
    return step(params, grads, state, learning_rate, weight_decay, beta1, beta2, eps)[0]


wrong_whole(
    "AW19", "betas and eps fixed",
    "You always use 0.9, 0.999 and 1e-8. beta1, beta2 and eps are arguments; these are only their "
    "defaults. If your function calls adam_step, hand them on.",
)(
    lambda params, grads, state, learning_rate, weight_decay, beta1=0.9, beta2=0.999, eps=1e-8:
    _adapt(_matrices(lambda p, new, rate, decay: rate * decay * p))(
        params, grads, state, learning_rate, weight_decay
    )
)  # fmt: skip
