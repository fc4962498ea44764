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

DONE, REFUSED, PROBLEMS, STOPPED = 0, 1, 3, 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb and return its exit code."""
    arguments = _parser().parse_args(argv)
    try:
        return int(arguments.run(arguments))
    except CourseError as error:
        print(f"error: {error}", file=sys.stderr)
        return REFUSED
    except KeyboardInterrupt:
        print("\nstopped; what was done is kept. Run the same again to go on.", file=sys.stderr)
        return STOPPED


# Each verb imports what it needs: nbgrader and numba take seconds that `--help` need not wait for.


def _release(arguments: argparse.Namespace) -> int:
    from autograder.course.release import release, stale_files

    course = Course(arguments.root)
    if not arguments.check:
        for path in release(course, arguments.assignment):
            print(path)
        return DONE
    problems = stale_files(course, arguments.assignment)
    print("\n".join(problems) or "exercises/ is up to date.")
    return REFUSED if problems else DONE


def _collect(arguments: argparse.Namespace) -> int:
    from autograder.course.collect import Pattern, collect

    course = Course(arguments.root)
    pattern = Pattern(arguments.regexp) if arguments.regexp else Pattern()
    collected = collect(
        course, arguments.downloads, arguments.to, arguments.assignment, pattern
    )
    print(json.dumps(collected.as_dict(), indent=2) if arguments.json else collected.text())
    return PROBLEMS if collected.refused else DONE


def _grade(arguments: argparse.Namespace) -> int:
    from autograder.course.grade import grade
    from autograder.course.interrupt import stoppable
    from autograder.course.options import Options
    from autograder.course.progress import watch
    from autograder.course.summary import summary
    from autograder.course.table import as_json

    course = Course(arguments.root)
    options = Options(
        assignments=arguments.assignment, notebooks=arguments.notebook,
        students=arguments.student, force=arguments.force, engine=arguments.engine,
        require_tier=arguments.require_tier, allow_weak=arguments.allow_weak_sandbox,
        feedback=not arguments.no_feedback, watch=watch(quiet=arguments.json),
        **({"jobs": arguments.jobs} if arguments.jobs else {}),
    )  # fmt: skip
    with stoppable():
        result = grade(course, arguments.submitted, options)
    if arguments.json:
        print(json.dumps(as_json(result), indent=2))
    else:
        print(summary(result, course.grades_csv, verbose=arguments.verbose))
        print(f"\n{result.graded} notebook(s) graded now; grades in {course.grades_csv}.")
    return PROBLEMS if result.problems else DONE


def _feedback(arguments: argparse.Namespace) -> int:
    from autograder.course.options import Options
    from autograder.course.progress import watch
    from autograder.course.reports import feedback

    options = Options(
        arguments.assignment, arguments.notebook, arguments.student,
        watch=watch(quiet=False), **({"jobs": arguments.jobs} if arguments.jobs else {}),
    )  # fmt: skip
    written, problems = feedback(Course(arguments.root), options)
    print("\n".join([*problems, f"{written} page(s) are new."]))
    return PROBLEMS if problems else DONE


def _export(arguments: argparse.Namespace) -> int:
    from autograder.course.export import export_grades
    from autograder.course.reports import export_mistakes

    course = Course(arguments.root)
    if arguments.by_mistake:
        name = "mistakes.json" if arguments.json else "mistakes.csv"
        print(export_mistakes(course, arguments.to or course.build / name, arguments.assignment))
        return DONE
    target = arguments.to or course.grades_csv
    only = arguments.assignment, arguments.student
    print(export_grades(course, target, *only, arguments.exporter))
    return DONE


def _diff(arguments: argparse.Namespace) -> int:
    from autograder.course.reports import diff

    print("\n".join(diff(Course(arguments.root))) or "The last run changed no score.")
    return DONE


def _replay(arguments: argparse.Namespace) -> int:
    from autograder.course.replaying import replay_verdict

    same, text = replay_verdict(
        Course(arguments.root), arguments.receipt, arguments.submission,
        allow_weak=arguments.allow_weak_sandbox,
    )  # fmt: skip
    print(text)
    return DONE if same else PROBLEMS


def _audit(arguments: argparse.Namespace) -> int:
    from autograder.course.audit import as_json, as_table, audit_course, passed

    rows = audit_course(
        Course(arguments.root),
        arguments.assignment,
        seeds=arguments.seeds,
        reference_seeds=arguments.reference_seeds,
    )
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
    _add(release, "assignment")
    release.add_argument("--check", action="store_true", help="only tell whether it is up to date")

    collect = _verb(verbs, "collect", _collect, "sort downloaded files into one folder per student")
    collect.add_argument("downloads", type=Path, metavar="FOLDER_OR_ZIP")
    collect.add_argument("--to", type=Path, help="folder of submissions (default: the course's)")
    collect.add_argument("--regexp", help="file names, with (?P<student_id>) and (?P<file_id>)")
    _add(collect, "assignment", "json")

    _add_grade(verbs)

    feedback = _verb(verbs, "feedback", _feedback, "write a page for each graded notebook")
    _add(feedback, "assignment", "notebook", "student", "jobs")

    export = _verb(verbs, "export", _export, "write the grades, or the mistakes, as a table")
    export.add_argument("--to", type=Path, metavar="FILE", help="default: _build/grades.csv")
    export.add_argument("--by-mistake", action="store_true", help="count who made which mistake")
    export.add_argument("--exporter", default="", help="an export plugin of nbgrader")
    _add(export, "assignment", "student", "json")

    _verb(verbs, "diff", _diff, "tell which scores the last run changed, and why")

    replay = _verb(verbs, "replay", _replay, "recompute a verdict from its receipt")
    replay.add_argument("receipt", type=Path, help="a receipt, or an autograded notebook")
    replay.add_argument("--submission", type=Path, help="the notebook as it was handed in")
    _add(replay, "allow-weak-sandbox")

    audit = _verb(verbs, "audit", _audit, "prove the hidden tests against known mistakes")
    _add(audit, "assignment", "json")
    audit.add_argument(
        "--seeds", type=int, default=3, metavar="N", help="inputs tried for each mistake (3)"
    )
    audit.add_argument(
        "--reference-seeds", type=int, default=200, metavar="N",
        help="inputs tried for the reference (200)",
    )

    _verb(verbs, "demo", _demo, "release, then grade a sample class and nbgrader's example course")
    return parser


def _add_grade(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    grade = _verb(verbs, "grade", _grade, "grade a folder of submissions")
    grade.add_argument(
        "submitted", nargs="?", type=Path, metavar="FOLDER",
        help="holds <student>/<assignment>/<notebook>.ipynb (default: the course's)",
    )
    _add(grade, "assignment", "notebook", "student", "jobs", "json", "allow-weak-sandbox")
    grade.add_argument("--force", action="store_true", help="grade again what has not changed")
    grade.add_argument("--verbose", action="store_true", help="a line for everybody")
    grade.add_argument("--no-feedback", action="store_true", help="write no pages for students")
    grade.add_argument(
        "--engine", choices=("isolated", "stock"), default="isolated",
        help="stock is nbgrader's own: slow, and a submission can forge its score",
    )
    grade.add_argument(
        "--require-tier", choices=("A", "B", "C"), help="refuse to run in a weaker isolation"
    )


def _verb(
    verbs: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    run: Callable[[argparse.Namespace], int],
    text: str,
) -> argparse.ArgumentParser:
    parser = verbs.add_parser(name, help=text, description=text)
    parser.set_defaults(run=run)
    return parser


def _add(parser: argparse.ArgumentParser, *names: str) -> None:
    """Add options that several verbs share."""
    shared: dict[str, tuple[tuple[str, ...], dict[str, object]]] = {
        "assignment": (("--assignment", "--layer"), {"help": "only this one (repeatable)"}),
        "notebook": (("--notebook",), {"help": "only this one (repeatable)"}),
        "student": (("--student",), {"help": "only this one (repeatable)"}),
        "jobs": (("--jobs",), {"type": int, "metavar": "N", "help": "processes (default: cores)"}),
        "json": (("--json",), {"action": "store_true", "help": "print JSON"}),
        "allow-weak-sandbox": (
            ("--allow-weak-sandbox",),
            {"action": "store_true", "help": "run where students' code can read this machine"},
        ),
    }
    for name in names:
        flags, settings = shared[name]
        if name in ("assignment", "notebook", "student"):
            settings = {"action": "append", "default": [], "metavar": "NAME", **settings}
        parser.add_argument(*flags, **settings)  # type: ignore[arg-type]
