"""Cells run as in a Jupyter kernel; the kernel itself is the oracle where it is quick to ask."""

import base64

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from autograder.sandbox import Limits, Tier


def text_of(result, name="stdout"):
    return "".join(o["text"] for o in result.outputs if o.get("name") == name)


CELLS = [
    "import sys\nprint('one')\nprint('two')\nprint('three', file=sys.stderr)\nprint('four')",
    "40 + 2",
    "_ + 1, Out[2], In[2]",
    "from IPython.display import HTML, JSON, Markdown, clear_output, display\n"
    "display(HTML('<b>a</b>'), Markdown('*b*'))\nJSON({'a': [1, None]})",
    "print('gone')\nclear_output()\nprint('kept')",
    "shown = display('first', display_id='x')\nshown.update('second')",
    "1 / 0",
    "def broken(:\n    pass",
    "%%time\nresult = sum(range(10))",
    "%timeit -n1 -r1 -q 1",
    "%config InlineBackend.figure_format = 'png'",
    "import asyncio\nawait asyncio.sleep(0)\nprint('awaited')",
    "get_ipython().user_ns['hidden'] = 5\nhidden;",
    "hidden",
    "!echo from the shell",
    "lines = !echo a; echo b\nlines",
    "%%bash\necho from bash",
    "%%writefile note.txt\nhello",
    "open('note.txt').read()",
    "import warnings\nwarnings.warn('careful')",
    "raise SystemExit(3)",
    "class Rich:\n    def _repr_html_(self): return '<i>rich</i>'\n"
    "    def __repr__(self): return 'plain'\nRich()",
    "   ",
    "%load_ext autoreload",
    "from functools import cache\nhelp(int.bit_length)",
    "'unclosed",
    "%nosuchmagic",
    "print('no newline', end='')",
    "import numpy as np\nnp.float64(3)",
    "input('name? ')",
]


def comparable(outputs):
    """Leave out what differs from run to run: times, frames, and where a stream was flushed."""
    kept, streams = [], {}
    for output in outputs:
        output = dict(output)
        if output["output_type"] == "stream":
            known = streams.setdefault(output["name"], output)
            output["text"] = output["text"].replace("\r\n", "\n")  # a kernel has a terminal
            if known is not output:
                known["text"] += output["text"]
                continue
        if output["output_type"] == "error":
            output = {k: output[k] for k in ("output_type", "ename", "evalue")}
            output["evalue"] = output["evalue"].split(" (")[0]
        kept.append(output)
    for output in kept:  # only now is every stream whole
        if "time:" in output.get("text", "").lower() or "Wall" in output.get("text", ""):
            output["text"] = "times"
        if "warnings.warn" in output.get("text", ""):
            output["text"] = output["text"].split("Warning:")[-1]
    return kept


def test_outputs_equal_those_of_a_kernel(best, tmp_path):
    if best.tier < Tier.A:
        pytest.skip("shell lines run at tier A only")
    client = pytest.importorskip("nbclient")
    notebook = new_notebook(cells=[new_code_cell(source) for source in CELLS])
    resources = {"metadata": {"path": str(tmp_path)}}
    client.NotebookClient(
        notebook, kernel_name="python3", allow_errors=True, resources=resources
    ).execute()
    with best.worker() as worker:
        for source, cell in zip(CELLS, notebook.cells):
            result = worker.run_cell(source)
            assert comparable(result.outputs) == comparable(cell.outputs), source
            assert result.execution_count == cell.execution_count, source


def test_outputs_are_valid_in_a_notebook(best):
    with best.worker() as worker:
        results = [worker.run_cell(source) for source in CELLS if not source.startswith("!")]
    cells = [new_code_cell("", outputs=r.outputs, execution_count=1) for r in results]
    nbformat.validate(new_notebook(cells=cells))


def test_figures_are_kept_as_images(worker):
    plain = worker.run_cell("import matplotlib.pyplot as plt\nplt.plot([1, 2]);")
    asked = worker.run_cell("%matplotlib inline\nplt.plot([1, 2])\nplt.show()\nprint('after')")
    for result in (plain, asked):
        data = [output.get("data", {}) for output in result.outputs]
        (image,) = (bundle["image/png"] for bundle in data if "image/png" in bundle)
        assert base64.b64decode(image).startswith(b"\x89PNG")
    assert asked.outputs[-1]["text"] == "after\n"


@pytest.mark.parametrize("code", ["input('name? ')", "import getpass\ngetpass.getpass()"])
def test_asking_for_input_is_a_clear_error(worker, code):
    result = worker.run_cell(code)
    assert result.outputs[-1]["ename"] == "StdinNotImplementedError"
    assert worker.run_cell("1 + 1").ok


def test_shell_lines_run_inside_or_are_refused_clearly(each):
    with each.worker({"data.txt": b"hello"}) as worker:
        result = worker.run_cell("!cat data.txt\nafter = 1")
        assert result.ok
        if each.tier == Tier.B:
            assert "starts no programs" in text_of(result, "stderr")
        else:
            assert text_of(result) == "hello"
        assert worker.lookup("after") == 1


def test_files_lie_in_the_working_folder(each):
    with each.worker({"data/x.csv": b"1,2\n", "layernorm.ipynb": b"{}"}) as worker:
        worker.run_cell("import os\nnames = sorted(n for n in os.listdir() if n[0] != '.')")
        assert worker.lookup("names") == ["data", "layernorm.ipynb"]
        worker.run_cell("open('new.txt', 'w').write('x')\nread = open('data/x.csv').read()")
        assert worker.lookup("read") == "1,2\n"


@pytest.mark.parametrize("name", ["../escape.txt", "/tmp/escape.txt", "a/../../escape.txt", ""])
def test_file_names_that_lead_out_are_refused(best, name):
    with pytest.raises(ValueError, match="leads out"):
        best.worker({name: b"x"})


def test_libraries_of_the_course_are_there(each):
    with each.worker() as worker:
        result = worker.run_cell("import layerlab, numpy, matplotlib, IPython\nlayerlab.__name__")
        assert result.ok, result.outputs


def test_processes_and_pools_work_at_tier_a(best):
    if best.tier < Tier.A:
        pytest.skip("no processes below tier A")
    code = (
        "import multiprocessing as mp, subprocess, sys\n"
        "def square(x): return x * x\n"
        "with mp.get_context('fork').Pool(2) as pool:\n    squares = pool.map(square, [1, 2, 3])\n"
        "told = subprocess.run([sys.executable, '-c', 'import numpy; print(numpy.pi)'],"
        " capture_output=True, text=True)\n"
    )
    with best.worker() as worker:
        assert worker.run_cell(code).ok
        assert worker.lookup("squares") == [1, 4, 9]
        worker.run_cell("printed = told.stdout, told.returncode")
        assert worker.lookup("printed") == ("3.141592653589793\n", 0)


def test_a_print_flood_costs_kilobytes(best):
    limits = Limits(output_kb=16, cell_seconds=1)
    with best.worker(limits=limits) as worker:
        result = worker.run_cell("while True: print('x' * 1000)")
        assert "longer than 1 s" in result.stopped
        assert 8_000 < sum(len(str(o)) for o in result.outputs) < 40_000
        assert "16 kB" in text_of(result, "stderr")
    with best.worker(limits=Limits(output_kb=16)) as worker:
        result = worker.run_cell("for i in range(100_000): print(i)\n1 / 0")
        assert result.outputs[-1]["ename"] == "ZeroDivisionError"
        assert sum(len(str(o)) for o in result.outputs) < 40_000
        result = worker.run_cell("for i in range(3000): display(i)")
        assert sum(len(str(o)) for o in result.outputs) < 200_000
        assert worker.run_cell("print('quiet')").outputs[0]["text"] == "quiet\n"


def test_a_cell_that_runs_too_long_keeps_what_it_printed(best):
    with best.worker(limits=Limits(cell_seconds=0.7)) as worker:
        result = worker.run_cell("print('before')\nimport time\ntime.sleep(60)")
        assert not result.ok
        assert text_of(result) == "before\n"
        assert "longer than 0.7 s" in result.stopped
        assert worker.run_cell("'still here'").ok


def test_a_cell_that_blocks_signals_ends_the_worker(best):
    code = (
        "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 64))\nwhile True: pass"
    )
    with best.worker(limits=Limits(cell_seconds=0.5)) as worker:
        result = worker.run_cell(code)
        assert "did not stop" in result.stopped
        assert not worker.alive
        assert not worker.run_cell("1").ok


def test_a_patched_shell_still_gives_no_false_outputs(worker):
    worker.run_cell(
        "ip = get_ipython()\nip.set_custom_exc((BaseException,), lambda *a, **k: None)\n"
        "type(ip).showtraceback = lambda *a, **k: None"
    )
    worker.run_cell("1 / 0")
    worker.run_cell("def f(x): return x")
    assert worker.call("f", (1,), {}) == 1
