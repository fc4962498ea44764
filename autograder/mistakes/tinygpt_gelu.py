"""Known wrong GELUs and their backward passes (ids TG20 to TG44)."""

from __future__ import annotations

import math

import numpy as np

from autograder.mistakes.registry import Family

_C, _A = np.sqrt(2 / np.pi), 0.044715


def _right(x):
    return 0.5 * x * (1 + np.tanh(_C * (x + _A * x**3))), x


def _cached(formula):
    return lambda x: (formula(x), x)


def _times_dout(slope):
    return lambda dout, x: dout * slope(x)


gelu = Family("gelu_forward", _cached)
whole = Family("gelu_forward")
slope = Family("gelu_backward", _times_dout, (_right,))
backward = Family("gelu_backward", partners=(_right,))


def _phi(x):
    values = [0.5 * (1 + math.erf(value / math.sqrt(2))) for value in np.ravel(x)]
    return np.reshape(values, np.shape(x))


def _sigmoid(x):
    return 0.5 * (1 + np.tanh(0.5 * x))


def _exp_tanh(u):
    return (np.exp(u) - np.exp(-u)) / (np.exp(u) + np.exp(-u))


@gelu(
    "TG20", "exact GELU with the error function",
    "You used the exact GELU, x * Phi(x), with the error function. This exercise and GPT-2 use "
    "the form with tanh, which differs by up to 4.7e-4.",
)  # fmt: skip
def exact(x):
    return x * _phi(x)


@gelu(
    "TG21", "sigmoid approximation",
    "You used x * sigmoid(1.702 x), the coarser approximation of the same paper. Use the form "
    "with tanh.",
)  # fmt: skip
def by_sigmoid(x):
    return x * _sigmoid(1.702 * x)


@gelu(
    "TG22", "factor one half missing",
    "Your output is twice as large as it should be: (1 + tanh(...)) runs from 0 to 2, and the "
    "factor 0.5 makes a share of it.",
)  # fmt: skip
def without_half(x):
    return x * (1 + np.tanh(_C * (x + _A * x**3)))


@gelu(
    "TG23", "factor x missing",
    "You return the share 0.5 * (1 + tanh(...)) alone. GELU multiplies x by it.",
)  # fmt: skip
def share_only(x):
    return 0.5 * (1 + np.tanh(_C * (x + _A * x**3)))


@gelu(
    "TG24", "cubic term missing",
    "Inside your tanh stands sqrt(2/pi) * x. The term 0.044715 * x**3 belongs to it.",
)  # fmt: skip
def without_cubic(x):
    return 0.5 * x * (1 + np.tanh(_C * x))


@gelu(
    "TG25", "root missing",
    "You multiplied by 2/pi inside the tanh. It is sqrt(2/pi), about 0.798.",
)  # fmt: skip
def without_root(x):
    return 0.5 * x * (1 + np.tanh(2 / np.pi * (x + _A * x**3)))


@gelu(
    "TG26", "factor only on x",
    "sqrt(2/pi) multiplies x alone in your tanh. It multiplies the whole sum x + 0.044715 x**3.",
)  # fmt: skip
def factor_on_x(x):
    return 0.5 * x * (1 + np.tanh(_C * x + _A * x**3))


@gelu(
    "TG27", "square instead of cube",
    "Your tanh contains x**2, which treats both signs alike. The term is 0.044715 * x**3.",
)  # fmt: skip
def square(x):
    return 0.5 * x * (1 + np.tanh(_C * (x + _A * x**2)))


@gelu(
    "TG28", "1 + forgotten",
    "You multiply x by tanh(...) / 2. The share is 0.5 * (1 + tanh(...)), from 0 to 1.",
)  # fmt: skip
def without_one(x):
    return 0.5 * x * np.tanh(_C * (x + _A * x**3))


@gelu("TG29", "ReLU", "This is ReLU. GELU is smooth at 0 and a little negative left of it.")
def relu(x):
    return np.maximum(x, 0)


@gelu(
    "TG30", "SiLU",
    "This is SiLU, x * sigmoid(x), also called swish. GELU has the form with tanh.",
)  # fmt: skip
def silu(x):
    return x * _sigmoid(x)


@gelu(
    "TG31", "tanh by exponentials",
    "You wrote tanh with exponentials, which overflow for large x: infinity over infinity is NaN. "
    "np.tanh is safe.",
)  # fmt: skip
def overflowing(x):
    return 0.5 * x * (1 + _exp_tanh(_C * (x + _A * x**3)))


@whole(
    "TG32", "x changed in place",
    "Your function changes x itself. The residual stream still needs it: work on a new array.",
)  # fmt: skip
def in_place(x):
    kept = x.copy()
    x *= 0.5 * (1 + np.tanh(_C * (kept + _A * kept**3)))
    return x.copy(), kept


def _inner(x):
    return np.tanh(_C * (x + _A * x**3))


def _bend(x):
    return _C * (1 + 3 * _A * x**2)


@slope(
    "TG33", "second term missing",
    "Your derivative treats the tanh as a constant. The product rule adds a second term: x times "
    "the derivative of the share.",
)  # fmt: skip
def first_term(x):
    return 0.5 * (1 + _inner(x))


@slope(
    "TG34", "inner derivative missing",
    "In your second term the derivative of what stands inside the tanh is missing: multiply by "
    "sqrt(2/pi) * (1 + 3 * 0.044715 * x**2).",
)  # fmt: skip
def without_inner(x):
    return 0.5 * (1 + _inner(x)) + 0.5 * x * (1 - _inner(x) ** 2)


@slope(
    "TG35", "factor 3 missing",
    "The derivative of x**3 is 3 * x**2; in your inner derivative the 3 is missing.",
)  # fmt: skip
def without_three(x):
    return 0.5 * (1 + _inner(x)) + 0.5 * x * (1 - _inner(x) ** 2) * _C * (1 + _A * x**2)


@slope(
    "TG36", "cubic term missing",
    "Your inner derivative is sqrt(2/pi) alone: the term 3 * 0.044715 * x**2 is missing.",
)  # fmt: skip
def without_cubic_slope(x):
    return 0.5 * (1 + _inner(x)) + 0.5 * x * (1 - _inner(x) ** 2) * _C


@slope(
    "TG37", "factor x missing in the second term",
    "Your second term lacks the factor x, which multiplies the derivative of the share.",
)  # fmt: skip
def without_x(x):
    return 0.5 * (1 + _inner(x)) + 0.5 * (1 - _inner(x) ** 2) * _bend(x)


@slope(
    "TG38", "tanh not squared",
    "The derivative of tanh is 1 - tanh**2; you used 1 - tanh.",
)  # fmt: skip
def not_squared(x):
    return 0.5 * (1 + _inner(x)) + 0.5 * x * (1 - _inner(x)) * _bend(x)


@slope(
    "TG39", "half missing in the second term",
    "Your second term is twice too large: the factor 0.5 belongs to both terms.",
)  # fmt: skip
def without_second_half(x):
    return 0.5 * (1 + _inner(x)) + x * (1 - _inner(x) ** 2) * _bend(x)


@slope(
    "TG40", "first term missing",
    "You give the derivative of the share times x. The product rule adds the share itself, "
    "0.5 * (1 + tanh(...)).",
)  # fmt: skip
def second_term(x):
    return 0.5 * x * (1 - _inner(x) ** 2) * _bend(x)


@slope(
    "TG41", "derivative of the exact GELU",
    "Your derivative is that of x * Phi(x). Differentiate the form with tanh that the forward "
    "pass computes.",
)  # fmt: skip
def exact_slope(x):
    return _phi(x) + x * np.exp(-0.5 * x**2) / np.sqrt(2 * np.pi)


@slope(
    "TG42", "derivative of ReLU",
    "This is the derivative of ReLU, 0 or 1. That of GELU changes smoothly.",
)  # fmt: skip
def relu_slope(x):
    return (x > 0).astype(float)


@backward(
    "TG43", "upstream gradient ignored",
    "You return the derivative of GELU without dout. The chain rule multiplies the two.",
)  # fmt: skip
def without_dout(dout, x):
    return first_term(x) + second_term(x)


@backward(
    "TG44", "derivative at the output",
    "You evaluated the derivative at the output of GELU. It is taken at the input x.",
)  # fmt: skip
def at_the_output(dout, x):
    out = _right(x)[0]
    return dout * (first_term(out) + second_term(out))
