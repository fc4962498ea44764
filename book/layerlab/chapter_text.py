"""How numbers are written in the sentences of the book."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

_MINUS = "\N{MINUS SIGN}"
_SUPERSCRIPT = str.maketrans("-0123456789", "\N{SUPERSCRIPT MINUS}⁰¹²³⁴⁵⁶⁷⁸⁹")


def vector(values: ArrayLike, digits: int = 2) -> str:
    """Write a vector as ``(-1.34, 0.45)`` with a true minus sign.

    Parameters
    ----------
    values : array_like, shape (D,)
        The entries.
    digits : int
        Digits after the point.

    Returns
    -------
    str
        The vector.
    """
    entries: NDArray[Any] = np.asarray(values)
    return "(" + ", ".join(number(entry, digits) for entry in entries.ravel()) + ")"


def number(value: float, digits: int = 2) -> str:
    """Write a number with a true minus sign.

    Parameters
    ----------
    value : float
        The number.
    digits : int
        Digits after the point.

    Returns
    -------
    str
        The number.
    """
    # Adding 0 turns the -0.0 that rounding may leave into 0.0.
    return f"{round(float(value), digits) + 0.0:.{digits}f}".replace("-", _MINUS)


def scientific(value: float, digits: int = 1) -> str:
    """Write a number as ``8.0 × 10¹¹``.

    Parameters
    ----------
    value : float
        A finite number.
    digits : int
        Digits after the point of the first factor.

    Returns
    -------
    str
        The number, or plain ``0``.
    """
    if value == 0:
        return "0"
    factor, exponent = f"{value:.{digits}e}".split("e")
    power = str(int(exponent)).translate(_SUPERSCRIPT)
    return f"{factor} \N{MULTIPLICATION SIGN} 10{power}".replace("-", _MINUS)
