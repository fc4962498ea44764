"""Attacks from inside a submission: the outcome at each tier is the one that we state."""

import os
import platform
import subprocess
import time
from pathlib import Path

import pytest

from autograder.sandbox import Limits, Sandbox, Tier, WorkerGone
from tests.sandbox.attacks import FILES, PRELUDE, PROCESSES
from tests.sandbox.attacks_outside import KERNEL, NETWORK
from tests.sandbox.conftest import DISABLED

ATTACKS = [*FILES, *PROCESSES, *NETWORK, *KERNEL]
SMALL = Limits(call_seconds=5, cell_seconds=10, disk_mb=12, file_mb=4, memory_mb=512)


def outcome(worker, code):
    cell = worker.run_cell(code)
    assert cell.ok, cell.outputs
    return worker.lookup("result")


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_attack(each, course, attack):
    if attack in KERNEL and platform.machine() != "x86_64":
        pytest.skip("numbers of system calls are those of x86-64")
    with each.worker(limits=SMALL) as worker:
        worker.run_cell(course.names())
        got = outcome(worker, attack.code)
    allowed = attack.outcomes[str(each.tier)]
    assert allowed == (None,) or got in allowed
    if each.tier > Tier.C:
        assert course.gradebook.read_text() == "grades"
        assert course.victim.poll() is None
        with pytest.raises(TimeoutError):
            course.listener.accept()
    for left in Path("/dev/shm").glob("layers-attack-*"):
        assert each.tier == Tier.C
        left.unlink()


def test_there_are_enough_attacks():
    assert len({attack.code for attack in ATTACKS}) == len(ATTACKS) >= 60


def test_a_fork_bomb_stays_within_its_limit(each):
    if each.tier == Tier.C:
        pytest.skip("at tier C nothing of ours contains it; this machine is shared")
    bomb = PRELUDE + (
        "made = 0\n"
        "def attempt():\n"
        "    global made\n"
        "    while made < 500:\n"
        "        if os.fork() == 0:\n"
        "            time.sleep(30)\n"
        "            os._exit(0)\n"
        "        made += 1\n"
        "    return 'works'\n"
        "result = run(attempt)\n"
    )
    with each.worker(limits=Limits(processes=32)) as worker:
        assert outcome(worker, bomb) in ("BlockingIOError", "PermissionError")
        assert worker.lookup("made") < 32

    assert_usable(each)


def test_only_at_tier_c_can_a_submission_end_the_sandbox(each):
    end = "import os\nos.kill(os.getppid(), 9)"
    if each.tier > Tier.C:
        with each.worker() as worker:
            worker.run_cell(end)
        assert_usable(each)
        return
    with Sandbox.start(disable=DISABLED["C"], allow_weak=True, preload=()) as sandbox:
        with sandbox.worker() as worker:
            worker.run_cell(end)
        with pytest.raises(WorkerGone, match="start a new one"):
            sandbox.worker()


def assert_usable(sandbox):
    with sandbox.worker() as worker:
        worker.run_cell("def double(x): return 2 * x")
        assert worker.call("double", (21,), {}) == 42


def processes_with(text):
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
    return [line for line in listed.stdout.splitlines() if text in line and "ps -eo" not in line]


def test_nothing_outlives_a_submission(each):
    seconds = f"{4000 + os.getpid() % 1000}.{time.time_ns() % 10**6}"
    daemon = PRELUDE + (
        "def attempt():\n"
        "    if os.fork() == 0:\n"
        "        os.setsid()\n"
        "        if os.fork() == 0:\n"
        f"            os.execvp('sleep', ['sleep', '{seconds}'])\n"
        "        os._exit(0)\n"
        "    time.sleep(0.3)\n"
        "    return 'started'\n"
        "result = run(attempt)\n"
    )
    with each.worker() as worker:
        got = outcome(worker, daemon)
        assert got == ("PermissionError" if each.tier == Tier.B else "started")
        assert len(processes_with(seconds)) == (0 if each.tier == Tier.B else 1)
    assert processes_with(seconds) == []


def test_memory_of_all_processes_together_is_bounded(each):
    hoard = PRELUDE + (
        "def attempt():\n"
        "    import numpy as np\n"
        "    for _ in range(6):\n"
        "        if os.fork() == 0:\n"
        "            kept = np.ones(80 << 20, np.uint8)\n"
        "            time.sleep(20)\n"
        "            os._exit(0)\n"
        "    time.sleep(8)\n"
        "    return 'works'\n"
        "result = run(attempt)\n"
    )
    with each.worker(limits=Limits(memory_mb=200, cell_seconds=10)) as worker:
        cell = worker.run_cell(hoard)
        if each.tier == Tier.B:
            assert worker.lookup("result") == "PermissionError"
        else:
            assert "more than 200 MB" in cell.stopped
            assert "more than 200 MB" in worker.death
    assert_usable(each)


def test_submissions_at_once_do_not_see_each_other(each):
    look = PRELUDE + (
        "def attempt():\n"
        "    return open(folder + '/secret.txt').read()\n"
        "result = run(attempt)\n"
    )
    with each.worker({"secret.txt": b"mine"}) as one, each.worker() as other:
        one.run_cell("import os\nfolder, pid = os.getcwd(), os.getpid()")
        other.run_cell(f"folder = {one.lookup('folder')!r}")
        expected = {"A": "FileNotFoundError", "B": "PermissionError", "C": "mine"}
        assert outcome(other, look) == expected[str(each.tier)]


def test_nothing_is_left_for_the_next_submission(each):
    leave = (
        "import os, pathlib\nleft = []\n"
        "home = pathlib.Path.home()\n"
        "places = ['/tmp', '/var/tmp', '/dev/shm', home, home / '.ipython/profile_default/startup',"
        " home / '.config/matplotlib']\n"
        "for place in places:\n"
        "    try:\n"
        "        os.makedirs(place, exist_ok=True)\n"
        "        (pathlib.Path(place) / 'layers-left.py').write_text('import builtins')\n"
        "        left.append(str(place))\n"
        "    except OSError:\n"
        "        pass\n"
    )
    find = (
        "import pathlib\nhome = pathlib.Path.home()\n"
        "found = [str(p) for q in ('/tmp', '/var/tmp', '/dev/shm', home)"
        " for p in pathlib.Path(q).glob('**/layers-left.py')] if {} else []"
    )
    with each.worker() as worker:
        assert worker.run_cell(leave).ok
        assert worker.lookup("left")
    with each.worker() as worker:
        worker.run_cell(find.format(each.tier > Tier.B))
        assert worker.lookup("found") == []
    for place in ("/tmp", "/var/tmp", "/dev/shm"):
        left = Path(place) / "layers-left.py"
        assert left.exists() == (each.tier == Tier.C)
        left.unlink(missing_ok=True)


@pytest.mark.parametrize(
    "code",
    [
        "import os\nos._exit(0)",
        "import ctypes\nctypes.string_at(0)",
        "import os\nos.execv('/bin/true', ['true'])\n",
        "import ctypes, mmap\n"
        "page = mmap.mmap(-1, 4096, prot=7)\n"
        "page.write(bytes.fromhex('b814000000cd80c3'))\n"  # getpid by the 32-bit way in
        "start = ctypes.addressof(ctypes.c_char.from_buffer(page))\n"
        "ctypes.CFUNCTYPE(ctypes.c_int)(start)()\nimport os; os._exit(3)",
    ],
    ids=["exit", "crash", "become another program", "32-bit system call"],
)
def test_a_worker_that_ends_itself_costs_only_itself(each, code):
    if "mmap" in code and platform.machine() != "x86_64":
        pytest.skip("machine code of x86")
    with each.worker() as worker:
        cell = worker.run_cell(code)
        if each.tier == Tier.B and "execv" in code:
            assert not cell.ok
            assert worker.alive
            return
        assert cell.stopped
        assert worker.death
        assert not worker.run_cell("1").ok
    assert_usable(each)
