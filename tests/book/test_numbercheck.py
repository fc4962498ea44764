"""The questions of the chapters: what the build accepts, what the page answers and gives away."""

import base64
import json
import math
import re
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.book.browser import Visit
from tests.book.site import ROOT

sys.path.insert(0, str(ROOT / "book" / "_ext"))
from numbercheck import WRONG, plain, refuse_twins
from numbercheck.buckets import digest, marks
from numbercheck.expressions import evaluate, namespace

TOLERANCES = st.floats(1e-4, 1.0)
VALUES = st.floats(-1e3, 1e3)
# Marks of code and emphasis; a sign between two spaces is a multiplication.
EMPHASIS = r"`|(?<! )\*|\*(?! )"


def mark_of(x, within):
    """Do with a typed number what the script does."""
    return digest(f"key|0|{math.floor(x / (within / 4) + 0.5)}")


@given(VALUES, TOLERANCES, st.floats(-1, 1))
def test_numbers_within_the_tolerance_are_recognized(value, within, share):
    assert mark_of(value + share * within, within) in marks([value], within, "key")[0]


@given(VALUES, TOLERANCES, st.floats(1.26, 100), st.sampled_from([-1, 1]))
def test_numbers_beyond_it_are_not(value, within, times, sign):
    assert mark_of(value + sign * times * within, within) not in marks([value], within, "key")[0]


def test_marks_hide_their_order_and_depend_on_the_question():
    [first], [other] = marks([0.25], 0.01, "one"), marks([0.25], 0.01, "two")
    assert first == sorted(first)
    assert len(first) == len(set(first)) >= 9
    assert not set(first) & set(other)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("sqrt(2 / 512)", [0.0625]),
        ("x * 2", [6, 8]),
        ("[1, 2] * 3", [3, 6]),
        ("rows[0] + rows[1]", [4, 6]),
        ("sqrt(mean(x ** 2) / n)", [2.5]),
    ],
)
def test_expressions(source, expected):
    names = namespace("x = [3, 4]; n = 2; rows = [[1, 2], [3, 4]]")
    assert evaluate(source, names) == pytest.approx(expected)


@pytest.mark.parametrize("source", ["1 / 0", "log(0)", "[[1, 2]]", "unknown", "open('x')", "[]"])
def test_expressions_without_a_finite_value_are_refused(source):
    with pytest.raises((ValueError, ArithmeticError, NameError)):
        evaluate(source, namespace(""))


def test_what_an_author_can_get_wrong():
    with pytest.raises(ValueError, match=r"9 / 3 is too close to 6 / 2 for within=0\.1"):
        refuse_twins([([1.0], "the answer"), ([3.0], "6 / 2"), ([3.0], "9 / 3")], 0.1)
    with pytest.raises(ValueError, match="the answer has 1 numbers and"):
        refuse_twins([([1.0], "the answer"), ([1.0, 2.0], "[1, 2]")], 0.1)
    with pytest.raises(ValueError, match="positive"):
        marks([1.0], 0.0, "key")
    with pytest.raises(ValueError, match="too small"):
        marks([1e12], 1e-9, "key")
    with pytest.raises(ValueError, match="plain text"):
        plain("see $x$")
    with pytest.raises(ValueError, match="assignments"):
        namespace("x")


# What the pages hold -----------------------------------------------------------------------------

CHAPTERS = sorted(path.stem for path in (ROOT / "book" / "chapters").glob("*.md"))
QUESTION = re.compile(r"```\{numbercheck\} (\S+)\n(.*?)\n```\n", re.DOTALL)
OPTION = re.compile(r"^:(\w+): (.*)$", re.MULTILINE)
DATA = {"key", "count", "within", "right", "why", "hint", "wrong"}


def questions(layer):
    """Read the questions of a chapter as written: name, options, wrong answers."""
    text = (ROOT / "book" / "chapters" / f"{layer}.md").read_text(encoding="utf-8")
    return [(name, dict(OPTION.findall(b)), WRONG.findall(b)) for name, b in QUESTION.findall(text)]


@pytest.mark.book
@pytest.mark.parametrize("layer", CHAPTERS)
def test_no_page_gives_an_answer_away(layer, pages):
    page = pages[f"chapters/{layer}.html"]
    found = [json.loads(script) for script in page.scripts if script.startswith('{"key"')]
    asked = questions(layer)
    assert [data["key"] for data in found] == [f"chapters/{layer}#{name}" for name, *_ in asked]
    assert len(asked) >= 2
    everything = page.text + " ".join(page.scripts)
    for data, (_, options, wrong) in zip(found, asked):
        assert set(data) == DATA
        hidden = [data["right"], *(entry["marks"] for entry in data["wrong"])]
        assert all(re.fullmatch("[0-9a-f]{16}", m) for mark in hidden for v in mark for m in v)
        assert f":answer: {options['answer']}" not in everything
        sentences = [options.get("why", ""), options.get("hint", ""), *(why for _, why in wrong)]
        assert not [s for s in sentences if s and s in everything]


@pytest.mark.book
@pytest.mark.parametrize("layer", CHAPTERS)
def test_pages_answer(layer, browser, address):
    """Every answer and every typical wrong answer, typed into the page."""
    with Visit(browser, address) as visit:
        page = visit.open(f"chapters/{layer}.html")
        for name, options, wrong in questions(layer):
            names = namespace(options.get("given", ""))
            right = evaluate(options["answer"], names)
            assert ask(page, name, typed(right)).startswith("Right.")
            for source, why in wrong:
                said = ask(page, name, typed(evaluate(source, names)))
                assert said == f"Not yet. {' '.join(re.sub(EMPHASIS, '', why).split())}"
            far = [value + 1e3 * float(options["within"]) for value in right]
            assert ask(page, name, typed(far)).startswith("Not yet. ")
        assert visit.problems == []


def typed(numbers):
    return ", ".join(f"{number:.6g}" for number in numbers)


def ask(page, name, text):
    """Type, press Enter, read the reply."""
    page.fill(f"#check-{name}-field", text)
    page.press(f"#check-{name}-field", "Enter")
    return page.inner_text(f"#check-{name}-reply")


@pytest.mark.book
def test_what_readers_type(browser, address):
    with Visit(browser, address, 375) as visit:
        page = visit.open("chapters/rmsnorm.html")
        field, reply = page.locator("#check-rmsnorm-size-field"), "#check-rmsnorm-size-reply"
        assert field.get_attribute("aria-describedby").split()[-1] == reply[1:]
        assert page.get_attribute(reply, "role") == "status"
        for text in ("2.5", "2,5", " +2.5 ", "(2.5)", "5/2", "25e-1"):
            assert ask(page, "rmsnorm-size", text).startswith("Right.")
        for text in (
            "",
            "abc",
            "NaN",
            "Infinity",
            "1/0",
            "0/0",
            "1e999",
            "2.5 2.5",
            "1/2/3",
            "--1",
        ):
            said = ask(page, "rmsnorm-size", text)
            assert not said.startswith(("Right", "Not yet"))
            assert len(said) > 15
            assert field.get_attribute("aria-invalid") == "true"
        assert "<b>" in ask(page, "rmsnorm-size", "<b>x</b>")
        page.fill("#check-rmsnorm-size-field", "5")
        page.locator("#check-rmsnorm-size button").tap()
        assert "length of the vector" in page.inner_text(reply)
        page = visit.open("chapters/rmsnorm.html")
        assert field.input_value() == "5"
        assert "length of the vector" in page.inner_text(reply)
        assert visit.problems == []


@pytest.mark.book
def test_vectors(browser, address):
    with Visit(browser, address) as visit:
        page = visit.open("chapters/dropout.html")
        for text in ("4 0 4 4", "(4, 0, 4, 4)", "[4; 0; 4; 4]", "4,0,4,4"):
            assert ask(page, "dropout-backward", text).startswith("Right.")
        assert "4 numbers; you typed 2" in ask(page, "dropout-backward", "4 0")
        assert ask(page, "dropout-backward", "0 4 4 4").startswith("Not yet.")


def test_explanations_are_not_text_of_the_page():
    from numbercheck.buckets import conceal

    assert base64.b64decode(conceal("a secret")).decode() == "a secret"
    assert "secret" not in conceal("a secret")
