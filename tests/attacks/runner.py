"""The command line, with short deadlines and with layers of the sandbox left out.

``python -m tests.attacks.runner LAYERS ARGUMENT ...``: the layers to leave out, joined by commas
(may be empty), then what ``python -m autograder`` takes.
"""

import sys
from functools import partial

from autograder import cli
from autograder.course import isolated
from autograder.grading.submission import Engine
from autograder.sandbox import Limits

# Long enough for honest work on a busy machine, short enough to wait for.
SHORT = Limits(
    call_seconds=2, cell_seconds=4, submission_seconds=12, disk_mb=24, file_mb=8, memory_mb=1024
)


def main(without: str, *arguments: str) -> int:
    disable = frozenset(filter(None, without.split(",")))
    isolated.Engine = partial(Engine, limits=SHORT, disable=disable)
    return cli.main(arguments)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
