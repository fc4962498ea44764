"""The procedure behind every check, on a made-up exercise."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.checks.compare import Within, distance, explain
from autograder.checks.core import Check, Property, draw_seed
from autograder.checks.observe import RefusedError, array, call, unpack
from autograder.checks.report import listening, parse


def double(x):
    return 2 * x


def _observe(size):
    return lambda functions, rng: {"out": array(call(functions[0], rng.normal(size=size)), "out")}


CHECK = Check(
    "double",
    "layernorm",
    (
        Property("values", 0.7, _observe((3, 4)), "x (3, 4)"),
        Property("a vector", 0.2, _observe((5,)), "x (5,)"),
        Property("side", 0.1, lambda functions, rng: {"ok": True}, "x", needs="values"),
    ),
    (double,),
)


def score(function, points=10):
    return CHECK.report((function,), points, seed=1)


def test_right_answer_gets_exactly_the_points():
    assert score(lambda x: x + x, 3).score == 3
    assert isinstance(score(double).score, float)


def test_partial_credit_is_the_weight_of_what_is_right():
    assert score(lambda x: 2 * x if x.ndim == 2 else x).score == 8
    assert score(lambda x: 2 * x if x.ndim == 1 else x).score == 2


def test_a_side_property_counts_nothing_without_the_one_it_needs():
    report = score(lambda x: x)
    assert report.score == 0
    assert "counts only together" in report.outcomes[2].reason


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (lambda x: None, "returned None"),
        (lambda x: [1, 2], "as list"),
        (lambda x: x[:1], "shape (3, 4); got (1, 4)"),
        (lambda x: x * np.nan, "NaN or infinite"),
        (lambda x: x * 1j, "dtype complex128"),
        (lambda x: x.astype(object), "dtype object"),
        (lambda x: 1 / 0, "raised ZeroDivisionError"),
        (lambda x, y: x, "raised TypeError"),
        (lambda x: exit(), "raised SystemExit"),
    ],
)
def test_the_reason_says_what_came(wrong, reason):
    report = score(wrong)
    assert report.score == 0
    assert reason in report.outcomes[0].reason


def test_reasons_never_show_the_right_numbers():
    rng = np.random.default_rng([1, 0])
    right = 2 * rng.normal(size=(3, 4))
    text = score(lambda x: x + 1).text()
    assert not any(f"{abs(value):.3f}" in text for value in right.ravel())


def test_prints_warnings_and_stderr_cost_nothing_and_show_nothing(capfd):
    def noisy(x):
        import sys
        import warnings

        print("inputs", x)
        print("inputs", x, file=sys.stderr)
        warnings.warn("careful", stacklevel=1)
        np.log(np.zeros(1))
        return 2 * x

    assert score(noisy).score == 10
    assert capfd.readouterr() == ("", "")


def test_a_report_prints_and_reads_back(capsys):
    assert CHECK.run((lambda x: x,), 10) == 0
    printed = capsys.readouterr().out
    (finding,) = parse("noise\n" + printed + "more noise\n")
    assert (finding.function, finding.score, finding.points) == ("double", 0, 10)
    assert finding.lost == ("values", "a vector", "side")


def test_a_listener_gets_the_report_in_place_of_the_print(capsys):
    with listening() as reports:
        CHECK.run((double,), 4)
    assert [report.score for report in reports] == [4]
    assert capsys.readouterr().out == ""


def test_inputs_follow_the_seed_and_the_seed_the_secret(monkeypatch):
    seen = []
    record = lambda x: seen.append(x) or 2 * x  # noqa: E731
    for seed in (1, 1, 2):
        CHECK.report((record,), 1, seed)
    assert np.array_equal(seen[0], seen[2])
    assert not np.array_equal(seen[0], seen[4])
    monkeypatch.setenv("LAYERS_COURSE_SECRET", "one")
    first = draw_seed("double")
    monkeypatch.setenv("LAYERS_COURSE_SECRET", "two")
    assert draw_seed("double") != first


def test_weights_that_do_not_add_up_are_refused():
    with pytest.raises(ValueError, match="add up to 1"):
        Check("f", "layernorm", (Property("half", 0.5, _observe(1), "x"),), (double,))


@given(st.lists(st.floats(-1e6, 1e6), min_size=1), st.floats(1e-9, 0.5))
def test_distance_is_the_relative_change(values, change):
    x = np.array(values)
    expected = change if x.any() else 0
    assert distance(x * (1 + change), x) == pytest.approx(expected, rel=1e-6, abs=1e-12)
    assert distance(x, x) == 0


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), None, "0.5"])
def test_a_statistic_that_is_no_number_is_never_within(bad):
    assert explain("mean", bad, Within(0.5, 10.0), 1e-3) is not None
    assert explain("mean", 0.5, Within(0.5, 0.1), 1e-3) is None


def test_unpack_counts_what_came():
    with pytest.raises(RefusedError, match=r"must return 2 things \(out, cache\); it returned 3"):
        unpack((1, 2, 3), ("out", "cache"))
    with pytest.raises(RefusedError, match="must return out, cache; it returned ndarray"):
        unpack(np.zeros(2), ("out", "cache"))


def test_a_subclass_of_ndarray_is_stripped():
    class Liar(np.ndarray):
        def __eq__(self, other):
            return True

    assert type(array(np.zeros(2).view(Liar), "out")) is np.ndarray
