"""Starting the sandbox: tiers, refusals, what is shown, several at once, and nothing leaked."""

import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from autograder.sandbox import Sandbox, SandboxRefused, Tier, layout
from autograder.sandbox.tiers import tier_of

MARK = "layers-marker-"
WEAK = frozenset({"namespaces", "landlock", "seccomp"})


def test_tiers_are_ordered():
    assert Tier.A > Tier.B > Tier.C
    assert max(Tier.C, Tier.A, Tier.B) == Tier.A


@pytest.mark.parametrize(("off", "tier"), [
    ((), Tier.A), (("landlock",), Tier.A), (("namespaces",), Tier.B), (("wall",), Tier.B),
    (("seccomp",), Tier.C), (("namespaces", "landlock"), Tier.C),
])  # fmt: skip
def test_a_missing_layer_lowers_the_tier(off, tier):
    layers = dict.fromkeys(("wall", "namespaces", "landlock", "seccomp"), "there")
    assert tier_of(layers | dict.fromkeys(off, "off: no")) == tier


def test_every_layer_reports(each):
    for layer in ("wall", "rlimits", "memory", "user"):
        assert each.layers[layer]
    assert f"tier {each.tier}" in each.describe()
    with each.worker() as worker:
        assert worker.tier == each.tier
        assert worker.layers["rlimits"] == each.layers["rlimits"]


def test_below_tier_b_it_refuses_and_says_what_is_at_risk():
    with pytest.raises(SandboxRefused, match=r"read other students' submissions.*allow_weak"):
        Sandbox.start(disable=WEAK, preload=())


def test_below_the_required_tier_it_refuses_even_if_weak_is_allowed():
    with pytest.raises(SandboxRefused, match="tier A is needed"):
        Sandbox.start(require=Tier.A, allow_weak=True, disable=WEAK, preload=())


def test_without_bubblewrap_the_report_names_our_own_wall():
    with Sandbox.start(allow_weak=True, disable=frozenset({"bubblewrap"}), preload=()) as sandbox:
        assert "bubblewrap" not in sandbox.layers["wall"]


def grade_one(number):
    with Sandbox.start(allow_weak=True, preload=()) as sandbox, sandbox.worker() as worker:
        worker.run_cell(f"def f(x): return x + {number}")
        return worker.call("f", (1,), {})


def test_it_works_in_spawned_processes_at_the_same_time():
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        assert list(pool.map(grade_one, [1, 2])) == [2, 3]


def test_closing_ends_the_zygote_and_its_workers(course):
    with Sandbox.start(allow_weak=True, preload=()) as sandbox:
        stage = sandbox._layout.stage
        program = sandbox._program
        worker = sandbox.worker()
        assert stage.exists()
    assert program.poll() is not None
    assert not stage.exists()
    assert not worker.run_cell("1").ok
    worker.close()
    sandbox.close()


def test_a_killed_grader_takes_everything_with_it():
    code = (
        "import sys, time\nfrom autograder.sandbox import Sandbox\n"
        "sandbox = Sandbox.start(allow_weak=True, preload=())\nworker = sandbox.worker()\n"
        "worker._channel._sock.settimeout(5)\n"
        "print(sandbox._layout.stage, flush=True)\n"
        "worker.run_cell('while True: pass')\n"
    )
    grader = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    stage = Path(grader.stdout.readline().strip())
    time.sleep(0.3)
    grader.kill()
    grader.wait()
    grader.stdout.close()
    deadline = time.monotonic() + 10
    while _mentioning(stage) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert _mentioning(stage) == []
    layout._clear_stages_of_the_dead()
    assert not stage.exists()


def _mentioning(stage):
    listed = subprocess.run(["ps", "-eo", "stat,args"], capture_output=True, text=True, check=True)
    return [line for line in listed.stdout.splitlines() if str(stage) in line and line[0] != "Z"]


LOOK = """
import gc, os, re, sys
pattern = re.compile(b"layers-mar" + b"ker-" + rb"[0-9a-f]{32}")
found = set()
def search(place, data):
    found.update((place, m.decode()) for m in pattern.findall(data))
for name, value in os.environ.items():
    search("environment", (name + "=" + value).encode())
for path in ("/proc/self/environ", "/proc/1/environ", "/proc/self/cmdline"):
    try:
        search(path, open(path, "rb").read())
    except OSError:
        pass
try:
    memory = open("/proc/self/mem", "rb", 0)
    for line in open("/proc/self/maps"):
        start, end = (int(x, 16) for x in line.split()[0].split("-"))
        if line.split()[1][0] == "r" and end - start < 1 << 28:
            try:
                memory.seek(start)
                search("memory", memory.read(end - start))
            except (OSError, ValueError, OverflowError):
                pass
    looked = True
except OSError:
    looked = False
for folder in FOLDERS:
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                with open(os.path.join(parent, name), "rb") as f:
                    search("files", f.read(1 << 20))
            except OSError:
                pass
"""


def test_planted_markers_are_nowhere_in_a_worker(each, course, monkeypatch):
    # In the grader's memory, its environment, and files of the course; the sandbox was started
    # before, so that a second one is started while the markers are there.
    marks = {place: MARK + os.urandom(16).hex() for place in ("memory", "environment", "file")}
    monkeypatch.setenv("LAYERS_COURSE_SECRET", marks["environment"])
    (course.root / "hidden_tests.py").write_text(marks["file"])
    disabled = {
        Tier.A: frozenset(), Tier.B: frozenset({"namespaces"}), Tier.C: WEAK,
    }[each.tier]  # fmt: skip
    folders = ["/tmp", "/var/tmp", "/sandbox", "/submission", str(course.root), "/dev/shm"]
    with Sandbox.start(
        allow_weak=True, disable=disabled, preload=()
    ) as sandbox, sandbox.worker() as worker:
        cell = worker.run_cell(LOOK.replace("FOLDERS", repr(folders if each.tier > Tier.C else [])))
        assert cell.ok, cell.outputs
        assert worker.lookup("looked") == (each.tier != Tier.B)
        worker.run_cell("found = sorted(found)")
        assert worker.lookup("found") == []


def test_the_search_for_markers_finds_one_that_is_there(best):
    with best.worker({"note.txt": (MARK + "0" * 32).encode()}) as worker:
        worker.run_cell(LOOK.replace("FOLDERS", "['/submission']"))
        worker.run_cell("places = sorted({place for place, _ in found})")
        assert "files" in worker.lookup("places")


def test_an_installed_grader_is_masked(best):
    """Not only an editable install: a copy of the grader in site-packages looks empty."""
    folder = Path(tempfile.mkdtemp(prefix="layers-venv-"))
    folder.chmod(0o755)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    (site,) = folder.glob("lib/python*/site-packages")
    package = site / "autograder"
    source = Path(layout.__file__).parents[1]
    subprocess.run(["cp", "-r", source, package], check=True)
    ours = [path for path in sys.path if path.endswith("site-packages")]
    (site / "libraries.pth").write_text("\n".join(ours))
    code = f"""
import sys; sys.meta_path[:] = [f for f in sys.meta_path if "ditable" not in repr(f)]
import autograder; assert autograder.__file__.startswith({str(folder)!r}), autograder.__file__
from autograder.sandbox import Sandbox
look = '''
import os
try:
    seen = os.listdir({str(package)!r})
    open({str(package / "checks" / "core.py")!r}).read()
    seen = "works"
except OSError as error:
    seen = type(error).__name__
import numpy
'''
for disabled in ((), ("bubblewrap",), ("namespaces",)):
    with Sandbox.start(allow_weak=True, disable=frozenset(disabled), preload=()) as sandbox:
        with sandbox.worker() as worker:
            cell = worker.run_cell(look)
            assert cell.ok, cell.outputs
            print(sandbox.tier, worker.lookup("seen"))
"""
    done = subprocess.run(
        [folder / "bin" / "python", "-c", code], capture_output=True, text=True, cwd="/"
    )
    subprocess.run(["rm", "-r", folder], check=True)
    assert done.returncode == 0, done.stderr
    seen = {"A": "FileNotFoundError", "B": "PermissionError", "C": "works"}
    tiers = [line.split() for line in done.stdout.splitlines()]
    assert len(tiers) == 3
    assert all(outcome == seen[tier] for tier, outcome in tiers)
    assert tiers[0][0] == str(best.tier)
