"""The learning rate of a training run, step by step: reference."""

import math

from autograder.kernels import _validate as validate

_RATE = "learning_rate_at(step, peak, warmup_steps, total_steps, floor)"


def learning_rate_at(
    step: int, peak: float, warmup_steps: int, total_steps: int, floor: float
) -> float:
    """Give the learning rate of a step: a linear warm-up, then half a cosine wave [1]_.

    ``peak * (step + 1) / warmup_steps`` for the first `warmup_steps` steps, then, with the share
    done ``s = (step - warmup_steps) / (total_steps - warmup_steps)``,
    ``floor + (peak - floor) * (1 + cos(pi * s)) / 2``, and `floor` from `total_steps` on.

    Parameters
    ----------
    step : int
        Number of the step, counted from 0.
    peak, floor : float
        Largest rate, and the rate at the end; 0 or more.
    warmup_steps, total_steps : int
        Length of the warm-up, which may be 0, and of the whole; ``total_steps > warmup_steps``.

    Returns
    -------
    float
        The learning rate.

    Raises
    ------
    TypeError, ValueError
        If an argument has another type or value.

    References
    ----------
    .. [1] Loshchilov, Hutter, "SGDR: Stochastic Gradient Descent with Warm Restarts", ICLR 2017.
    """
    step = validate.whole_number(_RATE, "step", step, at_least=0)
    warmup_steps = validate.whole_number(_RATE, "warmup_steps", warmup_steps, at_least=0)
    total_steps = validate.whole_number(_RATE, "total_steps", total_steps)
    if total_steps <= warmup_steps:
        raise ValueError(
            f"{_RATE}: total_steps must be larger than warmup_steps, {warmup_steps}; "
            f"got {total_steps}."
        )
    peak = validate.non_negative(_RATE, "peak", peak)
    floor = validate.non_negative(_RATE, "floor", floor)
    if step < warmup_steps:
        return peak * (step + 1) / warmup_steps
    done = min(1.0, (step - warmup_steps) / (total_steps - warmup_steps))
    return floor + (peak - floor) * (1 + math.cos(math.pi * done)) / 2
