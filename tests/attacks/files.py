"""Attackers whose files are the attack, and folders with names that mean something else."""

import gzip
import json
import os
import socket
from pathlib import Path

from tests.attacks import answers
from tests.attacks.classroom import Attacker

SCRIPT = "<script>document.title = 'owned'</script><img src=x onerror=\"document.title='owned'\">"
ANSI = "\x1b[2J\x1b]0;owned\x07\x1b]8;;https:example\x07here\x1b]8;;\x07\r\x9b31m"


def handed(name, due, notebook=None, folder=None, **more):
    return Attacker(name, due, notebook=notebook, folder=folder, **more)


def of_100_megabytes(notebook):
    return json.dumps(notebook).encode() + b" " * 100 * 2**20


def cells_given_twice(notebook):
    return ('{"cells": [{"cell_type": "code"}], ' + json.dumps(notebook)[1:]).encode()


def many_cells(notebook):
    notebook["cells"] += [{"cell_type": "code", "source": "1"}, *[{"source": "1"}] * 99] * 1_000


def very_long_line(notebook):
    notebook["cells"].append(answers.code(f"x = '{'y' * 2_000_000}'"))


def halves_of_characters(notebook):
    notebook["cells"].append(answers.code("print('\\ud83d')"))
    notebook["cells"].append({**answers.code(""), "source": "print('\ud83d')", "id": "\ud83d"})


def broken_parts(notebook):
    attached = {"x.svg": {"image/svg+xml": SCRIPT}, "y": 5}
    for cell in notebook["cells"]:
        cell |= {"attachments": attached, "more": SCRIPT, "outputs": [{"output_type": SCRIPT}]}
        cell["metadata"] |= {"collapsed": SCRIPT, "scrolled": SCRIPT, "slideshow": SCRIPT,
                             "name": SCRIPT, "jupyter": {"source_hidden": SCRIPT}}  # fmt: skip
    notebook["metadata"] = {"kernelspec": SCRIPT, "language_info": SCRIPT, "title": SCRIPT}
    notebook["cells"] += [None, 5, [], {"cell_type": "code", "source": [1, "x = 1"]},
                          {"cell_type": SCRIPT, "source": SCRIPT, "metadata": None}]  # fmt: skip


def injections(notebook):
    notebook["cells"][0]["source"] = SCRIPT + ANSI
    notebook["cells"].append({"cell_type": "markdown", "metadata": {}, "source":
                              f"{SCRIPT}\n\n[x](javascript:alert(1))\n\n{ANSI}"})  # fmt: skip
    notebook["cells"].append(answers.code(
        "from IPython.display import HTML, SVG, Javascript, Markdown, Latex, display\n"
        f"text, ansi = {SCRIPT!r}, {ANSI!r}\n"
        "print(text, ansi)\n"
        "for kind in (HTML, Javascript, Markdown, Latex):\n    display(kind(text + ansi))\n"
        "display(SVG(f'<svg xmlns=\"http://www.w3.org/2000/svg\">{text[:40]}</script></svg>'))\n"
        "display({'text/html': text, 'application/javascript': text}, raw=True)\n"
        "raise type(text, (Exception,), {})(text + ansi)"
    ))  # fmt: skip


def instead(make):
    """Put something else where the notebook should be."""

    def change(folder):
        path = folder / "layernorm.ipynb"
        path.unlink()
        make(path)

    return change


def beside(make):
    """Put something beside the notebook, where its code would read ``data.txt``."""
    return lambda folder: make(folder / "data.txt")


def course_of(path):
    return path.parents[3] / "course"


def link_to(*parts):
    return lambda path: path.symlink_to(course_of(path).joinpath(*parts))


def hard_link_to(*parts):
    return lambda path: os.link(course_of(path).joinpath(*parts), path)


def listen(path):
    # The path of a socket must be short.
    here = Path.cwd()
    os.chdir(path.parent)
    with socket.socket(socket.AF_UNIX) as ear:
        ear.bind(path.name)
    os.chdir(here)


def sparse(path):
    path.touch()
    os.truncate(path, 20 * 2**30)


READ = """
try:
    text = open('data.txt').read()
except OSError:
    text = ''
print('\\nSAYS', text[:300] or 'nothing')
"""

REFUSED = [
    handed("of-100-megabytes", None, of_100_megabytes),
    handed("deep-json", None, lambda notebook: b'{"cells": ' + b"[" * 300_000),
    handed("deep-but-closed-json", None,
           lambda notebook: b'{"cells": ' + b"[" * 9999 + b"]" * 9999 + b"}"),
    handed("compressed", None, lambda notebook: gzip.compress(json.dumps(notebook).encode())),
    handed("nothing-but-nul", None, lambda notebook: bytes(10**6)),
    handed("program", None, lambda notebook: Path("/bin/true").read_bytes()),
    handed("a-million-lists", None, lambda n: b'{"cells": [' + b"[]," * 10**6 + b"[]]}"),
    handed("link-to-the-source", None,
           folder=instead(link_to("_build", "source", "layernorm", "layernorm.ipynb"))),
    handed("hard-link-to-the-secret", None,
           folder=instead(hard_link_to("_build", "course_secret"))),
    handed("pipe", None, folder=instead(os.mkfifo)),
    handed("socket", None, folder=instead(listen)),
    handed("folder", None, folder=instead(Path.mkdir)),
]  # fmt: skip
ACCEPTED = [
    handed("cells-given-twice", "right", cells_given_twice),
    handed("many-cells", "right", many_cells),
    handed("very-long-line", "right", very_long_line),
    handed("halves-of-characters", "right", halves_of_characters),
    handed("broken-parts", "right", broken_parts),
    handed("injections", "right", injections),
    *(
        handed(f"{name}-beside", "right", folder=beside(make), first=READ, says={"*": "nothing"})
        for name, make in {
            "link": link_to("_build", "course_secret"),
            "link-to-the-gradebook": link_to("_build", "gradebook.db"),
            "hard-link": hard_link_to("_build", "course_secret"),
            "pipe": os.mkfifo,
            "socket": listen,
            "folder": Path.mkdir,
            "huge-file": sparse,
        }.items()
    ),
    *(
        handed(name, "right")
        for name in (
            "'; DROP TABLE student; --", "+1+HYPERLINK(1)", "-rf", "$(touch owned)", "long" * 50,
            "\u202eright to left", "{student_id}", "a b %2e%2e%2f", "COM1", "e\u0301 \u00e9",
        )
    ),
]  # fmt: skip
# Folders that are not graded: formgrader would write these names into its pages.
UNSAFE = [
    handed(name, None)
    for name in (
        f"ansi {ANSI}", "<img src=x onerror=alert(1)>", 'x";alert(1);"', "ben\\",
        "two\nlines  20  20", os.fsdecode(b"no text \xff\xfe"),
    )
]  # fmt: skip
ATTACKERS = [*REFUSED, *ACCEPTED, *UNSAFE]
