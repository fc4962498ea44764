"""One warm sandbox per tier for the whole run, and a course folder worth attacking."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from autograder.sandbox import Sandbox, SandboxRefused, Tier
from autograder.sandbox.namespaces import NOBODY

LINUX = sys.platform.startswith("linux")
# What to switch off to get each tier on a machine that could do better.
DISABLED = {
    "A": frozenset(),
    "A-own": frozenset({"bubblewrap"}),
    "B": frozenset({"namespaces"}),
    "C": frozenset({"namespaces", "landlock", "seccomp"}),
}
EVERYONE = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.getuid() == 0 else {}


def _start(name):
    try:
        sandbox = Sandbox.start(disable=DISABLED[name], allow_weak=True)
    except SandboxRefused as refused:
        pytest.skip(f"no sandbox on this machine: {refused}")
    if sandbox.tier != Tier(name[0]):
        tier = sandbox.tier
        why = {layer: text for layer, text in sandbox.layers.items() if text.startswith("off")}
        sandbox.close()
        pytest.skip(f"this machine gives tier {tier} where {name} is tested: {why}")
    return sandbox


@pytest.fixture(scope="session", params=DISABLED)
def each(request):
    """Give a sandbox of each tier in turn; at tier A behind each of the two walls."""
    with _start(request.param) as sandbox:
        yield sandbox


@pytest.fixture(scope="session")
def best():
    """Give the strongest sandbox of this machine."""
    with Sandbox.start(allow_weak=True) as sandbox:
        yield sandbox


@pytest.fixture
def worker(best):
    with best.worker() as one:
        yield one


@dataclass
class Course:
    """What an attack is after; readable and writable by anyone, so that only walls protect it."""

    root: Path
    victim: subprocess.Popen
    listener: socket.socket

    @property
    def gradebook(self):
        return self.root / "gradebook.db"

    def names(self):
        """Give the names that attacks find defined, as the source of a first cell."""
        return (
            f"COURSE = {str(self.root)!r}\nVICTIM = {self.victim.pid}\n"
            f"PORT = {self.listener.getsockname()[1]}\n"
        )


@pytest.fixture
def course():
    root = Path(tempfile.mkdtemp(prefix="layers-course-"))
    (root / "submitted" / "other").mkdir(parents=True)
    (root / "submitted" / "other" / "layernorm.ipynb").write_text("another student's work")
    (root / "gradebook.db").write_text("grades")
    for path in (root, *root.rglob("*")):
        path.chmod(0o777 if path.is_dir() else 0o666)
    victim = subprocess.Popen(["sleep", "300"], **EVERYONE)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.05)
        yield Course(root, victim, listener)
    victim.kill()
    victim.wait()
    shutil.rmtree(root)
