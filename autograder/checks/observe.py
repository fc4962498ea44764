"""Call a student's function and look at what comes back, trusting nothing of it."""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

MAX_ERROR_TEXT = 160


class RefusedError(Exception):
    """The answer cannot be compared: the call failed or returned the wrong kind of thing."""


def call(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a student's function; its prints and warnings cost nothing and reach nobody.

    A print could show the hidden inputs in the feedback, and nbgrader gives 0 points for any
    text on standard error, so both streams go nowhere.

    Raises
    ------
    RefusedError
        If the call raises, with the type and the beginning of the message.
    """
    nowhere = io.StringIO()
    try:
        with (
            contextlib.redirect_stdout(nowhere),
            contextlib.redirect_stderr(nowhere),
            warnings.catch_warnings(),
            np.errstate(all="ignore"),
        ):
            warnings.simplefilter("ignore")
            return function(*args, **kwargs)
    except (Exception, SystemExit) as error:
        raise RefusedError(_describe(error)) from None


def leaves_alone(function: Callable[..., Any], *args: Any) -> bool:
    """Tell whether a call leaves its array arguments as they were.

    Behind a process boundary the function works on copies and reports what it changed, as
    ``function.changed``; in the same process the arrays themselves are compared.

    Raises
    ------
    RefusedError
        If the call raises.
    """
    before = [np.array(value, copy=True) for value in args if isinstance(value, np.ndarray)]
    call(function, *args)
    if getattr(function, "changed", ()):
        return False
    after = [value for value in args if isinstance(value, np.ndarray)]
    return all(np.array_equal(a, b, equal_nan=True) for a, b in zip(before, after))


def _describe(error: BaseException) -> str:
    # An exception that crossed a process boundary carries the name of its original type.
    kind = getattr(error, "remote_type", type(error).__name__)
    if kind == "NotImplementedError":
        return "is not written yet (it raised NotImplementedError)"
    text = " ".join(str(error).split())[:MAX_ERROR_TEXT]
    return f"raised {kind}: {text}" if text else f"raised {kind}"


def array(value: Any, name: str) -> np.ndarray:
    """Take one returned array as float64, or refuse it with the reason.

    Raises
    ------
    RefusedError
        If `value` is not a real numeric NumPy array.
    """
    if value is None:
        raise RefusedError(f"returned None where {name} belongs; is the return statement missing?")
    if not isinstance(value, np.ndarray | np.generic):
        raise RefusedError(f"returned {name} as {type(value).__name__}; a NumPy array is needed")
    if value.dtype.kind not in "fiub":
        raise RefusedError(f"returned {name} with dtype {value.dtype}; real numbers are needed")
    return np.array(value, dtype=np.float64, subok=False)


def unpack(value: Any, names: tuple[str, ...]) -> tuple[Any, ...]:
    """Split a returned tuple by its names, or refuse it with the reason.

    Raises
    ------
    RefusedError
        If `value` is not a tuple or list of that many items.
    """
    wanted = ", ".join(names)
    if not isinstance(value, tuple | list):
        kind = "None" if value is None else type(value).__name__
        raise RefusedError(f"must return {wanted}; it returned {kind}")
    if len(value) != len(names):
        raise RefusedError(f"must return {len(names)} things ({wanted}); it returned {len(value)}")
    return tuple(value)
