"""Attackers who want time, memory, disk, or a process that outlives them."""

from tests.attacks import answers
from tests.attacks.classroom import Attacker

# The command of a process that must not be found once the class is graded.
DAEMON = "86399.4071"


def right(name, first="", last="", **more):
    return Attacker(name, "right", first=first, last=last, **more)


def half(name, backward, first=""):
    return Attacker(name, "half", first=first, backward=backward)


def never_ends(notebook):
    notebook["cells"] += [answers.code(f"import time\ntime.sleep(3600)  # {i}") for i in range(4)]


ATTACKERS = [
    right("slow-import", "import helper", files={"helper.py": b"import time\ntime.sleep(3600)"}),
    right("sleeps-after-the-tests", notebook=never_ends),
    half("swallows-interrupts", """
def layernorm_backward(dout, cache):
    while True:
        try:
            while True: pass
        except BaseException:
            pass
"""),
    half("cannot-be-interrupted", """
import itertools, signal
def layernorm_backward(dout, cache):
    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 32))
    return sum(itertools.repeat(0))
"""),
    right("alarms", """
import signal
signal.signal(signal.SIGALRM, lambda *a: None)
signal.setitimer(signal.ITIMER_REAL, 0.003, 0.003)
"""),
    right("ignores-all-signals", """
import signal
for number in range(1, 32):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
"""),
    right("threads-go-on", """
import threading, time
def go_on():
    while True:
        print('SAYS still here')
        time.sleep(0.01)
for _ in range(8):
    threading.Thread(target=go_on, daemon=False).start()
"""),
    right("watches-every-call", """
import atexit, gc, sys, threading
seen = []
def watch(frame, event, argument):
    seen.append((event, frame.f_code.co_name))
    del seen[:-1000]
    return watch
gc.callbacks.append(lambda phase, info: seen.append(('gc', phase)))
atexit.register(lambda: [print('SAYS bye') for _ in iter(int, 1)])
threading.setprofile(watch)
sys.setprofile(watch)
sys.settrace(watch)
"""),
    right("leaves-a-daemon", f"""
import os
try:
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execvp('sleep', ['sleep', '{DAEMON}'])
        os._exit(0)
except OSError:
    pass
"""),
    right("many-children", """
import os, time
try:
    for _ in range(150):
        if os.fork() == 0:
            time.sleep(60)
            os._exit(0)
except OSError:
    pass
"""),
    right("other-environment", """
import locale, os, sys, warnings
os.environ.update(LAYERS_COURSE_SECRET='0' * 64, LC_ALL='tr_TR.UTF-8', TZ='Mars', PYTHONPATH='/',
                  OMP_NUM_THREADS='4096', NUMBA_DISABLE_JIT='1', PYTHONHASHSEED='1')
os.chdir('/')
os.umask(0o777)
sys.path[:] = []
sys.argv = sys.stdin = sys.__stdout__ = None
sys.setrecursionlimit(100)
warnings.simplefilter('error')
"""),
    right("own-limits", """
import os, resource
resource.setrlimit(resource.RLIMIT_NOFILE, (8, 8))
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
os.nice(19)
"""),
    right("closes-the-connection", "import os\nos.closerange(0, 4096)"),
    right("writes-on-the-connection", """
import os
for number in range(3, 64):
    for junk in (b'\\0' * 64, b'\\xff' * 64, b'SAYS a forged reply'):
        try:
            os.write(number, junk)
        except OSError:
            pass
"""),
    right("kills-its-parent", "import os\nos.kill(os.getppid(), 9)"),
    right("stops-itself", "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)"),
    right("prints-without-end", "for _ in range(20_000):\n    print('flood' * 2000)"),
    right("shows-without-end", "for _ in range(2_000):\n    display(b'x' * 10_000)"),
    right("prints-in-every-call", forward=answers.FORWARD.replace(
        "    centred", "    print('flood' * 400_000)\n    centred")),
    right("takes-all-memory", "hoard = []\nwhile True:\n    hoard.append(bytearray(1 << 26))"),
    half("takes-memory-when-called", """
def layernorm_backward(dout, cache):
    hoard = []
    while True:
        hoard.append(np.ones(1 << 22))
"""),
    right("fills-the-disk", """
import os
try:
    for i in range(40):
        with open(f'full-{i}', 'wb', buffering=0) as file:
            while file.write(bytes(1 << 20)) == 1 << 20 and file.tell() < 2 << 20:
                pass
except OSError:
    pass
"""),
    right("many-files", """
import os
try:
    for i in range(3000):
        os.makedirs(f'deep/{i % 7}/{i}', exist_ok=True)
except OSError:
    pass
"""),
    right("waits-for-input", "import getpass\ninput('grade? ')"),
    right("asks-for-a-debugger", "breakpoint()\n%debug\n%pdb on"),
    right("shell-that-waits", "!sleep 3600 &\n%system sleep 3600"),
    right("deep-recursion", """
import sys
sys.setrecursionlimit(10**9)
def down(n):
    return down(n + 1)
down(0)
"""),
]  # fmt: skip
