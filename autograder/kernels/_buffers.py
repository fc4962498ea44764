"""Parameters as a model keeps them, arrays by name, and as a loop likes them: one flat buffer."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autograder.kernels import _validate as validate

Arrays = dict[str, NDArray[Any]]
Layout = tuple[tuple[str, tuple[int, ...]], ...]


def layout_of(call: str, params: Arrays, grads: Arrays) -> Layout:
    """Check that gradients fit parameters; list names and shapes, matrices first.

    Raises
    ------
    TypeError, ValueError
        If a name, shape or dtype does not fit.
    """
    for name, value in (("params", params), ("grads", grads)):
        if not isinstance(value, dict):
            raise TypeError(
                f"{call}: {name} must be a dict of arrays by name; got {type(value).__name__}."
            )
    if not params or params.keys() != grads.keys():
        raise ValueError(
            f"{call}: grads must have the names of params, at least one; "
            f"got {sorted(grads)} for {sorted(params)}."
        )
    first = next(iter(params))
    for name, array in params.items():
        own = validate.float_array(call, f"params[{name!r}]", array)
        validate.same_dtype(call, f"params[{name!r}]", own, f"params[{first!r}]", params[first])
        slope = validate.float_array(call, f"grads[{name!r}]", grads[name])
        validate.same_shape(call, f"grads[{name!r}]", slope, f"params[{name!r}]", own)
    names = sorted(params, key=lambda name: params[name].ndim < 2)
    return tuple((name, params[name].shape) for name in names)


def flat(arrays: Arrays, layout: Layout) -> NDArray[Any]:
    """Copy the arrays into one buffer, in the order of the layout."""
    return np.concatenate([np.asarray(arrays[name]).ravel() for name, _ in layout])


def by_name(buffer: NDArray[Any], params: Arrays, layout: Layout) -> Arrays:
    """Cut a buffer into arrays of the layout's shapes, in the order of `params`."""
    ends = np.cumsum([math.prod(shape) for _, shape in layout])[:-1]
    parts = {
        name: part.reshape(shape) for (name, shape), part in zip(layout, np.split(buffer, ends))
    }
    return {name: parts[name] for name in params}
