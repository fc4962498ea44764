"""Grade a class: survey, register, run the engine, export, report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

from autograder.course import stock
from autograder.course.classrun import ClassRun
from autograder.course.exercises import Notebooks, choose, is_ours, notebooks_of, register
from autograder.course.export import export_grades
from autograder.course.folders import Folders
from autograder.course.isolated import labels, load_masters, make_grader
from autograder.course.listing import safe_name
from autograder.course.options import Options
from autograder.course.paths import Course, CourseError
from autograder.course.record import FAILED, GRADED, UNREADABLE, Record
from autograder.course.result import Result
from autograder.course.secret import course_secret
from autograder.course.stock_run import lacks_graded_cells, read_findings, run_stock
from autograder.course.survey import Survey, read_roster, survey
from autograder.grading.findings import Finding, in_short

ROSTER_COLUMNS = ("first_name", "last_name", "email")
UNUSABLE = {UNREADABLE: "broken", FAILED: "failed"}


def grade(course: Course, submitted: Path | None = None, options: Options | None = None) -> Result:
    """Grade the submissions in a folder; write gradebook, feedback and ``grades.csv``.

    Parameters
    ----------
    course : Course
        Ours, or any course of nbgrader.
    submitted : pathlib.Path, optional
        Folder with ``<student>/<assignment>/<notebook>.ipynb``; it is not changed. None takes
        the one that the configuration names.
    options : Options, optional
        What to grade and how.

    Raises
    ------
    CourseError
        The folder, an assignment or a student does not exist, a source is wrong, the isolation
        is weaker than asked for, or the gradebook cannot be written. Nothing is half done then.
    """
    options, folders = options or Options(), Folders.of(course)
    notebooks = notebooks_of(course, folders)
    chosen = choose(notebooks, options.assignments, "layer" if is_ours(course) else "assignment")
    isolated = options.engine == "isolated"
    lacks = None if isolated else lacks_graded_cells(folders)
    submitted = submitted or folders.submitted
    found = survey(submitted, notebooks, chosen, options.students, lacks)
    _keep_notebooks(found, {name: notebooks[name] for name in chosen}, options)
    refused = register(course, folders, chosen)
    found.problems += [f"{name}: not graded: {why}." for name, why in refused.items()]
    chosen = [name for name in chosen if name not in refused]
    found.submissions = [item for item in found.submissions if item.layer in chosen]
    result = Result(chosen, found.students)
    if isolated:
        _run_isolated(course, folders, notebooks, found, options, result)
    else:
        _run_stock(course, found, options, result)
    _enter_roster(course, submitted)
    export_grades(course, course.grades_csv)
    return result


def _keep_notebooks(found: Survey, notebooks: Notebooks, options: Options) -> None:
    names = dict.fromkeys(name for names in notebooks.values() for name in names)
    kept = choose(names, options.notebooks, "notebook")
    found.submissions = [item for item in found.submissions if item.name in kept]
    found.missing = [item for item in found.missing if item.name in kept]


def _run_isolated(
    course: Course, folders: Folders, notebooks: Notebooks, found: Survey, options: Options,
    result: Result,
) -> None:  # fmt: skip
    config = stock.load_config(course.root)
    wanted = {name: notebooks[name] for name in result.layers}
    masters = load_masters(folders, config, wanted)
    grader = make_grader(masters, course_secret(course), options, result.isolation)
    see = partial(_see, names=labels(masters), found=found, result=result)
    run = ClassRun(course, folders, config, options, see).run(found, grader)
    result.graded, result.resumed, result.changed = run.graded, run.resumed, run.changed
    found.problems += run.problems
    _read_scores(course, found, result)


def _run_stock(course: Course, found: Survey, options: Options, result: Result) -> None:
    if not is_ours(course):
        raise CourseError(
            f"{course.root}: no solutions/ here; grade a course of nbgrader with "
            "`nbgrader autograde`, or without --engine stock."
        )
    result.graded, _ = run_stock(course, found, options)
    for student, layer in found.unusable:
        if (course.autograded / student / layer).exists():
            found.notes.append(f"{student}, {layer}: the gradebook keeps the earlier grade.")
    _read_scores(course, found, result)
    read_findings(course, found.submissions, result)


def _read_scores(course: Course, found: Survey, result: Result) -> None:
    """Read the gradebook, which holds the marks given by hand too."""
    students = set(found.students)
    with stock.open_gradebook(stock.load_config(course.root)) as gradebook:
        for layer in result.layers:
            result.max_scores[layer] = gradebook.find_assignment(layer).max_score
            for row in gradebook.submission_dicts(layer):
                key = row["student"], layer
                if row["student"] in students and key not in found.unusable:
                    result.scores[key] = row["score"]
    result.unusable, result.notes = found.unusable, found.notes
    result.problems = list(dict.fromkeys(found.problems))


def _see(
    record: Record, names: Mapping[tuple[str, str], str], found: Survey, result: Result
) -> None:
    """Take from a verdict what the report needs, and no more."""
    key = record.student, record.assignment
    if word := UNUSABLE.get(record.status):
        found.unusable[key] = word
    # What a student's code did to itself is told; what keeps a file from being graded, or is
    # wrong with the exercise, needs somebody.
    ours = f"{record.assignment}/{record.notebook}:"
    for problem in record.problems:
        needs = record.status != GRADED or problem.startswith(ours)
        (found.problems if needs else found.notes).append(problem)
    if record.repairs:
        result.repaired[record.path] = record.repairs
    for cell, score in record.scores.items():
        name = f"{record.assignment}/{cell}"
        if score.forgeable and name not in result.forgeable:
            result.forgeable.append(name)
    if lost := list(_findings(record, names)):
        result.findings.setdefault(key, []).extend(lost)


def _findings(
    record: Record, names: Mapping[tuple[str, str], str]
) -> Iterator[tuple[Finding, str]]:
    """Say why points were lost, cell by cell."""
    for cell, score in record.scores.items():
        name = names.get((record.assignment, cell), cell)
        if score.score is None:
            yield Finding(name, 0.0, score.points, None, None, ()), "to be graded by hand"
        elif score.score < score.points:
            finding = Finding(name, score.score, score.points, score.mistake, None, score.lost)
            yield finding, in_short(score.reason)


def _enter_roster(course: Course, submitted: Path) -> None:
    roster = read_roster(submitted)
    if not roster:
        return
    with stock.open_gradebook(stock.load_config(course.root)) as gradebook:
        for student, names in roster.items():
            known = {key: safe_name(names[key] or "") for key in ROSTER_COLUMNS if key in names}
            if safe_name(student) == student:
                gradebook.update_or_create_student(student, **known)
