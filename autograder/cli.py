"""Command line of the course: argument parsing only.

Exit codes: 0 done, 1 refused or out of date, 2 wrong arguments, 3 graded, but with problems.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from autograder.course.paths import Course, CourseError

DONE, REFUSED, PROBLEMS = 0, 1, 3


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb and return its exit code."""
    arguments = _parser().parse_args(argv)
    try:
        return int(arguments.run(arguments))
    except CourseError as error:
        print(f"error: {error}", file=sys.stderr)
        return REFUSED


# Each verb imports what it needs: nbgrader and numba take seconds that `--help` need not wait for.


def _release(arguments: argparse.Namespace) -> int:
    from autograder.course.release import release, stale_files

    course = Course(arguments.root)
    if not arguments.check:
        for path in release(course, arguments.layer):
            print(path)
        return DONE
    problems = stale_files(course, arguments.layer)
    print("\n".join(problems) or "exercises/ is up to date.")
    return REFUSED if problems else DONE


def _grade(arguments: argparse.Namespace) -> int:
    from autograder.course.grade import grade
    from autograder.course.table import as_json, report

    course = Course(arguments.root)
    folder = arguments.submitted or course.submitted
    result = grade(
        course, folder, arguments.layer, arguments.student, force=arguments.force
    )
    if arguments.json:
        print(json.dumps(as_json(result), indent=2))
    else:
        print(report(result))
        print(f"\n{result.graded} notebook(s) graded now; feedback in {course.feedback}, "
              f"grades in {course.grades_csv}.")
    return PROBLEMS if result.problems else DONE


def _audit(arguments: argparse.Namespace) -> int:
    from autograder.course.audit import as_json, as_table, audit_course, passed

    rows = audit_course(Course(arguments.root), arguments.layer)
    print(as_json(rows) if arguments.json else as_table(rows))
    return DONE if passed(rows) else REFUSED


def _demo(arguments: argparse.Namespace) -> int:
    from autograder.course.demo import run_demo

    return run_demo(Course(arguments.root))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m autograder", description=__doc__)
    parser.add_argument(
        "--root", type=lambda text: Path(text).resolve(), default=Path.cwd(), metavar="FOLDER",
        help="folder of the course (default: here)",
    )
    verbs = parser.add_subparsers(required=True, metavar="VERB")

    release = _verb(verbs, "release", _release, "make exercises/ from solutions/")
    _add_layer(release)
    release.add_argument("--check", action="store_true", help="only tell whether it is up to date")

    grade = _verb(verbs, "grade", _grade, "grade a folder of submissions with nbgrader")
    grade.add_argument(
        "submitted", nargs="?", type=Path, metavar="FOLDER",
        help="holds <student>/<layer>/<layer>.ipynb (default: _build/submitted)",
    )
    _add_layer(grade)
    grade.add_argument("--student", action="append", default=[], help="only this one (repeatable)")
    grade.add_argument("--force", action="store_true", help="grade again what has not changed")
    grade.add_argument("--json", action="store_true", help="print the report as JSON")

    audit = _verb(verbs, "audit", _audit, "prove the hidden tests against known mistakes")
    _add_layer(audit)
    audit.add_argument("--json", action="store_true", help="print the table as JSON")

    _verb(verbs, "demo", _demo, "release, then grade a sample class and nbgrader's example course")
    return parser


def _verb(
    verbs: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    run: Callable[[argparse.Namespace], int],
    text: str,
) -> argparse.ArgumentParser:
    parser = verbs.add_parser(name, help=text, description=text)
    parser.set_defaults(run=run)
    return parser


def _add_layer(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--layer", action="append", default=[], help="only this layer (repeatable)")
