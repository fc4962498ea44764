"""The sample class on the real exercises: every student gets what the checks say of the answer."""

from pathlib import Path

import pytest

from autograder.checks import all_checks
from autograder.course.paths import Course
from autograder.course.release import build_sources
from autograder.course.sample_class import LAYERS, ROSTER, answer_of, write_sample_class
from autograder.grading.master import master_from_source
from autograder.grading.submission import Job

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="module")
def class_room(tmp_path_factory, engine):
    """Write the class's submissions and the masters of the exercises."""
    target = tmp_path_factory.mktemp("class")
    build_sources(Course(ROOT), LAYERS, target / "source")
    write_sample_class(ROOT / "exercises", target / "submitted")
    masters = {
        layer: engine.prepare(
            master_from_source(
                (target / "source" / layer / f"{layer}.ipynb").read_bytes(), layer, layer
            )
        )
        for layer in LAYERS
    }
    return target / "submitted", masters


def predicted(student, layer, points, seeds):
    """Ask the checks about the answers themselves, called in this process on the same inputs."""
    scores = {}
    for check in all_checks():
        if check.layer == layer:
            functions = [answer_of(student, name) for name in check.takes]
            missing = any(function is None for function in functions)
            unreadable = student.unreadable in check.takes
            stubs = [function or _unwritten for function in functions]
            worth = points[check.function]
            earned = (
                0.0
                if unreadable
                else check.report(tuple(stubs), worth, seeds.get(check.function, 0)).score
            )
            scores[check.function] = 0.0 if missing and earned < worth else earned
    return scores


def _unwritten(*args, **kwargs):
    raise NotImplementedError


@pytest.mark.parametrize("layer", LAYERS)
def test_every_student_gets_what_the_checks_say_of_the_answers(layer, class_room, engine):
    folder, masters = class_room
    master = masters[layer]
    assert not master.forgeable
    assert not master.problems
    for student in ROSTER:
        path = next((folder / student.name / layer).glob("*.ipynb"))
        result = engine.grade(Job(student.name, layer, layer, path), master)
        got = {v.grade_id: v.score for v in result.verdicts.values()}
        reports = result.receipt["checks"]
        points = {_function(name): entry["max"] for name, entry in reports.items()}
        seeds = {
            part["check"]: part["seed"]
            for entry in reports.values()
            for part in entry.get("properties", ())
        }
        named = {_function(name): score for name, score in got.items()}
        assert named == predicted(student, layer, points, seeds), student.name
        mistakes = {_function(v.grade_id): v.mistake for v in result.verdicts.values()}
        for function, mistake in student.mistakes.items():
            if function in mistakes and answer_of(student, function) is not None:
                assert mistakes[function] is not None, (student.name, function, mistake)


def _function(grade_id):
    """Turn a cell's name such as ``layernorm-forward-hidden`` into its function's."""
    name = grade_id.removeprefix("initialization-").removesuffix("-hidden")
    return name.replace("-", "_")
