"""IPython as a notebook's code expects it, without a kernel around it."""

from __future__ import annotations

import ast
import builtins
import getpass
import os
import subprocess
import sys
from typing import Any, NoReturn

from IPython.core import page
from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.error import StdinNotImplementedError
from IPython.core.history import HistoryManager
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.text import LSString, SList

from autograder.sandbox.captured import Captured, Stream

CAPTURED = Captured()

# What a kernel sets, so that programs started by ! neither page nor ask.
ENVIRONMENT = {
    "TERM": "xterm-color", "CLICOLOR": "1", "FORCE_COLOR": "1", "CLICOLOR_FORCE": "1",
    "PAGER": "cat", "GIT_PAGER": "cat", "PIP_NO_INPUT": "1", "PIP_RETRIES": "0",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1", "MPLBACKEND": "module://matplotlib_inline.backend_inline",
}  # fmt: skip

NO_PROGRAMS = "this sandbox starts no programs: the line '!{command}' was skipped\n"


class _Publisher(DisplayPublisher):
    def publish(
        self,
        data: dict[str, Any],
        metadata: dict[str, Any] | None = None,
        source: Any = None,
        *,
        transient: dict[str, Any] | None = None,
        update: bool = False,
        **kwargs: Any,
    ) -> None:
        identity = (transient or {}).get("display_id")
        CAPTURED.display(data, metadata or {}, identity, update)

    def clear_output(self, wait: bool = False) -> None:
        CAPTURED.clear(wait)


class _Hook(DisplayHook):
    _bundle: tuple[dict[str, Any], dict[str, Any]] | None = None

    def write_output_prompt(self) -> None:
        pass

    def write_format_data(self, format_dict: Any, md_dict: Any = None) -> None:
        self._bundle = (format_dict, md_dict or {})

    def finish_displayhook(self) -> None:
        if self._bundle is not None:
            CAPTURED.result(*self._bundle, self.prompt_count)
        self._bundle = None


class Shell(InteractiveShell):
    """An interactive shell whose outputs go to `CAPTURED`."""

    def init_history(self) -> None:
        """Keep history in memory only."""
        self.history_manager = HistoryManager(
            shell=self, parent=self, enabled=False, hist_file=":memory:"
        )
        self.configurables.append(self.history_manager)

    def init_hooks(self) -> None:
        """Show nothing for ``name?``, as a notebook file keeps nothing of it."""
        super().init_hooks()
        self.set_hook("show_in_pager", page.as_hook(lambda *args, **kwargs: None), 99)

    def enable_gui(self, gui: str | None = None) -> None:
        """Do nothing: there are no windows."""

    def ask_exit(self) -> None:
        """Do nothing: ``exit`` in a cell ends no submission."""

    def _showtraceback(self, etype: Any, evalue: Any, stb: list[str]) -> None:
        CAPTURED.error(str(getattr(etype, "__name__", etype)), str(evalue), stb)

    def transform_cell(self, raw_cell: str) -> str:
        """Turn IPython's own syntax into Python, where there is any: looking for it takes long.

        A single line may be a magic without its sign, such as ``pwd``. A prompt copied along,
        ``In [1]: x``, is an annotation to Python. Blank lines at the top do not count as lines.
        """
        plain = "\n" in raw_cell.rstrip() and raw_cell[0] > " " and "In [" not in raw_cell
        if plain and not self.input_transformers_post and _is_python(raw_cell):
            return raw_cell if raw_cell.endswith("\n") else raw_cell + "\n"
        return str(super().transform_cell(raw_cell))

    def should_run_async(self, raw_cell: str, **kwargs: Any) -> bool:
        """Tell whether a cell awaits something; to find out IPython compiles it once more."""
        asks = "await" in raw_cell or "async" in raw_cell
        return asks and bool(super().should_run_async(raw_cell, **kwargs))

    def _format_exception_for_storage(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        # For the history of the session, which nobody reads here: as costly as the traceback shown.
        return {"ename": "", "evalue": "", "traceback": []}

    def system(self, cmd: str) -> None:
        """Run ``!cmd`` inside the sandbox, its output in the cell's standard output."""
        command = self.var_expand(cmd, depth=1)
        try:
            process = _start(command)
        except OSError:
            sys.stderr.write(NO_PROGRAMS.format(command=command))
            self.user_ns["_exit_code"] = 126
            return
        assert process.stdout is not None
        try:
            while chunk := os.read(process.stdout.fileno(), 65536):
                sys.stdout.write(chunk.decode(errors="replace"))
        except KeyboardInterrupt:
            process.kill()
            raise
        finally:
            self.user_ns["_exit_code"] = process.wait()

    system_piped = system_raw = system

    def getoutput(self, cmd: str, split: bool = True, depth: int = 0) -> Any:
        """Run ``x = !cmd`` inside the sandbox and give its output."""
        command = self.var_expand(cmd, depth=depth + 1)
        try:
            output = _start(command).communicate()[0].decode(errors="replace")
        except OSError:
            sys.stderr.write(NO_PROGRAMS.format(command=command))
            output = ""
        return SList(output.splitlines()) if split else LSString(output)


def _is_python(source: str) -> bool:
    try:
        ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _start(command: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command,
        shell=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


def _no_input(prompt: str = "", stream: Any = None) -> NoReturn:
    raise StdinNotImplementedError(
        "raw_input was called, but this frontend does not support input requests."
    )


def make_shell() -> Shell:
    """Make the one shell of this process and route all output and input requests through it."""
    os.environ.update(ENVIRONMENT)
    shell = Shell.instance(display_pub_class=_Publisher, displayhook_class=_Hook)
    # Colours in tracebacks cost three times the traceback, and are hard to read on paper.
    shell.colors = "nocolor"
    assert shell.display_formatter is not None
    shell.display_formatter.ipython_display_formatter.enabled = True
    sys.stdout = Stream(CAPTURED, "stdout")
    sys.stderr = Stream(CAPTURED, "stderr")
    builtins.input = _no_input  # type: ignore[assignment]
    getpass.getpass = _no_input
    return shell


WARM_UP = (
    "import numpy as np\nnp.arange(3.0)\nprint(1)\n%matplotlib inline\n%timeit -n1 -r1 1",
    "1 / 0",
    "%%time\nnp.random.default_rng(0).normal(size=3)",
)
WARM_UP_PLOT = "import matplotlib.pyplot as plt\nplt.plot([1, 2]); plt.title('a')\nplt.show()"


def warm(shell: Shell, preload: tuple[str, ...]) -> None:
    """Run what every notebook runs once, so that workers inherit it warm; then forget it.

    Top-level await is left out: an event loop must not be shared by forked workers.
    """
    cells = [*(f"import {module}" for module in preload), *WARM_UP]
    if any(module.startswith("matplotlib") for module in preload):
        cells.append(WARM_UP_PLOT)
    for source in cells:
        CAPTURED.begin(1 << 20)
        shell.run_cell(source, store_history=False)
        CAPTURED.finish()
    shell.reset(new_session=True)
    shell.execution_count = 1
    for remembered in ("outputs", "exceptions"):
        getattr(shell.history_manager, remembered, {}).clear()
    CAPTURED.begin(0)
    CAPTURED.active = False
