"""The one place that decides how loops are compiled and shared among threads.

`compiled` makes machine code of a plain loop, `reproducible` does so without changing the order of
its sums. `by_parts` compiles a loop over a range, and lets several threads take a part of the range
each when there is much to do. With the environment
variable ``NUMBA_DISABLE_JIT=1`` the loops run as ordinary Python: slow, but a debugger and a
coverage tool see every line. ``NUMBA_NUM_THREADS`` sets the number of threads.

Why not numba's own ``parallel=True``: its OpenMP threads, which it prefers once PyTorch is loaded,
end a process that forks later; its built-in ones end a process in which two callers meet, and on
two cores they often ran one after the other; and every loop would be compiled twice, the parallel
version taking three times as long. Threads of Python have none of this, as compiled loops release
the interpreter.
"""

import ctypes
import functools
import hashlib
import inspect
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from types import FunctionType
from typing import Any

import numba
import numpy as np
from numba import types
from numpy.typing import NDArray

# Arguments of loops `on_buffers`.
Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]

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
    return _cached_if_possible(loop, FASTMATH)


def reproducible(loop: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a plain loop whose results must have the same bits on every processor.

    Sums keep their order and are rounded after each step, so that a page of the book and a notebook
    show the same number. Loops without sums over the inner index are as fast as `compiled` ones.

    Parameters
    ----------
    loop : function
        A loop over arrays in the subset of Python that numba compiles.

    Returns
    -------
    function
        The same loop as machine code, compiled at the first call and kept on disk where possible.
    """
    return _cached_if_possible(loop, frozenset())


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


class on_buffers:  # noqa: N801 (used as a decorator)
    """Compile a reproducible loop over flat buffers, which are given as addresses.

    An address has no length and no negative index, so nothing keeps LLVM from using vector
    instructions, and the same loop can be compiled for the memory of WebAssembly.

    Parameters
    ----------
    loop : function
        Its arguments are annotated as Floats, Doubles, int (int32) or float (float32). It returns
        nothing, and never looks beyond the ends of its buffers.
    """

    def __init__(self, loop: Callable[..., Any]) -> None:
        self.__doc__ = loop.__doc__
        self.__name__ = loop.__name__
        self.loop = loop
        self.kinds = list(inspect.get_annotations(loop, eval_str=True).values())[:-1]

    def __call__(self, *arguments: Any) -> None:
        """Run the loop on arrays and numbers; compiled at the first call."""
        if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
            self.loop(*arguments)
        else:
            self._machine_code(*map(self._checked, self.kinds, arguments))

    @functools.cached_property
    def signature(self) -> Any:
        """The signature, in numba's types."""
        return types.void(*(_NATIVE[kind][0] for kind in self.kinds))

    def llvm(self) -> tuple[str, str]:
        """Compile anew; give the code for LLVM, and the name that the loop has in it."""
        compiled = _jit(self.loop, frozenset(), self.signature, cache=False)
        # A wrapper of that name reports errors to Python; what it wraps is wanted.
        return compiled.inspect_llvm(), compiled.native_name.removeprefix("cfunc.")

    @functools.cached_property
    def _machine_code(self) -> Any:
        code = self._compiled = _cached_if_possible(self.loop, frozenset(), self.signature)
        return ctypes.CFUNCTYPE(None, *(_NATIVE[kind][1] for kind in self.kinds))(code.address)

    def _checked(self, kind: Any, argument: Any) -> Any:
        if kind not in _BUFFERS:
            return argument
        if argument.dtype != _BUFFERS[kind] or not argument.flags.carray:
            raise TypeError(
                f"{self.__name__}: every buffer must be a writable array without gaps, of its "
                f"dtype; got {argument.dtype} for {_BUFFERS[kind]}."
            )
        return argument.ctypes.data


_BUFFERS: dict[Any, Any] = {Floats: np.dtype(np.float32), Doubles: np.dtype(np.float64)}
_NATIVE: dict[Any, tuple[Any, Any]] = {
    Floats: (types.CPointer(types.float32), ctypes.c_void_p),
    Doubles: (types.CPointer(types.float64), ctypes.c_void_p),
    int: (types.int32, ctypes.c_int32),
    float: (types.float32, ctypes.c_float),
}


@functools.cache
def _pool(process: int) -> ThreadPoolExecutor:
    """Start the threads of this process; those of a parent do not survive a fork."""
    return ThreadPoolExecutor(max(1, _THREADS - 1), "layerlab")


def _cached_if_possible(
    loop: Callable[..., Any], flags: frozenset[str], signature: Any = None
) -> Any:
    named = _named_by_what_counts(loop, flags)
    try:
        return _jit(named, flags, signature, cache=True)
    except RuntimeError:
        # Neither the folder of the source nor the user's cache folder is writable. Numba finds the
        # second by itself when only the source is read-only.
        return _jit(named, flags, signature, cache=False)


def _jit(loop: Callable[..., Any], flags: frozenset[str], signature: Any, cache: bool) -> Any:
    options: dict[str, Any] = {
        "cache": cache,
        "fastmath": set(flags),
        # Division without a test for zero: the test would stop vectorization.
        "error_model": "numpy",
    }
    if signature is not None:
        # Called from outside Python's interpreter, which ctypes has released.
        return numba.cfunc(signature, **options)(loop)
    return numba.njit(nogil=True, **options)(loop)


def _named_by_what_counts(loop: Callable[..., Any], flags: frozenset[str]) -> Callable[..., Any]:
    """Copy the loop under a name that ends in the flags and a digest of what it uses.

    Numba's files on disk go by name, line and bytecode, not by options or by the loops that this
    one calls: without this, code from before a change of them would go on being used.
    """
    assert isinstance(loop, FunctionType)
    copy = FunctionType(
        loop.__code__, loop.__globals__, loop.__name__, loop.__defaults__, loop.__closure__
    )
    copy.__doc__ = loop.__doc__
    copy.__module__ = loop.__module__
    copy.__qualname__ = "_".join((loop.__qualname__, *sorted(flags), _digest(loop)))
    return copy


def _digest(loop: FunctionType) -> str:
    """Hash a loop's code, the constants it reads, and the digests of compiled loops it calls."""
    code = loop.__code__
    constants = [value for value in code.co_consts if not hasattr(value, "co_code")]
    parts = [code.co_code.hex(), repr(constants)]
    for name in code.co_names:
        used: Any = loop.__globals__.get(name)
        if hasattr(used, "py_func"):
            parts.append(used.py_func.__qualname__)
        elif isinstance(used, (int, float, np.number)):
            parts.append(repr(used))
    return hashlib.sha256("".join(parts).encode()).hexdigest()[:8]
