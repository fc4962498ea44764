"""The one place that decides how loops are compiled.

`compiled` gives one machine-code version of a plain loop. `by_size` gives two, serial and parallel,
and picks one at each call. Set the environment variable ``NUMBA_DISABLE_JIT=1`` to run the loops as
ordinary Python: slow, but a debugger and a coverage tool see every line.
"""

import os
import threading
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numba

# Without `reassoc` LLVM keeps the order of a float sum and cannot use vector instructions for it.
# `nsz` is what makes it accept the reordering, `contract` allows fused multiply-add. The flags
# `nnan` and `ninf` are left out on purpose: they let the compiler assume that NaN and infinity do
# not occur, and a diverging network must show up as such.
FASTMATH = frozenset({"reassoc", "nsz", "contract"})

# Numba would choose OpenMP as soon as some other package has loaded it, and OpenMP kills any
# process that forks afterwards. The built-in pool of workers behaves the same everywhere.
if "NUMBA_THREADING_LAYER" not in os.environ:
    numba.config.THREADING_LAYER = "workqueue"  # type: ignore[attr-defined]

# Number of elements from which the parallel version is faster. Waking the workers costs about
# 20 microseconds, which is what one core needs for about this many elements of a row loop.
PARALLEL_FROM = 65_536


def compiled(loop: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a plain loop for one thread.

    Parameters
    ----------
    loop : function
        A loop over arrays in the subset of Python that numba compiles.

    Returns
    -------
    function
        The same loop as machine code, compiled at the first call and kept on disk where possible.
    """
    return _compile(loop, "serial")


class by_size:  # noqa: N801 (used as a decorator)
    """Compile a loop twice, and choose a version at each call by the size of the work.

    Parameters
    ----------
    loop : function
        ``loop(*arrays)`` with its outer loop over ``numba.prange``. No two turns of that loop may
        write to the same place.

    Attributes
    ----------
    serial, parallel : function
        The two compiled versions. Both compute each turn in the same way.
    """

    def __init__(self, loop: Callable[..., Any]) -> None:
        self.__doc__ = loop.__doc__
        self.serial = _compile(loop, "serial")
        self.parallel = _compile(loop, "parallel")

    def __call__(self, elements: int, *arrays: Any) -> Any:
        """Run ``loop(*arrays)``: in parallel if there are `elements` enough."""
        # The pool of workers ends the process when two threads use it at once.
        if elements < PARALLEL_FROM or not _pool_is_free.acquire(blocking=False):
            return self.serial(*arrays)
        try:
            return self.parallel(*arrays)
        finally:
            _pool_is_free.release()


_pool_is_free = threading.Lock()


def _compile(loop: Callable[..., Any], version: str) -> Callable[..., Any]:
    named = _renamed(loop, version)
    try:
        return _jit(named, version, cache=True)
    except RuntimeError:
        # Neither the folder of the source nor the user's cache folder is writable. Numba finds the
        # second by itself when only the source is read-only.
        return _jit(named, version, cache=False)


def _jit(loop: Callable[..., Any], version: str, cache: bool) -> Callable[..., Any]:
    decorate = numba.njit(
        cache=cache,
        parallel=version == "parallel",
        fastmath=set(FASTMATH),
        nogil=True,
        # Division without a test for zero: the test would stop vectorization.
        error_model="numpy",
    )
    return decorate(loop)


def _renamed(loop: Callable[..., Any], version: str) -> Callable[..., Any]:
    """Copy the loop under a name made of its version and flags.

    Numba's files on disk are told apart by name and line, not by options: without this the serial
    and the parallel version would be read in place of each other.
    """
    assert isinstance(loop, FunctionType)
    copy = FunctionType(
        loop.__code__, loop.__globals__, loop.__name__, loop.__defaults__, loop.__closure__
    )
    copy.__doc__ = loop.__doc__
    copy.__module__ = loop.__module__
    copy.__qualname__ = "_".join((loop.__qualname__, version, *sorted(FASTMATH)))
    return copy
