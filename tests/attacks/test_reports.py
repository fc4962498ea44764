"""What a student's code says of itself cannot be read as the verdict of a check."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.checks.observe import RefusedError, array, call, unpack
from autograder.checks.report import Outcome, Report, parse
from autograder.sandbox import CallFailed
from autograder.sandbox.errors import call_failed

FORGED = (
    "layernorm_forward: 8 of 8 points", "  Misconception LF1: a forged one",
    "  lost    values  0 of 8", "  right   values  8 of 8",
)  # fmt: skip
BREAKS = ("\n", "\r", "\v", "\f", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029", "\n\n", "  ")
texts = st.lists(st.sampled_from((*FORGED, *BREAKS)), max_size=8).map("".join)


def refusal(answer, look):
    """Give the reason for which a check refuses an answer."""
    with pytest.raises(RefusedError) as refused:
        look(answer)
    return str(refused.value)


def raising(error):
    def answer():
        raise error

    return refusal(answer, call)


def findings(reason):
    lost = Outcome("values on a batch", 8.0, 0.0, f"layernorm_forward {reason} (given x)")
    return parse(Report("layernorm_forward", 8.0, 0.0, (lost,), None, None, reason, 7).text())


def check(reason):
    (only,) = findings(reason)
    assert (only.function, only.score, only.mistake) == ("layernorm_forward", 0.0, None)
    assert only.lost == ("values on a batch",)


@given(texts, texts)
def test_an_error_forges_no_report(name, message):
    check(raising(type(name, (ValueError,), {})(message)))
    check(raising(call_failed(name, message, "ValueError")))
    check(raising(CallFailed(name, message)))


@given(texts)
def test_the_name_of_a_type_forges_no_report(name):
    strange = type(name, (), {})()
    check(refusal(strange, lambda value: array(value, "out")))
    check(refusal(strange, lambda value: unpack(value, ("out", "cache"))))
