"""The one place that decides how loops are compiled and shared among threads.

`compiled` makes machine code of a plain loop. `by_parts` does so with a loop over a range, and
lets several threads take a part of the range each when there is much to do. With the environment
variable ``NUMBA_DISABLE_JIT=1`` the loops run as ordinary Python: slow, but a debugger and a
coverage tool see every line. ``NUMBA_NUM_THREADS`` sets the number of threads.

Why not numba's own ``parallel=True``: its OpenMP threads, which it prefers once PyTorch is loaded,
end a process that forks later; its built-in ones end a process in which two callers meet, and on
two cores they often ran one after the other; and every loop would be compiled twice, the parallel
version taking three times as long. Threads of Python have none of this, as compiled loops release
the interpreter.
"""

import functools
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from types import FunctionType
from typing import Any

import numba

# Without `reassoc` LLVM keeps the order of a float sum and cannot use vector instructions for it.
# `nsz` is what makes it accept the reordering, `contract` allows fused multiply-add. The flags
# `nnan` and `ninf` are left out on purpose: they let the compiler assume that NaN and infinity do
# not occur, and a diverging network must show up as such.
FASTMATH = frozenset({"reassoc", "nsz", "contract"})

# Number of array elements from which several threads are faster than one. Handing over a part takes
# some 40 microseconds, in which one core normalizes rows of about this many elements.
PARALLEL_FROM = 200_000

_THREADS: int = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]


def compiled(loop: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a plain loop.

    Parameters
    ----------
    loop : function
        A loop over arrays in the subset of Python that numba compiles.

    Returns
    -------
    function
        The same loop as machine code, compiled at the first call and kept on disk where possible.
    """
    named = _named_by_flags(loop)
    try:
        return _jit(named, cache=True)
    except RuntimeError:
        # Neither the folder of the source nor the user's cache folder is writable. Numba finds the
        # second by itself when only the source is read-only.
        return _jit(named, cache=False)


class by_parts:  # noqa: N801 (used as a decorator)
    """Compile a loop over a range, which several threads share if there is much to do.

    Parameters
    ----------
    loop : function
        ``loop(first, end, *arrays)`` with an outer loop over ``range(first, end)``. No two turns of
        it may write to the same place. The result then does not depend on the number of threads.
    """

    def __init__(self, loop: Callable[..., Any]) -> None:
        self.__doc__ = loop.__doc__
        self._loop = compiled(loop)

    def __call__(self, turns: int, elements: int, *arrays: Any) -> None:
        """Run ``loop`` over ``range(turns)``, with threads from PARALLEL_FROM `elements` on."""
        parts = max(1, min(_THREADS, turns)) if elements >= PARALLEL_FROM else 1
        bounds = [turns * part // parts for part in range(parts + 1)]
        mine, *theirs = pairwise(bounds)
        others = [_pool(os.getpid()).submit(self._loop, *part, *arrays) for part in theirs]
        # The caller works too: a thread that goes to sleep here would have to be woken again.
        self._loop(*mine, *arrays)
        for other in others:
            other.result()


@functools.cache
def _pool(process: int) -> ThreadPoolExecutor:
    """Start the threads of this process; those of a parent do not survive a fork."""
    return ThreadPoolExecutor(max(1, _THREADS - 1), "layerlab")


def _jit(loop: Callable[..., Any], cache: bool) -> Callable[..., Any]:
    decorate = numba.njit(
        cache=cache,
        fastmath=set(FASTMATH),
        nogil=True,
        # Division without a test for zero: the test would stop vectorization.
        error_model="numpy",
    )
    return decorate(loop)


def _named_by_flags(loop: Callable[..., Any]) -> Callable[..., Any]:
    """Copy the loop under a name that ends in the flags.

    Numba's files on disk go by name, line and bytecode, not by options: without this, code that was
    compiled with other flags would be used after a change of the flags.
    """
    assert isinstance(loop, FunctionType)
    copy = FunctionType(
        loop.__code__, loop.__globals__, loop.__name__, loop.__defaults__, loop.__closure__
    )
    copy.__doc__ = loop.__doc__
    copy.__module__ = loop.__module__
    copy.__qualname__ = "_".join((loop.__qualname__, *sorted(FASTMATH)))
    return copy
