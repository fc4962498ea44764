"""What is asked of a numerical gradient and of the error that compares two gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.checks.compare import Observation
from autograder.checks.core import Check, Functions, Property
from autograder.checks.inputs import Array, Rng
from autograder.checks.lent import Lent
from autograder.checks.observe import RefusedError, array, call, leaves_alone
from autograder.kernels.gradcheck import gradient_error, numerical_gradient

SHAPE = (2, 3)


def exact(values: Array) -> Array:
    """Round to numbers that float32 holds too, so that an answer may work in either precision."""
    return values.astype(np.float32).astype(np.float64)


def curved(rng: Rng, shape: tuple[int, ...], outputs: int) -> Lent:
    """Make a function of an array (..., D) to (..., outputs), bent so that steps can be told."""
    features = shape[-1]
    weight = rng.uniform(0.5, 1.5, size=(features, outputs))
    weight *= rng.choice([-1.0, 1.0], size=weight.shape)

    def bent(x: Array) -> Array:
        z = x @ weight
        result: Array = np.sin(2 * z) + z * z / 4
        return result

    return Lent("function", bent, shape)


def as_error(value: Any) -> Array:
    """Take a returned error as an array of one number, so that it is compared relatively."""
    if isinstance(value, bool | np.bool_):
        raise RefusedError("returned a truth value; the error, a number, is needed")
    if isinstance(value, int | float):
        return np.array([float(value)])
    number = array(value, "the error")
    if number.size != 1:
        raise RefusedError(f"returned an array of shape {number.shape}; one number is needed")
    return number.reshape(1)


def _dx(functions: Functions, function: Lent, x: Array, dout: Array, *step: float) -> Array:
    dx = array(call(functions[0], function, x.copy(), dout.copy(), *step), "dx")
    if dx.shape != x.shape:
        raise RefusedError(f"returned dx with shape {dx.shape}; x has {x.shape}")
    return dx


def _both(rng: Rng, shape: tuple[int, ...], outputs: int) -> tuple[Lent, Array, Array]:
    x = exact(rng.uniform(-1.5, 1.5, size=shape))
    dout = exact(rng.standard_normal((*shape[:-1], outputs)))
    return curved(rng, shape, outputs), x, dout


def _slopes(functions: Functions, rng: Rng) -> Observation:
    return {"dx": _dx(functions, *_both(rng, SHAPE, 4))}


def _any_shape(functions: Functions, rng: Rng) -> Observation:
    shapes = ((4,), (2, 2, 2))
    return {f"dx for x {shape}": _dx(functions, *_both(rng, shape, 3)) for shape in shapes}


def _steps(functions: Functions, rng: Rng) -> Observation:
    function, x, dout = _both(rng, SHAPE, 4)
    return {f"dx with step={step}": _dx(functions, function, x, dout, step) for step in (0.2, 1e-3)}


def _points(functions: Functions, rng: Rng) -> Observation:
    function, x, dout = _both(rng, SHAPE, 4)
    _dx(functions, function, x, dout)
    return {
        "the largest number of entries moved at once": function.most_moved(x),
        "the largest distance from x, in steps": np.array([function.farthest(x, 1e-5)]),
    }


def _kept(functions: Functions, rng: Rng) -> Observation:
    # Of 20 entries some keep the rounding that adding and subtracting a step leaves.
    function, x, dout = _both(rng, (4, 5), 2)
    return {"x and dout unchanged": leaves_alone(functions[0], function, x, dout)}


def _integers(functions: Functions, rng: Rng) -> Observation:
    function, _, dout = _both(rng, SHAPE, 4)
    return {"dx": _dx(functions, function, rng.integers(-2, 3, size=SHAPE), dout)}


_FIRST = "slopes of a curved function"
NUMERIC = Check(
    "numerical_gradient",
    "gradcheck",
    (
        Property(_FIRST, 0.4, _slopes, f"x {SHAPE}, dout (2, 4), step = 1e-5", rtol=2e-6),
        Property("any shape", 0.15, _any_shape, "x (4,) and (2, 2, 2), dout (3,) and (2, 2, 3)",
                 rtol=2e-6),
        Property("the argument step", 0.15, _steps, f"x {SHAPE}, step = 0.2 and 1e-3", rtol=2e-6),
        Property("where the function is asked", 0.1, _points, f"x {SHAPE}, step = 1e-5",
                 needs=_FIRST),
        Property("x and dout left alone", 0.1, _kept, "x (4, 5), dout (4, 2)", needs=_FIRST),
        Property("x of integers", 0.1, _integers, f"x {SHAPE} of whole numbers", rtol=2e-6),
    ),
    (numerical_gradient,),
)  # fmt: skip


def _error(functions: Functions, analytic: Array, numeric: Array) -> Array:
    return as_error(call(functions[0], analytic.copy(), numeric.copy()))


def _pair(rng: Rng, shape: tuple[int, ...], scale: float = 1.0) -> tuple[Array, Array]:
    """Draw a measured gradient and a poor one, the sign of its largest entry being negative."""
    numeric = scale * rng.uniform(-1.0, 0.8, size=shape)
    numeric.reshape(-1)[rng.integers(1, numeric.size)] = -1.5 * scale
    return numeric + scale * rng.uniform(-0.4, 0.3, size=shape), numeric


def _values(functions: Functions, rng: Rng) -> Observation:
    shapes = ((6, 5), (12,), (2, 3, 4))
    return {f"error for {shape}": _error(functions, *_pair(rng, shape)) for shape in shapes}


def _one_wrong(functions: Functions, rng: Rng) -> Observation:
    numeric = rng.uniform(-1.0, 1.0, size=(20, 30))
    place = tuple(rng.integers(1, 20, size=2))
    numeric[place] = 1.25
    analytic = numeric.copy()
    analytic[place] = 1.0
    return {"error with one of 600 entries too small by 20 %": _error(functions, analytic, numeric)}


def _zeros(functions: Functions, rng: Rng) -> Observation:
    analytic, numeric = _pair(rng, (8, 5))
    numeric[2:5], analytic[2:5] = 0.0, 1e-3
    numeric[0, :2], analytic[0, :2] = 1e-5, 3e-5
    return {"error with entries of 0": _error(functions, analytic, numeric)}


def _scales(functions: Functions, rng: Rng) -> Observation:
    return {
        f"error of gradients near {scale:g}": _error(functions, *_pair(rng, (4, 5), scale))
        for scale in (1e-5, 1e3)
    }


def _all_zero(functions: Functions, rng: Rng) -> Observation:
    zero, sign = np.zeros((3, 4)), rng.choice([-1.0, 1.0], size=(3, 4))
    return {
        "error of 0 against 0": _error(functions, zero, zero),
        "error of 0.003 against 0": _error(functions, 0.003 * sign, zero),
        "error of 7e-8 against 5e-8": _error(functions, 7e-8 * sign, 5e-8 * sign),
        "error of 6e-7 against 4e-7": _error(functions, 6e-7 * sign, 4e-7 * sign),
    }


ERROR = Check(
    "gradient_error",
    "gradcheck",
    (
        Property("values", 0.4, _values, "gradients (6, 5), (12,) and (2, 3, 4)", rtol=1e-5),
        Property("one wrong entry of many", 0.2, _one_wrong, "gradients (20, 30)", rtol=1e-5),
        Property("entries of zero", 0.15, _zeros, "gradients (8, 5), some entries 0", rtol=1e-5),
        Property("gradients of zero", 0.15, _all_zero, "gradients (3, 4), all near 0", rtol=1e-5),
        Property("any scale", 0.1, _scales, "gradients near 1e-5 and 1000", rtol=1e-5),
    ),
    (gradient_error,),
)
