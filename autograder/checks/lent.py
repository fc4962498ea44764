"""Functions of a check that a student's function calls, here or from behind the boundary."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograder.checks.inputs import Array


class Lent:
    """A function of one array that expects anything as its argument, and remembers what came.

    Parameters
    ----------
    name : str
        How the function is called in its messages.
    function : callable
        Takes a fresh array of float64 of the right shape.
    shape : tuple of int
        Shape of the array.

    Attributes
    ----------
    points : list of ndarray
        Where the function was asked for its value, in order.
    """

    # Whoever stands between us and the student's process may send its calls here.
    may_be_lent = True

    def __init__(self, name: str, function: Callable[[Array], Any], shape: tuple[int, ...]) -> None:
        self.__name__ = name
        self.points: list[Array] = []
        self._function = function
        self._shape = shape

    def __call__(self, x: Any) -> Any:
        """Give the value at `x`; raises ValueError where it has another shape."""
        point = fresh(self.__name__, "x", x, self._shape)
        self.points.append(point)
        return self._function(point.copy())

    def farthest(self, x: Array, step: float) -> float:
        """Give the largest distance of a point from `x`, in steps."""
        moved = [np.max(np.abs(point - x)) for point in self.points]
        return float(max(moved, default=0.0) / step)

    def most_moved(self, x: Array) -> int:
        """Give the largest number of entries that differ from `x` at one point."""
        return max((int(np.sum(point != x)) for point in self.points), default=0)


class LentBackward:
    """A backward pass, right or planted, that remembers the upstream gradients which came.

    Parameters
    ----------
    function : callable
        ``function(dout, cache) -> dx``.
    shape : tuple of int
        Shape of dout.
    cache : type
        Class of what the forward pass gives beside its output.

    Attributes
    ----------
    douts : list of ndarray
        The upstream gradients, in order.
    """

    may_be_lent = True
    __name__ = "backward"

    def __init__(
        self, function: Callable[[Array, Any], Array], shape: tuple[int, ...], cache: type
    ) -> None:
        self.douts: list[Array] = []
        self._function = function
        self._shape = shape
        self._cache = cache

    def __call__(self, dout: Any, cache: Any) -> Array:
        """Give dx; raises where an argument is not what forward and its output ask for."""
        upstream = fresh("backward", "dout", dout, self._shape)
        if type(cache) is not self._cache:
            raise TypeError("backward(dout, cache): cache must be what forward returned second")
        self.douts.append(upstream)
        return self._function(upstream.copy(), cache)


def fresh(function: str, name: str, value: Any, shape: tuple[int, ...]) -> Array:
    """Copy an argument as float64, or raise ValueError with the shape that is asked for."""
    if not isinstance(value, np.ndarray | np.generic) or value.dtype.kind not in "fiub":
        kind = type(value).__name__
        raise TypeError(f"{function}: {name} must be an array of real numbers; got {kind}")
    if value.shape != shape:
        raise ValueError(f"{function}: {name} must have shape {shape}; got {value.shape}")
    return np.array(value, np.float64, subok=False)
