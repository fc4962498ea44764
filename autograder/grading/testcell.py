"""Run one test cell of the master in this process, and keep what it shows and finds."""

from __future__ import annotations

import contextlib
import io
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from autograder.checks.core import seeding
from autograder.checks.report import Report, listening
from autograder.grading.document import clean
from autograder.grading.guard import TestCellTooLong, processor_limit
from autograder.grading.namespace import Namespace
from autograder.grading.source import compiled

MAX_TEXT = 20_000
MAX_MESSAGE = 300
# Their messages show both sides of a comparison: what is right, too.
_TELLTALE_FILES = ("unittest/case.py", "unittest\\case.py")

Output = dict[str, Any]


@dataclass
class TestRun:
    """What running a test cell gave.

    Attributes
    ----------
    finished : bool
        Whether the cell ran to its end: without that there are no points.
    value : object
        Its last value, None where it shows none.
    outputs : list of dict
        As a kernel would give them, with the reports of the checks as standard output.
    error : str or None
        Type and first line of the error that stopped it.
    reports : list of Report
        What the checks found.
    seconds : float
        How long it took.
    """

    __test__ = False

    finished: bool
    value: Any = None
    outputs: list[Output] = field(default_factory=list)
    error: str | None = None
    reports: list[Report] = field(default_factory=list)
    seconds: float = 0.0


def run_test_cell(
    source: str, namespace: Namespace, salt: str, number: int, processor_seconds: float
) -> TestRun:
    """Run a test cell of the master against proxies of the student's functions.

    Parameters
    ----------
    source : str
        The master's, never the submission's.
    namespace : Namespace
        Entered at the cell's place.
    salt : str
        From which the checks derive their inputs, with the course secret.
    number : int
        Execution count of the cell.
    processor_seconds : float
        How long the cell may compute in this process.
    """
    began = time.perf_counter()
    written = io.StringIO()
    run = TestRun(finished=False)
    with _streams(written), listening() as run.reports, seeding(salt):
        try:
            with processor_limit(processor_seconds):
                run.value = _execute(source, namespace)
            run.finished = True
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            name, message = describe(error)
            run.error = f"{name}: {message}" if message else name
            run.outputs.append(error_output(name, message))
    text = "".join([written.getvalue(), *(f"{report.text()}\n" for report in run.reports)])
    if text:
        stream = {"output_type": "stream", "name": "stdout", "text": clean(text[:MAX_TEXT])}
        run.outputs.insert(0, stream)
    if run.finished and run.value is not None:
        run.outputs.append(_result(run.value, number))
    run.seconds = time.perf_counter() - began
    return run


def describe(error: BaseException) -> tuple[str, str]:
    """Give the name of an error and the first line of its message, without what is right.

    NumPy's and unittest's messages go on to show both sides of the comparison, and a traceback
    would show the test and paths of this machine.
    """
    name = getattr(error, "remote_type", type(error).__name__)
    if isinstance(error, TestCellTooLong):
        name = "TimeoutError"
    if _raised_in(error).endswith(_TELLTALE_FILES):
        return name, "a comparison in the test failed"
    lines = str(error).strip().splitlines()
    return name, clean(lines[0][:MAX_MESSAGE]) if lines else ""


def error_output(name: str, message: str) -> Output:
    """Make an error as a kernel gives it, with no more than its message."""
    line = f"{name}: {message}" if message else name
    return {"output_type": "error", "ename": name, "evalue": message, "traceback": [line]}


def _execute(source: str, namespace: Namespace) -> Any:
    body, last = compiled(source)
    if body is not None:
        exec(body, namespace)
    return None if last is None else eval(last, namespace)


@contextlib.contextmanager
def _streams(written: io.StringIO) -> Iterator[None]:
    with contextlib.redirect_stdout(written), contextlib.redirect_stderr(io.StringIO()):
        yield


def _raised_in(error: BaseException) -> str:
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    return traceback.tb_frame.f_code.co_filename if traceback is not None else ""


def _result(value: Any, number: int) -> Output:
    # nbgrader reads partial credit from this text, and "np.float64(3.0)" is no number to it.
    plain = value.item() if isinstance(value, np.generic) else value
    try:
        text = clean(repr(plain)[:MAX_TEXT])
    except Exception as error:
        text = f"<a value that cannot be shown: {type(error).__name__}>"
    return {
        "output_type": "execute_result",
        "data": {"text/plain": text},
        "metadata": {},
        "execution_count": number,
    }
