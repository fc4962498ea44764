"""Activation functions and their slopes, with the same bits on every processor.

Only sums, products, quotients and comparisons occur, which every machine rounds alike. The tanh of
a system's library differs from one library to the next in the last digit, and the one of a browser
from both.
"""

from layerlab.jit import reproducible

ACTIVATIONS = ("relu", "tanh", "linear", "gelu")

# Beyond this the tanh of a float32 rounds to 1.
_FLAT = 9.2


@reproducible
def tanh(value):  # type: ignore[no-untyped-def]
    """Hyperbolic tangent, right to 1e-9.

    A continued fraction gives tanh(value / 4) as a quotient a / b, and twice
    ``tanh(2 y) = 2 tanh(y) / (1 + tanh(y)**2)`` turns it into that of value.
    """
    if value > _FLAT:
        return 1.0
    if value < -_FLAT:
        return -1.0
    quarter = 0.25 * value
    square = quarter * quarter
    a = quarter * (945.0 + square * (105.0 + square))
    b = 945.0 + square * (420.0 + 15.0 * square)
    a, b = 2.0 * a * b, a * a + b * b
    return 2.0 * a * b / (a * a + b * b)


@reproducible
def activate(value, activation):  # type: ignore[no-untyped-def]
    """Apply the activation with this number in ACTIVATIONS."""
    if activation == 0:
        # Written so that NaN stays NaN.
        return 0.0 if value < 0.0 else value
    if activation == 1:
        return tanh(value)
    if activation == 3:
        return 0.5 * value * (1.0 + tanh(_inside(value)))
    return value


@reproducible
def slope(value, activation):  # type: ignore[no-untyped-def]
    """Differentiate the activation with this number in ACTIVATIONS; ReLU at 0 gives 0."""
    if activation == 0:
        if value > 0.0:
            return 1.0
        return 0.0 if value <= 0.0 else value
    if activation == 1:
        t = tanh(value)
        return 1.0 - t * t
    if activation == 3:
        t = tanh(_inside(value))
        inside_slope = 0.7978845608028654 * (1.0 + 0.134145 * value * value)
        # Far from zero the cube overflows although nothing is left of the bend.
        bend = (1.0 - t * t) * inside_slope if -_FLAT < value < _FLAT else 0.0
        return 0.5 * (1.0 + t + value * bend)
    return 1.0


@reproducible
def _inside(value):  # type: ignore[no-untyped-def]
    return 0.7978845608028654 * (value + 0.044715 * value * value * value)
