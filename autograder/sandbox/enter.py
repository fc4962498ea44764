"""Start a program in a root of our making, where no tool such as bubblewrap does it.

Runs before anything else is loaded, and imports nothing but the system calls that it needs.
"""

from __future__ import annotations

import json
import os
import sys

from autograder.sandbox import namespaces


def main() -> None:
    """Read the plan and the program from the command line, go in, and become the program."""
    plan, program = json.loads(sys.argv[2]), sys.argv[3:]
    namespaces.enter_own_root(plan)
    os.execv(program[0], program)
