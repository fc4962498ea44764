"""Arguments of the kernels: what is accepted, and the words in which the rest is refused.

`call` is how the function is written in messages, such as ``"rmsnorm_forward(x, gamma)"``.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def float_array(call: str, name: str, value: Any, rank: int | None = None) -> NDArray[Any]:
    """Return `value` with plain layout, or raise unless it is an array of float32 or float64."""
    if not isinstance(value, np.ndarray):
        raise TypeError(f"{call}: {name} must be a NumPy array; got {type(value).__name__}.")
    if value.dtype.type not in (np.float32, np.float64):
        raise TypeError(
            f"{call}: {name} must have dtype float32 or float64; got {value.dtype}. "
            f"Convert it with {name}.astype(np.float64)."
        )
    if rank is not None and value.ndim != rank:
        axes = "axis" if rank == 1 else "axes"
        raise ValueError(
            f"{call}: {name} must have {rank} {axes}; got {value.ndim}, shape {value.shape}."
        )
    return _plain(value, value.dtype.type)


def rows(call: str, name: str, value: Any) -> NDArray[Any]:
    """Return `value` as a plain array (..., D) with D >= 1, or raise."""
    value = float_array(call, name, value)
    if value.ndim == 0 or value.shape[-1] == 0:
        raise ValueError(
            f"{call}: {name} must have shape (..., D) with at least one feature, D >= 1; "
            f"got shape {value.shape}."
        )
    return value


def same_shape(call: str, name: str, value: NDArray[Any], other: str, like: NDArray[Any]) -> None:
    """Raise unless `value` has the shape and the dtype of the argument `other`."""
    if value.shape != like.shape:
        raise ValueError(
            f"{call}: {name} must have the shape of {other}, {like.shape}; got {value.shape}."
        )
    same_dtype(call, name, value, other, like)


def same_dtype(call: str, name: str, value: NDArray[Any], other: str, like: NDArray[Any]) -> None:
    """Raise unless `value` has the dtype of the argument `other`."""
    if value.dtype != like.dtype:
        raise TypeError(
            f"{call}: {name} must have the dtype of {other}, {like.dtype}; got {value.dtype}. "
            f"Convert one of them with .astype."
        )


def feature_vector(call: str, name: str, value: Any, x: NDArray[Any]) -> NDArray[Any]:
    """Return `value` as a plain array (D,) that fits `x` (..., D), or raise."""
    value = float_array(call, name, value)
    features = x.shape[-1]
    if value.shape != (features,):
        raise ValueError(
            f"{call}: {name} must have shape (D,) = ({features},), one entry for each feature of "
            f"x; got {value.shape}."
        )
    same_dtype(call, name, value, "x", x)
    return value


def token_ids(call: str, value: Any, vocab_size: int, name: str = "ids") -> NDArray[np.int64]:
    """Return the ids as a plain int64 array, or raise unless all are in 0 .. vocab_size - 1."""
    if not isinstance(value, (np.ndarray, np.integer)):
        raise TypeError(
            f"{call}: {name} must be a NumPy array of integers; got {type(value).__name__}."
        )
    ids = np.asarray(value)
    if ids.dtype.kind not in "iu":
        raise TypeError(f"{call}: {name} must have an integer dtype; got {ids.dtype}.")
    if ids.size and not 0 <= (low := ids.min()) <= (high := ids.max()) < vocab_size:
        wrong = low if low < 0 else high
        place = np.unravel_index(np.argmax(ids == wrong), ids.shape)
        where = "".join(f"[{int(i)}]" for i in place)
        raise ValueError(
            f"{call}: {name} must lie in 0 .. V - 1 = {vocab_size - 1}, the tokens there are; "
            f"got {name}{where} = {wrong}."
        )
    return _plain(ids, np.int64)


def whole_number(call: str, name: str, value: Any, at_least: int = 1) -> int:
    """Return `value` as an int, or raise unless it is an integer of `at_least` or more."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{call}: {name} must be an integer; got {type(value).__name__}.")
    if value < at_least:
        raise ValueError(f"{call}: {name} must be at least {at_least}; got {value}.")
    return int(value)


def number(call: str, name: str, value: Any) -> float:
    """Return `value` as a float, or raise unless it is a real number."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise TypeError(f"{call}: {name} must be a number; got {type(value).__name__}.")
    return float(value)


def non_negative(call: str, name: str, value: Any) -> float:
    """Return `value` as a float, or raise unless it is a finite number of 0 or more."""
    value = number(call, name, value)
    if not 0 <= value < np.inf:
        raise ValueError(f"{call}: {name} must be a finite number of 0 or more; got {value}.")
    return value


def generator(call: str, value: Any) -> np.random.Generator:
    """Return `value`, or raise unless it is a NumPy random generator."""
    if not isinstance(value, np.random.Generator):
        raise TypeError(
            f"{call}: rng must be a np.random.Generator; got {type(value).__name__}. "
            "Make one with np.random.default_rng(seed)."
        )
    return value


def output(
    call: str, value: Any, shape: tuple[int, ...], dtype: np.dtype[Any], **inputs: NDArray[Any]
) -> NDArray[Any]:
    """Return the array to write to: `value` if it fits and is none of `inputs`, or a new one."""
    if value is None:
        return np.empty(shape, dtype)
    if not isinstance(value, np.ndarray):
        raise TypeError(f"{call}: out must be a NumPy array; got {type(value).__name__}.")
    for name, array in inputs.items():
        if np.may_share_memory(value, array):
            raise ValueError(f"{call}: out must not overlap {name}, which is still read.")
    if value.shape != shape or value.dtype != dtype or not value.flags.carray:
        kind = "" if value.flags.carray else ", not contiguous or not writable"
        raise ValueError(
            f"{call}: out must be a writable C-contiguous array of {dtype} with shape {shape}; "
            f"got {value.dtype} with shape {value.shape}{kind}."
        )
    return value


def from_forward(call: str, cache: Any, length: int) -> Any:
    """Return the cache, or raise unless it is a tuple of this length."""
    if not isinstance(cache, tuple) or len(cache) != length:
        forward = call.partition("_backward")[0] + "_forward"
        came = f"tuple of {len(cache)}" if isinstance(cache, tuple) else type(cache).__name__
        raise TypeError(f"{call}: cache must be what {forward} returned second; got {came}.")
    return cache


def _plain(value: NDArray[Any], dtype: type[Any]) -> NDArray[Any]:
    """Return contiguous, aligned, writable memory in the machine's byte order, and no subclass.

    The loops are then compiled once per precision. Other arrays are copied, which takes less time
    than compiling for them.
    """
    return np.require(np.asarray(value), dtype, ["C", "A", "W"])
