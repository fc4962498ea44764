"""Attacks on the machine around a submission, each with what must come of it at each tier.

Every attack defines ``attempt()``. What it returns, or the name of the exception that stops
it, is the outcome. `ANY` marks an outcome that depends on the machine and that we promise
nothing about; "works" marks a hole that is known and told to the instructor.
"""

from dataclasses import dataclass
from textwrap import dedent

ANY = None
HIDDEN, DENIED = "FileNotFoundError", "PermissionError"

PRELUDE = """
import ctypes, errno, os, signal, socket, sys, threading, time
def system_call(number, *arguments):
    libc, own = ctypes.CDLL(None, use_errno=True), os.getpid()
    result = libc.syscall(number, *arguments)
    if os.getpid() != own:
        os._exit(0)  # the child of a clone that was let through
    return "works" if result != -1 else errno.errorcode[ctypes.get_errno()]
def run(attempt):
    try:
        return attempt()
    except BaseException as error:
        return type(error).__name__
"""


@dataclass(frozen=True)
class Attack:
    """One attack, and the outcomes that are allowed at tiers A, B and C."""

    name: str
    code: str
    outcomes: dict


def attack(name, code, a, b, c):
    allowed = {t: x if isinstance(x, tuple) else (x,) for t, x in zip("ABC", (a, b, c))}
    return Attack(name, PRELUDE + dedent(code) + "\nresult = run(attempt)\n", allowed)


FILES = [
    attack("read the gradebook", """
        def attempt():
            open(COURSE + "/gradebook.db").read()
            return "works"
        """, HIDDEN, DENIED, "works"),
    attack("write the gradebook", """
        def attempt():
            with open(COURSE + "/gradebook.db", "w") as f:
                f.write("all mine")
            return "works"
        """, (HIDDEN, DENIED), DENIED, "works"),
    attack("replace the gradebook", """
        def attempt():
            open("mine.db", "w").close()
            os.replace("mine.db", COURSE + "/gradebook.db")
            return "works"
        """, (HIDDEN, "OSError"), (DENIED, "OSError"), ("works", "OSError")),
    attack("read another submission", """
        def attempt():
            open(COURSE + "/submitted/other/layernorm.ipynb").read()
            return "works"
        """, HIDDEN, DENIED, "works"),
    attack("list the course", """
        def attempt():
            os.listdir(COURSE)
            return "works"
        """, HIDDEN, DENIED, "works"),
    attack("learn that the course exists", """
        def attempt():
            return "works" if os.path.exists(COURSE) else "no trace"
        """, "no trace", "works", "works"),
    attack("follow a symbolic link out", """
        def attempt():
            os.symlink(COURSE + "/gradebook.db", "mine.txt")
            open("mine.txt").read()
            return "works"
        """, HIDDEN, DENIED, "works"),
    attack("hard link the gradebook", """
        def attempt():
            os.link(COURSE + "/gradebook.db", "mine.txt")
            return "works"
        """, HIDDEN, (DENIED, "OSError"), ANY),
    attack("walk up from the own folder", """
        def attempt():
            open("../" * 12 + COURSE + "/gradebook.db").read()
            return "works"
        """, HIDDEN, DENIED, "works"),
    attack("read the passwords", """
        def attempt():
            open("/etc/shadow").read()
            return "works"
        """, HIDDEN, DENIED, DENIED),
    attack("see the home folders", """
        def attempt():
            import glob
            return "works" if glob.glob("/home/*/*") + glob.glob("/root/.[a-oq-z]*") else "nothing"
        """, "nothing", "nothing", ANY),
    attack("change a library for the next student", """
        def attempt():
            import numpy
            open(numpy.__file__, "r+").close()
            return "works"
        """, (DENIED, "OSError"), DENIED, ANY),
    attack("change the worker's code", """
        def attempt():
            import autograder.sandbox.worker as worker
            open(worker.__file__, "r+").close()
            return "works"
        """, (DENIED, "OSError"), DENIED, ANY),
    attack("import the checks", """
        def attempt():
            import importlib
            for name in ("checks", "kernels", "mistakes", "grading"):
                try:
                    importlib.import_module("autograder." + name)
                    return "works"
                except ImportError:
                    pass
            return "nothing"
        """, "nothing", "nothing", ANY),
    attack("write one large file", """
        def attempt():
            written = 0
            try:
                with open("large", "wb", buffering=0) as f:
                    while written < 64:
                        written += f.write(bytes(1 << 20)) >> 20
            except OSError:
                pass
            return "stopped" if written <= 4 else "works"
        """, "stopped", "stopped", "stopped"),
    attack("fill the disk with many files", """
        def attempt():
            try:
                for i in range(8):
                    with open(f"file{i}", "wb", buffering=0) as f:
                        for _ in range(3):
                            if f.write(bytes(1 << 20)) < 1 << 20:
                                raise OSError
            except OSError:
                return "stopped"
            return "works"
        """, "stopped", "works", "works"),
    attack("fill shared memory", """
        def attempt():
            try:
                for i in range(8):
                    with open(f"/dev/shm/layers-attack-{i}", "wb", buffering=0) as f:
                        for _ in range(3):
                            if f.write(bytes(1 << 20)) < 1 << 20:
                                raise OSError
            except OSError:
                return "stopped"
            return "works"
        """, "stopped", "stopped", ANY),
    attack("make a device", """
        def attempt():
            os.mknod("disk", 0o60666, os.makedev(254, 0))
            return "works"
        """, DENIED, DENIED, DENIED),
]  # fmt: skip

PROCESSES = [
    attack("signal another process", """
        def attempt():
            os.kill(VICTIM, signal.SIGTERM)
            return "works"
        """, "ProcessLookupError", DENIED, "works"),
    attack("kill everything", """
        def attempt():
            if os.getpid() != 1:
                os.kill(0, 0)  # the real thing would end bystanders where nothing contains it
                return "not tried"
            os.kill(-1, signal.SIGKILL)
            return "only itself"
        """, ("only itself", "ProcessLookupError"), "not tried", "not tried"),
    attack("take another process's limits away", """
        def attempt():
            import resource
            resource.prlimit(VICTIM, resource.RLIMIT_CPU, (1, 1))
            return "works"
        """, "ProcessLookupError", DENIED, ANY),
    attack("have the kernel signal another process", """
        def attempt():
            import fcntl
            reading, writing = os.pipe()
            fcntl.fcntl(reading, 8, VICTIM)  # F_SETOWN
            return "works"
        """, DENIED, DENIED, ANY),
    attack("open another process", """
        def attempt():
            os.close(os.pidfd_open(VICTIM))
            return "works"
        """, "ProcessLookupError", DENIED, "works"),
    attack("read another process's environment", """
        def attempt():
            open(f"/proc/{VICTIM}/environ", "rb").read()
            return "works"
        """, HIDDEN, DENIED, ANY),
    attack("write another process's memory", """
        def attempt():
            open(f"/proc/{VICTIM}/mem", "r+b").close()
            return "works"
        """, HIDDEN, DENIED, ANY),
    attack("list processes", """
        def attempt():
            return "only itself" if os.listdir("/proc") and VICTIM not in [
                int(name) for name in os.listdir("/proc") if name.isdigit()] else "works"
        """, "only itself", DENIED, "works"),
    attack("look at the machine in /proc and /sys", """
        def attempt():
            found = [p for p in ("/proc/kallsyms", "/proc/cmdline", "/proc/keys", "/sys/kernel")
                     if os.access(p, os.R_OK) and (os.path.isdir(p) or open(p).read(1) is not None)]
            return "works" if found else "nothing"
        """, "nothing", (DENIED, "nothing", "works"), ANY),
    attack("raise the own limits", """
        def attempt():
            import resource
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 40, 1 << 40))
            return "works"
        """, ("ValueError", DENIED), ("ValueError", DENIED), ("ValueError", DENIED)),
    attack("become root", """
        def attempt():
            os.setuid(0)
            return "works"
        """, DENIED, DENIED, DENIED),
    attack("start a thousand threads", """
        def attempt():
            stop = threading.Event()
            try:
                for _ in range(1000):
                    threading.Thread(target=stop.wait, args=(5,), daemon=True).start()
            except RuntimeError:
                return "stopped"
            finally:
                stop.set()
            return "works"
        """, "stopped", "stopped", "stopped"),
    attack("take ten gigabytes", """
        def attempt():
            import numpy as np
            np.ones(10 << 30, np.uint8)
            return "works"
        """, ("MemoryError", "_ArrayMemoryError"), ("MemoryError", "_ArrayMemoryError"),
        ("MemoryError", "_ArrayMemoryError")),
    attack("start a program with more rights", """
        def attempt():
            import subprocess
            got = subprocess.run(["su", "-c", "id -u"], capture_output=True, stdin=-3)
            return "works" if got.stdout.strip() == b"0" else "nothing"
        """, "nothing", DENIED, "nothing"),
]  # fmt: skip
