"""Show the whole course at work: release, a class graded, and nbgrader's own example graded."""

from __future__ import annotations

import shutil
import time

from autograder.course.example_course import ExampleResult, grade_example_course
from autograder.course.grade import grade
from autograder.course.paths import Course
from autograder.course.release import release
from autograder.course.result import Result
from autograder.course.sample_class import LAYERS, write_sample_class
from autograder.course.stock import CONFIG_FILE
from autograder.course.summary import summary


def run_demo(course: Course) -> int:
    """Run every step, print what it gave and where to look; return the exit code.

    The sample class has a course folder of its own under ``_build/``: its students never reach
    the gradebook of a real class.
    """
    start = time.monotonic()
    _say(f"1. Release: {len(release(course))} student notebooks in {course.exercises}")
    sample = _sample_course(course)
    students = write_sample_class(sample.exercises, sample.submitted)
    _say(f"2. A sample class of {len(students)}, graded in isolation")
    result = grade(sample, sample.submitted)
    print(summary(result, sample.grades_csv))
    _say("3. nbgrader's own example course, graded by nbgrader and in isolation")
    print(_describe(grade_example_course(course.build / "example_course")))
    _say(f"Where to look (grading took {time.monotonic() - start:.0f} s)")
    print(_places(course, sample, result))
    return 3 if result.problems else 0


def _sample_course(course: Course) -> Course:
    sample = Course(course.build / "sample_course")
    shutil.rmtree(sample.root, ignore_errors=True)
    for layer in LAYERS:
        shutil.copytree(course.solutions / layer, sample.solutions / layer)
        shutil.copytree(course.exercises / layer, sample.exercises / layer)
    shutil.copyfile(course.root / CONFIG_FILE, sample.root / CONFIG_FILE)
    return sample


def _describe(example: ExampleResult) -> str:
    collected = [
        f"collected for {student}: {', '.join(names)}"
        for student, names in example.collected.items()
    ]
    scores = [
        f"{student}: {score:g} of {example.max_score:g}"
        for student, score in sorted(example.scores.items())
    ]
    same = ["the isolated engine gives every cell the same score"]
    return "\n".join(collected + scores + (example.different or same))


def _places(course: Course, sample: Course, result: Result) -> str:
    book = course.build / "html" / "index.html"
    first = next(iter(result.scores), None)
    feedback = sample.feedback
    if first is not None:
        feedback = feedback / first[0] / first[1] / f"{first[1]}.html"
    return "\n".join(
        [
            f"book      {book if book.exists() else 'not built yet: make book'}",
            f"grades    {sample.grades_csv}",
            f"feedback  {feedback}",
            f"example   {course.build / 'example_course' / 'grades.csv'}",
        ]
    )


def _say(text: str) -> None:
    print(f"\n{text}\n{'=' * len(text)}", flush=True)
