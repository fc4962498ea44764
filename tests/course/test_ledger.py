import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.course.ledger import Ledger
from autograder.course.record import Digests, Record, Score


def record(student, score=1.0, submission="a"):
    scores = {"cell": Score("grade", score, 4.0, lost=("shape",))}
    digests = Digests(submission, "master", "1", "secret")
    return Record(student, "ps1", "nb", f"/{student}", "graded", digests, scores, {"cell": None})


def identity(student):
    return student, "ps1", "nb"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "grading" / "ledger.jsonl"


def test_what_was_appended_is_read_back(path):
    with Ledger(path) as ledger:
        ledger.begin()
        ledger.append(record("ada"))
        assert ledger.latest(identity("ada")) == record("ada")
    with Ledger(path) as ledger:
        assert ledger.latest(identity("ada")) == record("ada")
        assert ledger.verdict(identity("ada")) == (record("ada").digests.key, "graded")
        assert ledger.verdict(identity("bob")) == ("", "")


def test_only_what_came_after_the_last_commit_is_fresh(path):
    with Ledger(path) as ledger:
        ledger.append(record("ada"))
        ledger.commit()
        ledger.append(record("bob"))
    with Ledger(path) as ledger:
        assert [one.student for one in ledger.fresh()] == ["bob"]


def test_changes_compare_with_the_run_before_even_if_a_run_was_cut_short(path):
    with Ledger(path) as ledger:
        ledger.begin()
        ledger.append(record("ada", 1))
        ledger.finish()
    with Ledger(path) as ledger:  # killed before it could finish
        ledger.begin()
        ledger.append(record("ada", 2, "b"))
    with Ledger(path) as ledger:
        ledger.begin()
        ledger.append(record("ada", 3, "c"))
        ledger.append(record("new", 3))
        ledger.finish()
        assert list(ledger.changed()) == [identity("ada")]
        assert ledger.before(identity("ada")).score == 1
        assert ledger.latest(identity("ada")).score == 3


@settings(max_examples=60, deadline=None)
@given(cut=st.integers(0, 10_000), junk=st.binary(max_size=40))
def test_a_torn_or_damaged_end_costs_only_what_it_tore(tmp_path_factory, cut, junk):
    """Whatever is left of the file, whole lines count and the ledger can be written to again."""
    path = tmp_path_factory.mktemp("torn") / "ledger.jsonl"
    students = ["ada", "bob", "cyd"]
    with Ledger(path) as ledger:
        for student in students:
            ledger.append(record(student))
    whole = path.read_bytes()
    kept = whole[: cut % (len(whole) + 1)]
    path.write_bytes(kept + junk)
    survivors = students[: kept.count(b"\n")]
    with Ledger(path) as ledger:
        found = {student for student, _, _ in ledger}
        assert set(survivors) <= found
        ledger.append(record("eve"))
    with Ledger(path) as ledger:
        assert ledger.latest(identity("eve")) == record("eve")
        assert all(ledger.latest(identity(student)) for student in survivors)
