"""Known wrong errors between a gradient and the measured one (ids GC...)."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.mistakes.registry import Family, Function

Array = np.ndarray


def _adapt(formula: Function) -> Function:
    def gradient_error(analytic: Array, numeric: Array) -> Any:
        return formula(analytic, numeric)

    return gradient_error


wrong = Family("gradient_error", _adapt)


def largest(values: Array) -> float:
    """Give the largest absolute value."""
    return float(np.max(np.abs(values)))


def over(worst: float, scale: float) -> float:
    """Divide, unless the scale counts as zero."""
    return worst if scale < 1e-7 else worst / scale


def right(a: Array, n: Array) -> float:
    """Give the error as it should be."""
    return over(largest(a - n), largest(n))


def _wrong(id: str, name: str, sentence: str, formula: Function) -> None:
    wrong(id, name, sentence)(formula)


_wrong(
    "GC5", "absolute error",
    "You return the largest difference itself. A gradient of size 1e-6 would pass whatever is "
    "wrong with it: divide by the largest entry of numeric.",
    lambda a, n: largest(a - n),
)  # fmt: skip
_wrong(
    "GC6", "mean instead of maximum",
    "You average the differences. One wrong entry among many then disappears: take the maximum.",
    lambda a, n: over(float(np.mean(np.abs(a - n))), largest(n)),
)  # fmt: skip
_wrong(
    "GC43", "mean difference over mean size",
    "You divide the mean difference by the mean size. One wrong entry among many disappears in "
    "both: take the maximum above and below.",
    lambda a, n: over(float(np.mean(np.abs(a - n))), float(np.mean(np.abs(n)))),
)  # fmt: skip
_wrong(
    "GC44", "root mean square of the differences",
    "You take the root mean square of the differences. One wrong entry among many shrinks in it: "
    "take the maximum.",
    lambda a, n: over(float(np.sqrt(np.mean((a - n) ** 2))), largest(n)),
)  # fmt: skip
_wrong(
    "GC8", "signed mean",
    "You average the differences with their signs, and errors up and down cancel. Take absolute "
    "values, and their maximum.",
    lambda a, n: over(abs(float(np.mean(a - n))), largest(n)),
)  # fmt: skip
_wrong(
    "GC38", "maximum of the signed difference",
    "Your maximum looks at analytic - numeric with its sign, so that entries which are too small "
    "count for nothing. Take the absolute value first.",
    lambda a, n: over(float(np.max(a - n)), largest(n)),
)  # fmt: skip
_wrong(
    "GC39", "largest entry without its sign taken off",
    "You divide by max(numeric). The largest entry may be negative: divide by max(abs(numeric)).",
    lambda a, n: over(largest(a - n), float(np.max(n))),
)  # fmt: skip
_wrong(
    "GC37", "divided by the analytic gradient",
    "You divide by the largest entry of analytic, which is the gradient in doubt. Measure against "
    "numeric.",
    lambda a, n: largest(a - n) if largest(n) < 1e-7 else largest(a - n) / largest(a),
)  # fmt: skip
_wrong(
    "GC46", "divided by the sum of both",
    "You divide by the sum of both largest entries. Here the error is relative to numeric alone.",
    lambda a, n: over(largest(a - n), largest(n) + largest(a)) if largest(n) >= 1e-7
    else largest(a - n),
)  # fmt: skip
_wrong(
    "GC50", "divided by the larger of both",
    "You divide by the larger of the two largest entries. A gradient that is far too large then "
    "never has an error above 1: divide by max(abs(numeric)).",
    lambda a, n: largest(a - n) if largest(n) < 1e-7
    else largest(a - n) / max(largest(a), largest(n)),
)  # fmt: skip
_wrong(
    "GC10", "angle instead of size",
    "You compare directions. A gradient that is twice too long has the right direction, and one "
    "wrong entry hardly turns it: compare entries.",
    lambda a, n: 1 - float(np.sum(a * n) / np.sqrt(np.sum(a * a) * np.sum(n * n))),
)  # fmt: skip
_wrong(
    "GC11", "length of the difference",
    "You divide the length of the difference by the length of the gradient. In a large array one "
    "wrong entry is a small part of a length: compare the largest entries.",
    lambda a, n: over(float(np.sqrt(np.sum((a - n) ** 2))), float(np.sqrt(np.sum(n * n)))),
)  # fmt: skip
_wrong(
    "GC47", "symmetric length of the difference",
    "You divide the length of the difference by the sum of both lengths. In a large array one "
    "wrong entry is a small part of a length: compare the largest entries.",
    lambda a, n: over(
        float(np.sqrt(np.sum((a - n) ** 2))),
        float(np.sqrt(np.sum(n * n)) + np.sqrt(np.sum(a * a))),
    ),
)  # fmt: skip
_wrong(
    "GC35", "entry by entry",
    "You divide entry by entry. Where the right gradient is 0 or tiny, rounding alone gives a "
    "large ratio, and right code is rejected: divide by one number, max(abs(numeric)).",
    lambda a, n: float(np.max(np.abs(a - n) / np.abs(n))),
)  # fmt: skip
_wrong(
    "GC36", "entry by entry, over the sum of both",
    "You divide each difference by the sizes of its two entries. Where both are tiny, rounding "
    "alone gives a large ratio: divide by one number, max(abs(numeric)).",
    lambda a, n: float(np.max(np.abs(a - n) / np.maximum(np.abs(a) + np.abs(n), 1e-8))),
)  # fmt: skip
_wrong(
    "GC51", "entry by entry, over the larger of both",
    "You divide each difference by the larger of its two entries. Where both are tiny, rounding "
    "alone gives a large ratio: divide by one number, max(abs(numeric)).",
    lambda a, n: float(
        np.max(np.abs(a - n) / np.maximum(np.maximum(np.abs(a), np.abs(n)), 1e-8))
    ),
)  # fmt: skip
_wrong(
    "GC16", "no case for gradients of zero",
    "Your function always divides. Where the right gradient is 0 that is 0/0 or a division of "
    "rounding by rounding: below 1e-7 return the difference itself.",
    lambda a, n: largest(a - n) / np.float64(largest(n)),
)  # fmt: skip
_wrong(
    "GC40", "a small number added to the divisor",
    "You add a small number to the divisor. Where the right gradient is 0, rounding is then "
    "divided by that number: below 1e-7 return the difference itself.",
    lambda a, n: largest(a - n) / (largest(n) + 1e-12),
)  # fmt: skip
_wrong(
    "GC41", "divisor of at least 1e-7",
    "You keep the divisor at 1e-7 or more, so that rounding of 1e-11 in a gradient of 0 becomes "
    "1e-4. Below 1e-7 return the difference itself.",
    lambda a, n: largest(a - n) / max(largest(n), 1e-7),
)  # fmt: skip
_wrong(
    "GC42", "small gradients taken for zero",
    "Your limit for a gradient of zero is too high: gradients near 1e-5 are compared absolutely, "
    "and all of them pass. The limit is 1e-7.",
    lambda a, n: largest(a - n) if largest(n) < 1e-3 else right(a, n),
)  # fmt: skip
_wrong(
    "GC48", "0 for a gradient of zero",
    "You return 0 where numeric is about 0, whatever analytic holds. Return the largest "
    "difference there.",
    lambda a, n: 0.0 if largest(n) < 1e-7 else right(a, n),
)  # fmt: skip
_wrong(
    "GC49", "zero decided by the analytic gradient",
    "You look at analytic to tell whether the gradient is about 0. A wrong gradient may be large "
    "where the right one is 0: look at numeric.",
    lambda a, n: largest(a - n) if largest(a) < 1e-7 else largest(a - n) / np.float64(largest(n)),
)  # fmt: skip
_wrong(
    "GC45", "first entries only",
    "You compare the first entries only. An error anywhere else goes unseen.",
    lambda a, n: over(abs(float(a.flat[0] - n.flat[0])), largest(n)),
)  # fmt: skip
_wrong(
    "GC52", "difference of the maxima",
    "You compare the largest entry of one with the largest entry of the other. Subtract first, "
    "entry by entry, then take the maximum.",
    lambda a, n: over(abs(largest(a) - largest(n)), largest(n)),
)  # fmt: skip
_wrong(
    "GC80", "a truth value",
    "You return whether the gradients agree. Return the error itself, a number.",
    lambda a, n: bool(right(a, n) < 1e-6),
)  # fmt: skip
