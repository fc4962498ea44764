"""A Tensor that remembers how it was computed, and differentiates that.

Every operation gives a new Tensor that knows its parents and a closure: given the gradient with
respect to the result, the closure returns one gradient per parent. `Tensor.backward` walks from a
loss back to everything it was computed from, and adds up what arrives at each Tensor.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

# From the gradient with respect to an operation's result to those of its parents, in their order.
Closure = Callable[[np.ndarray], tuple[np.ndarray, ...]]


def unbroadcast(gradient: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Sum a gradient over the axes along which NumPy has stretched an array of this shape.

    An entry that was used several times gets the sum of the gradients of its uses.
    """
    new = gradient.ndim - len(shape)
    stretched = [new + i for i, n in enumerate(shape) if n == 1 and gradient.shape[new + i] != 1]
    return gradient.sum(axis=(*range(new), *stretched), keepdims=True).reshape(shape)


class Tensor:
    """An array of floats, its gradient, and where it came from.

    Parameters
    ----------
    data : array_like of floats
        The values.
    parents : tuple of Tensor
        What the values were computed from; none for parameters and inputs.
    closure : function, optional
        From the gradient with respect to `data` to one gradient per parent. It need not undo
        broadcasting: `backward` does.

    Attributes
    ----------
    data : ndarray
        The values.
    grad : ndarray or None
        Gradient of the loss with respect to `data`, after `backward`.
    """

    # Lets NumPy leave `array * tensor` to the Tensor.
    __array_ufunc__ = None

    def __init__(
        self, data: Any, parents: tuple["Tensor", ...] = (), closure: Closure | None = None
    ) -> None:
        self.data = np.asarray(data)
        if self.data.dtype.kind != "f":
            raise TypeError(f"Tensor(data): data must be floats; got dtype {self.data.dtype}.")
        self.grad: np.ndarray | None = None
        self.parents, self.closure = parents, closure

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the values."""
        return self.data.shape

    def backward(self) -> None:
        """Add d(self)/d(t) to ``t.grad`` for every Tensor t that this number was computed from.

        Raises
        ------
        ValueError
            If this Tensor is not a single number.
        """
        if self.data.size != 1:
            raise ValueError(
                f"Tensor.backward(): only a single number has a gradient; got shape {self.shape}. "
                "Take its sum or mean first."
            )
        arrived: dict[Tensor, np.ndarray] = {self: np.ones_like(self.data)}
        # Children come before their parents, so that a gradient is complete when it is passed on.
        for tensor in reversed(self._ancestors()):
            gradient = arrived.pop(tensor)
            tensor.grad = gradient if tensor.grad is None else tensor.grad + gradient
            if tensor.closure is None:
                continue
            for parent, part in zip(tensor.parents, tensor.closure(gradient), strict=True):
                part = unbroadcast(part, parent.shape)
                arrived[parent] = arrived[parent] + part if parent in arrived else part

    def _ancestors(self) -> "list[Tensor]":
        """List this Tensor and all it came from, parents before children."""
        order: list[Tensor] = []
        seen: set[Tensor] = set()
        waiting = [(self, False)]
        # A stack of our own: the graph of a long computation is deeper than Python's.
        while waiting:
            tensor, parents_done = waiting.pop()
            if parents_done:
                order.append(tensor)
            elif tensor not in seen:
                seen.add(tensor)
                waiting.append((tensor, True))
                waiting += [(parent, False) for parent in tensor.parents]
        return order

    def _wrap(self, other: Any) -> "Tensor":
        # The dtype is kept: a float32 computation stays one.
        return other if isinstance(other, Tensor) else Tensor(np.asarray(other, self.data.dtype))

    def __add__(self, other: Any) -> "Tensor":
        """Add, with NumPy's broadcasting."""
        other = self._wrap(other)
        return Tensor(self.data + other.data, (self, other), lambda dout: (dout, dout))

    def __mul__(self, other: Any) -> "Tensor":
        """Multiply entry by entry."""
        other = self._wrap(other)
        a, b = self.data, other.data
        return Tensor(a * b, (self, other), lambda dout: (dout * b, dout * a))

    def __truediv__(self, other: Any) -> "Tensor":
        """Divide entry by entry."""
        other = self._wrap(other)
        out = self.data / other.data
        return Tensor(
            out, (self, other), lambda dout: (dout / other.data, -dout * out / other.data)
        )

    def __pow__(self, exponent: float) -> "Tensor":
        """Raise each entry to a fixed power."""
        x = self.data
        return Tensor(x**exponent, (self,), lambda dout: (dout * exponent * x ** (exponent - 1),))

    def __neg__(self) -> "Tensor":
        """Change the sign."""
        return Tensor(-self.data, (self,), lambda dout: (-dout,))

    def __sub__(self, other: Any) -> "Tensor":
        """Subtract."""
        return self + -self._wrap(other)

    def __rsub__(self, other: Any) -> "Tensor":
        """Subtract from a number."""
        return -self + other

    def __rtruediv__(self, other: Any) -> "Tensor":
        """Divide a number by each entry."""
        return self._wrap(other) / self

    __radd__, __rmul__ = __add__, __mul__

    def __matmul__(self, other: "Tensor") -> "Tensor":
        """Multiply matrices of shapes (..., N, D) and (..., D, M), or (D, M)."""
        a, b = self.data, other.data

        def closure(dout: np.ndarray) -> tuple[np.ndarray, ...]:
            if b.ndim == 2:
                # One large product instead of many small ones that would be added up.
                db = a.reshape(-1, a.shape[-1]).T @ dout.reshape(-1, dout.shape[-1])
            else:
                db = a.swapaxes(-1, -2) @ dout
            return dout @ b.swapaxes(-1, -2), db

        return Tensor(a @ b, (self, other), closure)

    # Shapes and sums.

    def sum(self, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> "Tensor":
        """Sum over one axis, several, or all."""

        def closure(dout: np.ndarray) -> tuple[np.ndarray]:
            if axis is not None and not keepdims:
                dout = np.expand_dims(dout, axis)
            return (np.broadcast_to(dout, self.shape),)

        return Tensor(self.data.sum(axis=axis, keepdims=keepdims), (self,), closure)

    def mean(self, axis: int | tuple[int, ...] | None = None, keepdims: bool = False) -> "Tensor":
        """Take the mean over one axis, several, or all."""
        total = self.sum(axis, keepdims)
        return total * (total.data.size / self.data.size)

    def reshape(self, *shape: int) -> "Tensor":
        """Give the values another shape, in the same order."""
        return Tensor(self.data.reshape(shape), (self,), lambda dout: (dout.reshape(self.shape),))

    def transpose(self, *axes: int) -> "Tensor":
        """Reorder the axes; without `axes` reverse them."""
        order = axes or tuple(reversed(range(self.data.ndim)))
        back = np.argsort(order)
        return Tensor(self.data.transpose(order), (self,), lambda dout: (dout.transpose(back),))

    def __getitem__(self, index: Any) -> "Tensor":
        """Pick entries, by row numbers for instance; the gradients of repeated ones add up."""

        def closure(dout: np.ndarray) -> tuple[np.ndarray]:
            dx = np.zeros_like(self.data)
            np.add.at(dx, index, dout)
            return (dx,)

        return Tensor(self.data[index], (self,), closure)

    # Functions of each entry.

    def exp(self) -> "Tensor":
        """Take e to the power of each entry."""
        out = np.exp(self.data)
        return Tensor(out, (self,), lambda dout: (dout * out,))

    def log(self) -> "Tensor":
        """Take the natural logarithm."""
        return Tensor(np.log(self.data), (self,), lambda dout: (dout / self.data,))

    def tanh(self) -> "Tensor":
        """Take the hyperbolic tangent."""
        out = np.tanh(self.data)
        return Tensor(out, (self,), lambda dout: (dout * (1 - out**2),))

    def relu(self) -> "Tensor":
        """Replace negative entries by 0."""
        kept = self.data > 0
        return Tensor(self.data * kept, (self,), lambda dout: (dout * kept,))

    def masked_fill(self, mask: np.ndarray, value: float) -> "Tensor":
        """Replace the entries where `mask` is true; nothing flows back through them."""
        filled = np.where(mask, np.asarray(value, self.data.dtype), self.data)
        return Tensor(filled, (self,), lambda dout: (np.where(mask, 0, dout),))

    def softmax(self) -> "Tensor":
        """Make each row positive with sum 1, ``exp(x) / sum(exp(x))`` over the last axis."""
        # Subtracting a constant changes nothing but keeps exp from overflowing.
        powers = (self - self.data.max(-1, keepdims=True)).exp()
        return powers / powers.sum(-1, keepdims=True)
