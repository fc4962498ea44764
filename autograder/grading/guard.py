"""Keep what a test cell does to this process from reaching the next submission."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import sys
import tempfile
import threading
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import FrameType

import numpy as np

SECRET_VARIABLE = "LAYERS_COURSE_SECRET"


class TestCellTooLong(BaseException):
    """A test cell used more processor time than a cell may.

    No Exception, so that an ``except Exception`` in the test cell does not catch it.
    """

    __test__ = False


@contextlib.contextmanager
def undisturbed(seed: int, secret: str | None = None) -> Iterator[None]:
    """Run test cells with seeded random states; put back all that they may change.

    Random states, NumPy's error and print settings, warning filters, the environment, the
    working folder and ``numpy.testing`` are as before afterwards.

    Parameters
    ----------
    seed : int
        For the global random states inside: the same for the same submission.
    secret : str, optional
        The course secret, from which the checks derive their inputs.
    """
    states = random.getstate(), np.random.get_state()  # noqa: NPY002 - that is what is kept
    environment, folder = dict(os.environ), Path.cwd()
    testing = dict(vars(np.testing))
    random.seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002
    if secret is not None:
        os.environ[SECRET_VARIABLE] = secret
    try:
        # Warnings are recorded so as to be dropped: a right answer that warns is right.
        with np.errstate(), np.printoptions(), warnings.catch_warnings(record=True):
            warnings.simplefilter("default")
            yield
    finally:
        random.setstate(states[0])
        np.random.set_state(states[1])  # noqa: NPY002
        if os.environ != environment:
            os.environ.clear()
            os.environ.update(environment)
        os.chdir(folder)
        vars(np.testing).clear()
        vars(np.testing).update(testing)


@contextlib.contextmanager
def course_folder(files: Mapping[str, bytes]) -> Iterator[None]:
    """Run test cells in a folder of their own that holds the assignment's files.

    The files are the instructor's, never a submission's, and may be modules that a test
    imports; those are forgotten afterwards. Without files nothing changes.
    """
    if not files:
        yield
        return
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        for part, content in files.items():
            (folder / part).parent.mkdir(parents=True, exist_ok=True)
            (folder / part).write_bytes(content)
        sys.path.insert(0, str(folder))
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)
            sys.path.remove(str(folder))
            for module, loaded in list(sys.modules.items()):
                if str(getattr(loaded, "__file__", None) or "").startswith(str(folder)):
                    del sys.modules[module]


@contextlib.contextmanager
def processor_limit(seconds: float) -> Iterator[None]:
    """Raise `TestCellTooLong` once this process itself has computed for so long inside.

    Waiting for a student's code does not count: that has limits of its own. Works in the main
    thread of a process on systems that have the timer; elsewhere it does nothing.
    """
    usable = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    if not usable:
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        raise TestCellTooLong(f"the test cell computed for more than {seconds:g} s")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
