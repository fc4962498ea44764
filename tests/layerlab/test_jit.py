"""The JIT options do what their comments say, also where nothing can be cached."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest
from layerlab import jit

ROOT = Path(__file__).parents[2]
SUM = """
def total(x):
    s = x.dtype.type(0)
    for i in range(len(x)):
        s += x[i]
    return s
"""
USE = """
import numpy as np
from autograder.kernels.layernorm import layernorm_forward
x = np.random.default_rng(0).standard_normal({shape})
out, _ = layernorm_forward(x, np.ones(x.shape[-1]), np.zeros(x.shape[-1]))
centered = x - x.mean(-1, keepdims=True)
np.testing.assert_allclose(out, centered / np.sqrt((centered**2).mean(-1, keepdims=True) + 1e-5))
"""


def run(program, folder=ROOT, **environment):
    """Run Python on the program with both packages importable; return what it printed."""
    paths = os.pathsep.join([str(folder), str(folder / "book")])
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={
            **os.environ,
            "PYTHONPATH": paths,
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONWARNINGS": "error",
            **environment,
        },
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def loop_from_text():
    """Define the sum anew; without a file it is compiled each time, so it can be inspected."""
    namespace = {}
    exec(compile(SUM, "<loop>", "exec"), namespace)
    return namespace["total"]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sums_are_vectorized_with_the_flags_and_not_without(dtype):
    x = np.random.default_rng(0).standard_normal(1000).astype(dtype)
    ours, plain = jit.compiled(loop_from_text()), numba.njit(loop_from_text())
    np.testing.assert_allclose(ours(x), plain(x), rtol=1e-3)
    kind = "float>" if dtype == np.float32 else "double>"
    vector_adds = [
        any("fadd" in line and kind in line for line in code.splitlines())
        for code in (next(iter(f.inspect_llvm().values())) for f in (ours, plain))
    ]
    assert vector_adds == [True, False]


def test_sums_keep_nan_and_infinity():
    total = jit.compiled(loop_from_text())
    x = np.ones(100)
    for bad in (np.nan, np.inf, -np.inf):
        x[50] = bad
        np.testing.assert_equal(total(x), bad)
    x[20] = np.inf
    assert np.isnan(total(x))


def test_code_compiled_with_other_flags_is_not_taken_from_the_disk(tmp_path):
    """Numba itself looks at the source only."""
    program = USE.format(shape=(3, 4))
    run(program, NUMBA_CACHE_DIR=str(tmp_path))
    (kept,) = (path.name for path in tmp_path.rglob("*.nbi") if "._forward_" in path.name)
    assert "_".join(sorted(jit.FASTMATH)) in kept


def test_a_change_of_a_called_loop_or_constant_reaches_its_callers():
    """Numba itself looks at the caller's file only."""

    def caller(inner, constant):
        exec(compile(SUM.replace("s += x[i]", inner), "<inner>", "exec"), space := {})
        names = {"total": jit.reproducible(space["total"]), "C": constant}
        exec(compile("def outer(x):\n    return total(x) + C", "<outer>", "exec"), names)
        return jit.reproducible(names["outer"]).py_func.__qualname__

    name = caller("s += x[i]", 1)
    assert caller("s += x[i]", 1) == name
    assert caller("s -= x[i]", 1) != name
    assert caller("s += x[i]", 2) != name


@pytest.mark.parametrize(
    "wrong",
    [np.zeros(4), np.zeros(8, "f4")[::2], np.zeros(4, ">f4")],
    ids=["f8", "gaps", "swapped"],
)
def test_a_loop_on_buffers_refuses_what_is_not_its_memory(wrong):
    def touch(x: jit.Floats, n: int) -> None:
        for i in range(n):
            x[i] = i

    loop = jit.on_buffers(touch)
    x = np.zeros(4, "f4")
    loop(x, 4)
    np.testing.assert_array_equal(x, range(4))
    with pytest.raises(TypeError, match="touch: every buffer must be a writable array"):
        loop(wrong, 4)


@pytest.fixture
def frozen_tree(tmp_path):
    """Copy both packages so that nothing can be cached beside them, not even by root."""
    for package in ("autograder/kernels", "book/layerlab"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=lambda *_: ["__pycache__"])
    (tmp_path / "autograder/__init__.py").touch()
    for folder in [path for path in tmp_path.rglob("*") if path.is_dir()]:
        (folder / "__pycache__").write_text("a file, where numba wants a folder")
    return tmp_path


def test_a_read_only_tree_is_cached_in_the_users_folder(frozen_tree, tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    where = {"HOME": str(home), "XDG_CACHE_HOME": str(home / "cache")}
    run(USE.format(shape=(3, 4)), frozen_tree, **where)
    assert list(home.rglob("*.nbi"))


def test_kernels_work_where_nothing_is_writable(frozen_tree):
    nowhere = str(frozen_tree / "book/layerlab/jit.py/below-a-file")
    where = {"HOME": nowhere, "XDG_CACHE_HOME": nowhere, "IPYTHONDIR": nowhere}
    run(USE.format(shape=(3, 4)), frozen_tree, **where)


@pytest.mark.parametrize("shape", [(3, 4), (210, 1000)])
def test_kernels_work_without_the_compiler(shape):
    run(USE.format(shape=shape), NUMBA_DISABLE_JIT="1")


def test_every_turn_is_run_once_however_the_range_is_shared(monkeypatch):
    def count(first, end, counts, threads):
        for i in range(first, end):
            counts[i] += 1

    counter = jit.by_parts(count)
    for threads in (1, 2, 3, 7):
        monkeypatch.setattr(jit, "_THREADS", threads)
        for turns in (0, 1, 2, 5, 100):
            counts = np.zeros(turns, int)
            counter(turns, jit.PARALLEL_FROM, counts, threads)
            np.testing.assert_array_equal(counts, 1)


def test_an_error_in_another_thread_reaches_the_caller(monkeypatch):
    def fail_at_the_end(first, end, last):
        if end == last:
            raise ValueError("the last part")

    monkeypatch.setattr(jit, "_THREADS", 2)
    with pytest.raises(ValueError, match="the last part"):
        jit.by_parts(fail_at_the_end)(10, jit.PARALLEL_FROM, 10)


def test_many_callers_at_once_and_a_fork_afterwards():
    """Numba's own threads end the process in one of the two cases."""
    program = USE.format(shape=(800, 300)) + (
        "import os\n"
        "from concurrent.futures import ThreadPoolExecutor\n"
        "normalize = lambda _: layernorm_forward(x, x[0], x[0])[0]\n"
        "with ThreadPoolExecutor(4) as pool:\n"
        "    outs = list(pool.map(normalize, range(40)))\n"
        "assert all((other == outs[0]).all() for other in outs)\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    os._exit(0 if (normalize(0) == outs[0]).all() else 1)\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    # Python warns of any fork beside threads from 3.12 on; that it works here is what is tested.
    assert run(program, PYTHONWARNINGS="ignore") == "0\n"
