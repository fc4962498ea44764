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


def kernel(name, x86, *arguments, c=ANY):
    """Attack by one raw system call, given by its number on x86-64."""
    body = f"def attempt():\n    return system_call({', '.join(map(str, (x86, *arguments)))})\n"
    return attack(name, body, "EPERM", "EPERM", c)


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

NETWORK = [
    attack("connect to the grader's machine", """
        def attempt():
            socket.create_connection(("127.0.0.1", PORT), timeout=1).close()
            return "works"
        """, DENIED, DENIED, "works"),
    attack("send a datagram", """
        def attempt():
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", PORT))
            return "works"
        """, DENIED, DENIED, "works"),
    attack("connect to an abstract socket", """
        def attempt():
            socket.socket(socket.AF_UNIX).connect("\\0layers-attack")
            return "works"
        """, DENIED, DENIED, "ConnectionRefusedError"),
    attack("listen", """
        def attempt():
            socket.create_server(("127.0.0.1", 0)).close()
            return "works"
        """, DENIED, DENIED, "works"),
    attack("bind a pair's end to an abstract name", """
        def attempt():
            one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
            one.bind("\\0layers-attack-pair")
            return "works"
        """, DENIED, DENIED, "works"),
]  # fmt: skip

# Numbers of asm/unistd_64.h. Arguments are valid enough that only a filter or a missing right
# stops the call.
KERNEL = [
    kernel("trace another process", 101, 16, "VICTIM", 0, 0),
    kernel("read another process's memory", 310, "VICTIM", 0, 0, 0, 0, 0),
    kernel("write another process's memory", 311, "VICTIM", 0, 0, 0, 0, 0),
    kernel("new user namespace", 272, 0x10000000),
    kernel("new namespace by clone", 56, "0x10000000 | 17", 0, 0, 0, 0),
    kernel("join a namespace", 308, 0, 0),
    kernel("mount", 165, "b'none'", "b'/tmp'", "b'tmpfs'", 0, 0, c="EPERM"),
    kernel("make the root writable", 165, 0, "b'/'", 0, 32 | 4096, 0, c="EPERM"),
    kernel("unmount", 166, "b'/proc'", 2, c=("EPERM", "EINVAL")),
    kernel("change the root", 161, "b'.'", c="EPERM"),
    kernel("io_uring", 425, 8, "ctypes.create_string_buffer(256)"),
    kernel("load a kernel program", 321, 0, "ctypes.create_string_buffer(128)", 128),
    kernel("count events", 298, "ctypes.create_string_buffer(128)", 0, -1, -1, 0),
    kernel("read a session's keys", 250, 0, -3, 1),
    kernel("add a key", 248, "b'user'", "b'layers'", "b'x'", 1, -2),
    kernel("catch page faults", 323, 0),
    kernel("hide memory in a file", 319, "b'x'", 0),
    kernel("open by handle", 304, -100, "ctypes.create_string_buffer(64)", 0),
    kernel("load a module", 175, "b''", 0, "b''", c=("EPERM", "ENOSYS")),
    kernel("restart the machine", 169, 0, 0, 0, 0, c="EPERM"),
    kernel("switch to another personality", 135, 0x0040000),
    kernel("shared memory of System V", 29, 0, 4096, 0o600),
    kernel("type into a terminal", 16, 0, 0x5412, "b'x'"),
    attack("clone3 with a new namespace", """
        def attempt():
            return system_call(435, ctypes.create_string_buffer(88), 88)
        """, "ENOSYS", "ENOSYS", ANY),
    attack("the other numbering of x86-64", """
        def attempt():
            return system_call(0x40000000 | 39)
        """, "ENOSYS", "ENOSYS", ANY),
]  # fmt: skip

ATTACKS = [*FILES, *PROCESSES, *NETWORK, *KERNEL]
