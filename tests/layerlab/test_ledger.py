"""Every claim is computed, lies inside its bounds, and none is forgotten."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from layerlab import numerical_gradient, relative_error
from layerlab.ledger import (
    SOURCES,
    Claim,
    chapters,
    computed,
    inside,
    ledger,
    missing,
    rows,
    written,
)
from layerlab.ledger.claim import about, below, between, exactly, near
from layerlab.ledger.corrections import CORRECTIONS
from layerlab.ledger.formulas import backward, cosine, normalized, softmax
from layerlab.ledger.rows import SECTIONS, Section, available
from layerlab.ledger.small_checks import SmallNet, by_entry
from layerlab.ledger.table import VERDICTS, anchor, claims, corrections, summary

BOOK = Path(__file__).parent.parent.parent / "book"
ROWS = ledger()
COMPUTED = [claim for claim in ROWS if claim.compute]
# The statements that were collected from the documents. A number may have become several rows.
NUMBERED = {str(number) for number in range(1, 53)}
# What is read from stored results, and left out while there are none of the present definition.
STORED = {
    "dropout_grid": {"1f"},
    "depth_instability": set(),
    "learning_rate_grid": {"1e"},
    "tiny_gpt": {"46", "51", "52"},
}
# Tables without numbers, and how many rows each has at least.
GROUPS = {"1b": 12, "1c": 11, "1d": 6, "1e": 13, "1f": 16}


def number(claim):
    """Take the letter off: 17 for 17a and 17b."""
    return re.sub(r"(?<=\d)[a-z]$", "", claim.id)


@pytest.mark.parametrize("claim", COMPUTED, ids=lambda claim: claim.id)
def test_the_computed_value_is_in_its_bounds(claim):
    assert inside(computed(claim), claim.within), written(claim)


@pytest.mark.parametrize(
    "claim", [claim for claim in ROWS if claim.refutes], ids=lambda claim: claim.id
)
def test_what_was_claimed_is_outside(claim):
    assert claim.verdict in ("holds if", "corrected")
    assert not inside(computed(claim), claim.refutes), written(claim)


def test_a_corrected_claim_says_what_would_have_been_right_and_what_is():
    for claim in ROWS:
        if claim.verdict == "corrected":
            assert claim.refutes, claim.id
        if claim.verdict in ("holds if", "corrected"):
            assert claim.remark, claim.id


def test_a_wrong_verdict_would_be_noticed():
    """A claim that is right cannot be called corrected, nor a wrong one be said to hold."""
    exact, usual = (next(claim for claim in ROWS if claim.id == name) for name in ("5", "8"))
    assert inside(computed(exact), exact.within)
    assert not inside(computed(replace(usual, within=usual.refutes)), usual.refutes)
    assert not inside((float("nan"),), between(-np.inf, np.inf))
    with pytest.raises(ValueError, match="2 pairs for 1 numbers"):
        inside((1.0,), exactly(1, 1))


def test_no_claim_is_missing_and_none_twice():
    ids = [claim.id for claim in ROWS]
    assert len(set(ids)) == len(ids)
    waiting = set().union(*(STORED[name] for name in missing()))
    assert NUMBERED - waiting <= {number(claim) for claim in ROWS}
    for group, count in GROUPS.items():
        found = sum(claim.id.startswith(f"{group}-") for claim in ROWS)
        assert found >= count or group in waiting, group


def test_a_claim_about_literature_cites_and_computes_nothing():
    keys = set(re.findall(r"@\w+\{(\w+),", (BOOK / "references.bib").read_text(encoding="utf-8")))
    for claim in ROWS:
        assert set(claim.cites) <= keys, claim.id
        assert (claim.verdict == "literature") == (claim.compute is None), claim.id
        if claim.verdict == "literature":
            assert claim.cites, claim.id
            with pytest.raises(ValueError, match=f"claim {claim.id} is about literature"):
                computed(claim)


def test_sources_and_verdicts_are_known():
    for claim in ROWS:
        assert set(claim.source.split(", ")) <= set(SOURCES), claim.id
        assert claim.verdict in VERDICTS


def test_the_ten_corrections_are_shown_by_rows_of_the_ledger():
    known = {claim.id: claim for claim in ROWS}
    assert len(CORRECTIONS) == 10
    for correction in CORRECTIONS:
        verdicts = {known[row].verdict for row in correction.rows if row in known}
        # The rows of an experiment that has to be run again are there together, or not at all.
        assert "corrected" in verdicts or (missing() and not verdicts), correction.said


def test_each_row_is_shown_once():
    shown = "\n".join(claims(title)._repr_markdown_() for title in chapters())
    assert re.findall(r"\{#([\w-]+)\}", shown) == [anchor(claim) for claim in ROWS]
    page = (BOOK / "ledger.md").read_text(encoding="utf-8")
    assert re.findall(r'claims\("(.+)"\)', page) == list(chapters())
    assert str(len(ROWS)) in summary()._repr_markdown_()
    assert corrections()._repr_markdown_().count("\n| ") == 12


def test_numbers_are_written_as_on_paper():
    claim = Claim(
        "x", "notes", "", "", "holds", lambda: [-0.5, 1.2e-6, 3e9], shows="{} {:.1e} {:.0e}"
    )
    times = "\N{NO-BREAK SPACE}\N{MULTIPLICATION SIGN}\N{NO-BREAK SPACE}"
    assert written(claim) == f"\N{MINUS SIGN}0.5 1.2{times}10⁻⁶ 3{times}10⁹"
    two = Claim(
        "y", "notes", "", "", "holds", lambda: [3, -1], shows="D - 1, a-b: {:.0f} to {:.0f}"
    )
    assert written(two) == "D - 1, a-b: 3 to \N{MINUS SIGN}1"


def test_bounds():
    assert near(1, 2, within=0.5) == ((0.5, 1.5), (1.5, 2.5))
    assert about(-10, share=0.1) == ((-11, -9),)
    assert below(3, 2) == ((0, 3), (0, 3))


@pytest.mark.parametrize("norm", ["none", "layernorm", "rmsnorm", "batchnorm"])
def test_the_formulas_of_the_norms(norm):
    x, dout = np.random.default_rng(0).normal(size=(2, 5, 7))
    got = backward(dout, *normalized(x, norm), norm)
    assert relative_error(got, numerical_gradient(lambda v: normalized(v, norm)[0], x, dout)) < 1e-8
    stacked = normalized(np.stack([x, 2 * x]), norm)[0]
    np.testing.assert_allclose(stacked[0], normalized(x, norm)[0], rtol=1e-13)


def test_the_small_formulas():
    a = np.array([[3.0, 1.0], [4.0, 0.0]])
    np.testing.assert_allclose(
        cosine(a, np.array([[4.0, -1.0], [3.0, 5.0]]), axis=0), [0.96, -0.196116], rtol=1e-5
    )
    np.testing.assert_allclose(softmax(np.log([1.0, 3.0])), [0.25, 0.75])
    assert by_entry(np.array([1.0, 0.0]), np.array([3.0, 0.0])) == 0.5


@pytest.mark.parametrize("norm", ["none", "layernorm", "rmsnorm", "batchnorm"])
def test_the_gradients_of_the_small_network_are_right(norm):
    """Measured one entry at a time, in another way than its own stacked differences."""
    net = SmallNet(norm, 3, biased=True)
    for place, (value, got) in enumerate(zip(net.values, net.gradients())):

        def loss(v, place=place):
            return net.loss([*net.values[:place], v, *net.values[place + 1 :]])

        assert relative_error(got, numerical_gradient(loss, value.copy(), 1.0)) < 1e-7


def test_rows_without_results_are_left_out_and_said_to_be(monkeypatch):
    assert not available("no such experiment")
    monkeypatch.setattr(rows, "SECTIONS", (*SECTIONS, Section("Dropout", "nowhere", "no such")))
    chapters.cache_clear()
    assert ledger() == ROWS
    assert missing("Dropout")[-1] == "no such"
    assert missing("LayerNorm") == ()
    assert "The rows on `no such` are left out" in claims("Dropout")._repr_markdown_()
    monkeypatch.undo()
    chapters.cache_clear()
