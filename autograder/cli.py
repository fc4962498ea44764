"""Command line of the course: argument parsing only.

Exit codes: 0 done, 1 refused or out of date, 2 wrong arguments, 3 graded, but with problems.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from autograder.course.paths import Course, CourseError


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb and return its exit code."""
    arguments = _parser().parse_args(argv)
    try:
        return int(arguments.run(arguments))
    except CourseError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def _release(arguments: argparse.Namespace) -> int:
    from autograder.course.release import release, stale_files

    course = Course(arguments.root)
    if arguments.check:
        problems = stale_files(course, arguments.layer)
        print("\n".join(problems) or "exercises/ is up to date.", file=sys.stderr)
        return 1 if problems else 0
    for path in release(course, arguments.layer):
        print(path)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m autograder", description=__doc__)
    parser.add_argument(
        "--root", type=lambda text: Path(text).resolve(), default=Path.cwd(),
        help="folder of the course (default: here)",
    )
    verbs = parser.add_subparsers(required=True, metavar="VERB")
    release = _verb(verbs, "release", _release, "make exercises/ from solutions/")
    release.add_argument("--check", action="store_true", help="only tell whether it is up to date")
    return parser


def _verb(verbs, name, run, text) -> argparse.ArgumentParser:  # type: ignore[no-untyped-def]
    parser = verbs.add_parser(name, help=text, description=text)
    parser.add_argument("--layer", action="append", default=[], help="only this layer (repeatable)")
    parser.set_defaults(run=run)
    return parser
