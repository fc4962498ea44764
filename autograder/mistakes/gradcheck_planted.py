"""Known wrong gradient checkers (ids GC...): they reject right code, or let wrong code pass."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.mistakes.gradcheck import (
    by_steps,
    central,
    drifting,
    entry_by_entry,
    forward_difference,
)
from autograder.mistakes.gradcheck_error import largest, over, right
from autograder.mistakes.registry import Family, Function

Array = np.ndarray


def _adapt(formula: Function) -> Function:
    def gradcheck(
        forward: Function, backward: Function, x: Array, rng: np.random.Generator,
        step: float = 1e-5,
    ) -> Any:  # fmt: skip
        return formula(forward, backward, x, rng, step)

    return gradcheck


wrong = Family("gradcheck", _adapt)


def _normal(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    return rng.standard_normal(shape)


def _checker(
    draw: Function = _normal,
    slope: Function = central,
    error: Function = right,
    size: Function = lambda step: step,
    numeric_dout: Function = lambda dout: dout,
    narrow: type = np.float64,
) -> Function:
    """Give the checker that differs from the right one in the parts that are named."""

    def formula(forward, backward, x, rng, step):
        out, cache = forward(x)
        dout = draw(rng, out.shape)
        weights = numeric_dout(dout)
        numeric = entry_by_entry(
            lambda at: np.sum(forward(at)[0] * weights), np.array(x, narrow), size(step), slope
        )
        return error(backward(dout, cache), numeric)

    return formula


def _wrong(id: str, name: str, sentence: str, **parts: Any) -> None:
    wrong(id, name, sentence)(_checker(**parts))


_wrong(
    "GC53", "dout of ones",
    "Your dout is all ones. Backward passes that mix up the entries of dout, or leave it out, "
    "look right then: draw it with rng.",
    draw=lambda rng, shape: np.ones(shape),
)  # fmt: skip
_wrong(
    "GC54", "uniform dout",
    "You draw dout between 0 and 1. Draw it with rng.normal: entries of both signs do not let "
    "errors add up to something that looks right.",
    draw=lambda rng, shape: rng.random(shape),
)  # fmt: skip
_wrong(
    "GC55", "a generator of your own",
    "You do not draw dout from rng, so that nobody can repeat a check that failed. Use the rng "
    "that you are given.",
    draw=lambda rng, shape: np.random.default_rng().normal(size=shape),
)  # fmt: skip
_wrong(
    "GC56", "a fixed seed",
    "Your dout is the same in every check. Draw it from the rng that you are given, and a second "
    "check looks at something new.",
    draw=lambda rng, shape: np.random.default_rng(0).normal(size=shape),
)  # fmt: skip
_wrong(
    "GC57", "two different douts",
    "You draw dout twice, once for backward and once for the differences. Both must belong to "
    "the same loss: draw it once.",
    numeric_dout=lambda dout: np.random.default_rng(int(1e6 * abs(dout.flat[0]))).normal(
        size=dout.shape
    ),
)  # fmt: skip
_wrong(
    "GC74", "dout in backward only",
    "You give dout to backward but measure the slope of the plain sum. The loss is "
    "sum(out * dout) on both sides.",
    numeric_dout=np.ones_like,
)  # fmt: skip
_wrong(
    "GC59", "forward difference",
    "You compare f(x + step) with f(x). That slope is wrong by about 1e-5, so that right code is "
    "rejected: take central differences.",
    slope=forward_difference,
)  # fmt: skip
_wrong(
    "GC60", "divided by the step only",
    "Your measured slopes are twice too large: the way from x - step to x + step is 2 * step.",
    slope=lambda *given: 2 * central(*given),
)  # fmt: skip
_wrong(
    "GC66", "x not put back",
    "You move an entry and leave it there, so that the next one is measured at another point. "
    "Put the old value back.",
    slope=drifting,
)  # fmt: skip
_wrong(
    "GC67", "a step of 1e-12",
    "Your step is 1e-12 whatever is given. Rounding divided by so small a step is larger than "
    "the error that you are looking for.",
    size=lambda step: 1e-12,
)  # fmt: skip
_wrong(
    "GC68", "a step of 0.1",
    "Your step is 0.1 whatever is given. Over so long a way the function bends, and right code "
    "is rejected.",
    size=lambda step: 0.1,
)  # fmt: skip
_wrong(
    "GC65", "the argument step ignored",
    "Your step is 1e-5 whatever is given. Hand the argument step on.",
    size=lambda step: 1e-5,
)  # fmt: skip
_wrong(
    "GC76", "float32",
    "You work in float32, where a step of 1e-5 is rounded and the slope with it. Use float64.",
    narrow=np.float32,
)  # fmt: skip
_wrong(
    "GC61", "absolute error",
    "You return the largest difference itself. A gradient near 1e-6 then passes whatever is "
    "wrong with it: divide by the largest measured entry.",
    error=lambda a, n: largest(a - n),
)  # fmt: skip
_wrong(
    "GC62", "mean instead of maximum",
    "You average the differences, and one wrong entry disappears. Take the maximum.",
    error=lambda a, n: over(float(np.mean(np.abs(a - n))), largest(n)),
)  # fmt: skip
_wrong(
    "GC63", "entry by entry",
    "You divide entry by entry. Where the right gradient is 0, rounding alone rejects right "
    "code: divide by the largest measured entry.",
    error=lambda a, n: float(np.max(np.abs(a - n) / np.maximum(np.abs(a), np.abs(n)))),
)  # fmt: skip
_wrong(
    "GC64", "no case for gradients of zero",
    "Your error divides by 0 where the right gradient is 0. Below 1e-7 return the difference "
    "itself.",
    error=lambda a, n: largest(a - n) / np.float64(largest(n)),
)  # fmt: skip
_wrong(
    "GC71", "maximum of the signed difference",
    "Your maximum looks at the difference with its sign, so that entries which are too small "
    "count for nothing. Take the absolute value first.",
    error=lambda a, n: over(float(np.max(a - n)), largest(n)),
)  # fmt: skip
_wrong(
    "GC72", "length of the difference",
    "You compare lengths of whole gradients, where one wrong entry is a small part. Compare the "
    "largest entries.",
    error=lambda a, n: over(float(np.sqrt(np.sum((a - n) ** 2))), float(np.sqrt(np.sum(n * n)))),
)  # fmt: skip
_wrong(
    "GC73", "angle instead of size",
    "You compare directions, so that a gradient of twice the size passes. Compare entries.",
    error=lambda a, n: 1 - float(np.sum(a * n) / np.sqrt(np.sum(a * a) * np.sum(n * n))),
)  # fmt: skip
_wrong(
    "GC69", "first entries only",
    "You compare the first entries only. An error anywhere else goes unseen.",
    error=lambda a, n: over(abs(float(a.flat[0] - n.flat[0])), largest(n)),
)  # fmt: skip
_wrong(
    "GC79", "divided by the analytic gradient",
    "You divide by the largest entry of what backward returned, the gradient in doubt. Divide by "
    "the largest measured one.",
    error=lambda a, n: largest(a - n) if largest(n) < 1e-7 else largest(a - n) / largest(a),
)  # fmt: skip
_wrong(
    "GC17", "backward compared with itself",
    "You compare what backward returned with itself, which always agrees. One side must come "
    "from finite differences of forward.",
    error=lambda a, n: right(a, a),
)  # fmt: skip
_wrong(
    "GC70", "a truth value",
    "You return whether the check passes. Return the error itself: how wrong a gradient is says "
    "much about why.",
    error=lambda a, n: bool(right(a, n) < 1e-6),
)  # fmt: skip


@wrong(
    "GC58", "the cache of a moved input",
    "You call backward with the cache of the last forward pass, whose input was moved. Its "
    "gradient belongs to that point: keep the cache of x itself.",
)  # fmt: skip
def _last_cache(forward, backward, x, rng, step):
    out, cache = forward(x)
    dout, last = rng.standard_normal(out.shape), [cache]

    def loss(at):
        moved, last[0] = forward(at)
        return np.sum(moved * dout)

    numeric = entry_by_entry(loss, np.array(x, float), step)
    return right(backward(dout, last[0]), numeric)


@wrong(
    "GC75", "dout in the shape of x",
    "You draw dout in the shape of x. It belongs to the output: draw it with the shape of out.",
)  # fmt: skip
def _shape_of_x(forward, backward, x, rng, step):
    return _checker(draw=lambda rng, shape: rng.standard_normal(x.shape))(
        forward, backward, x, rng, step
    )


@wrong(
    "GC77", "output and cache not told apart",
    "Your differences use all that forward returns. It returns two things, out and cache: take "
    "forward(x)[0].",
)  # fmt: skip
def _tuple_as_output(forward, backward, x, rng, step):
    out, cache = forward(x)
    dout = rng.standard_normal(out.shape)
    # NumPy cannot subtract two tuples, whatever they hold.
    numeric = entry_by_entry(lambda at: forward(at), np.array(x, float), step)
    return right(backward(dout, cache), numeric)


@wrong(
    "GC81", "out given to backward",
    "You give backward the output where dout belongs. Its first argument is the gradient that "
    "arrives from above.",
)  # fmt: skip
def _out_for_dout(forward, backward, x, rng, step):
    out, cache = forward(x)
    dout = rng.standard_normal(out.shape)
    numeric = entry_by_entry(lambda at: np.sum(forward(at)[0] * dout), np.array(x, float), step)
    return right(backward(out, cache), numeric)


@wrong(
    "GC78", "x put back by adding the step",
    "You move x itself and put it back by adding and subtracting the step, which leaves rounding "
    "behind. Keep the old value and store it again.",
)  # fmt: skip
def _put_back_by_steps(forward, backward, x, rng, step):
    out, cache = forward(x)
    dout = rng.standard_normal(out.shape)
    numeric = entry_by_entry(lambda at: np.sum(forward(at)[0] * dout), x, step, by_steps)
    return right(backward(dout, cache), numeric)
