"""Attackers who look for what is not theirs, and say what they found.

What they look for must not stand in their own memory, so they know it in two parts, and the
number by its bits turned over.
"""

import os
import struct

from tests.attacks import answers
from tests.attacks.classroom import EXPECTED, HIDDEN, SECRET, SOLUTION, VICTIM, Attacker

UNPROMISED = ".*"
NOTHING = {"A": "nothing", "B": "nothing", "C": UNPROMISED}
MARKS = {"hidden": HIDDEN, "solution": SOLUTION, "victim": VICTIM, "secret": SECRET,
         "digits": repr(EXPECTED)}  # fmt: skip

LOOK = f"""
import gc, os, sys, time
PARTS = {{{', '.join(f"{name!r}: ({mark[:9]!r}, {mark[9:]!r})" for name, mark in MARKS.items())},
         'itself': ('SEEN-by-', 'me-only')}}

def marks_in(data):
    found = set()
    for name, (head, tail) in PARTS.items():
        at = data.find(head.encode())
        while at >= 0:
            after = at + len(head)
            if all(data[after + i:after + i + 1] == c.encode() for i, c in enumerate(tail)):
                found.add(name)
            at = data.find(head.encode(), at + 1)
    return found

def says(found):
    print()
    print('SAYS', ' '.join(sorted(found)) or 'nothing')
"""
UPSIDE_DOWN = struct.unpack("<Q", struct.pack("<d", EXPECTED))[0] ^ (2**64 - 1)

MEMORY = LOOK + f"""
import numpy as np
held = 'SEEN-by-' + ''.join(['me', '-only'])
found = set()
try:
    for line in open('/proc/self/maps'):
        span, access = line.split()[:2]
        if 'rw' not in access or '[v' in line:
            continue
        start, stop = (int(part, 16) for part in span.split('-'))
        with open('/proc/self/mem', 'rb', 0) as memory:
            memory.seek(start)
            data = memory.read(stop - start)
        found |= marks_in(data)
        words = np.frombuffer(data[:len(data) // 8 * 8], np.uint64)
        if np.any(words ^ np.uint64(2**64 - 1) == np.uint64({UPSIDE_DOWN})):
            found.add('number')
except OSError:
    found.add('itself')
says(found)
"""
FILES = LOOK + """
found, until = set(), time.monotonic() + 2
pruned = {'proc', 'sys', 'usr', 'lib', 'lib64', 'bin', 'sbin'}
pruned |= {os.path.basename(sys.prefix), os.path.basename(sys.base_prefix), 'site-packages'}
for root in ('COURSE_FOLDER', 'SUBMITTED_FOLDER', '/'):
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name not in pruned]
        if time.monotonic() > until:
            break
        for name in files:
            try:
                path = os.path.join(folder, name)
                # A device never ends.
                small = os.path.isfile(path) and os.path.getsize(path) < 10**6
                if small and time.monotonic() < until:
                    with open(path, 'rb') as file:
                        found |= marks_in(file.read())
            except OSError:
                pass
for name in ('checks', 'kernels', 'mistakes', 'grading', 'course'):
    try:
        __import__('autograder.' + name)
        found.add(name)
    except ImportError:
        pass
says(found - {'itself'})
"""
ENVIRONMENT = LOOK + """
import glob
found = marks_in(repr(dict(os.environ)).encode())
for path in glob.glob('/proc/[0-9]*/environ') + glob.glob('/proc/[0-9]*/cmdline'):
    try:
        with open(path, 'rb') as file:
            data = file.read()
        found |= marks_in(data) | ({'course'} if b'COURSE_FOLDER' in data else set())
    except OSError:
        pass
says(found)
"""
# Runs while the hidden tests call.
CALLED = LOOK + """
spied = set()
def spy():
    frame = sys._getframe()
    while frame is not None:
        spied.update(marks_in(repr((frame.f_locals, frame.f_globals)).encode()))
        frame = frame.f_back
    for thing in gc.get_objects():
        if type(thing) is dict and len(thing) < 500:
            try:
                spied.update(marks_in(repr(thing).encode()))
            except Exception:
                pass
    shell = get_ipython()
    kept = shell.user_ns.get('In'), shell.user_ns.get('Out'), shell.history_manager.__dict__
    spied.update(marks_in(repr(kept).encode()))
"""
CHANGE = """
import os
changed = []
for root in ('COURSE_FOLDER', 'SUBMITTED_FOLDER'):
    for folder, _, files in os.walk(root):
        changed += [folder] if os.access(folder, os.W_OK) else []
        for name in files:
            try:
                open(os.path.join(folder, name), 'r+b').close()
                changed.append(name)
            except OSError:
                pass
for path in ('COURSE_FOLDER/_build/gradebook.db', 'COURSE_FOLDER/_build/grading/ledger.jsonl',
             'COURSE_FOLDER/nbgrader_config.py'):
    try:
        open(path, 'r+b').close()
        changed.append(path)
    except OSError:
        pass
print('\\nSAYS', len(changed) or 'nothing')
"""
# Two who know each other and are graded at the same time.
TALK = """
import os, socket, time
places = ['/tmp', '/var/tmp', '/dev/shm', os.path.expanduser('~'), '..', '/', '/run']
heard = set()
for place in places:
    try:
        with open(place + '/TALK-OWN', 'w') as file:
            file.write('hello')
    except OSError:
        pass
try:
    ear = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    ear.bind('\\0TALK-OWN')
    ear.setblocking(False)
except OSError:
    ear = None
until = time.monotonic() + 1.5
while time.monotonic() < until:
    for place in places:
        if os.path.exists(place + '/TALK-OTHER'):
            heard.add('file')
    try:
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b'hello', '\\0TALK-OTHER')
        heard.add('socket')
    except OSError:
        pass
    time.sleep(0.05)
print('\\nSAYS', *sorted(heard) or ['nothing'])
"""
CALLING = f"layers-talk-{os.getpid()}-"
PLANTED = b"print('SAYS planted')\nimport builtins\nbuiltins.abs = lambda x: 0.0\n"
STARTUP = """
import os, pathlib
home = pathlib.Path.home()
for place in ('.ipython/profile_default/startup', '.jupyter', '.config/matplotlib',
              '.local/lib/python3.11/site-packages'):
    try:
        (home / place).mkdir(parents=True, exist_ok=True)
        for name in ('00-planted.py', 'usercustomize.py', 'planted.pth'):
            (home / place / name).write_text("print('SAYS planted')")
    except OSError:
        pass
"""
NAMES = ("nbgrader_config.py", "ipython_config.py", "sitecustomize.py", "usercustomize.py",
         "numpy.py", "layerlab.py", "autograder.py", "conftest.py", "startup.ipy")  # fmt: skip


def talk(own, other):
    return TALK.replace("TALK-OWN", f"{CALLING}{own}").replace("TALK-OTHER", f"{CALLING}{other}")


def spy(name, first="", last="", says=NOTHING, due="right", **more):
    return Attacker(name, due, first=first, last=last, says=says, **more)


ATTACKERS = [
    spy("spy-in-memory", last=MEMORY, says={"*": "itself"}),
    spy("spy-in-memory-of-a-guess", last=MEMORY, says={"*": "itself"}, due="guess",
        exercise="guess", forward=answers.GUESS),
    spy("spy-in-files", FILES),
    spy("spy-in-the-environment", ENVIRONMENT),
    spy("spy-when-called", CALLED, "says(spied)", {"*": "nothing"},
        backward=answers.BACKWARD.replace("    x_hat,", "    spied or spy()\n    x_hat,", 1)),
    spy("changes-the-gradebook", CHANGE),
    spy("talks-to-two", talk("one", "two")),
    spy("talks-to-one", talk("two", "one")),
    spy("plants-start-up-files", STARTUP, says={}, files=dict.fromkeys(NAMES, PLANTED)),
]  # fmt: skip
