"""The ledger as the page shows it: tables in MyST markdown, rendered by the book."""

from collections import Counter
from collections.abc import Sequence

from layerlab.ledger.claim import SOURCES, Claim, Verdict, written
from layerlab.ledger.corrections import CORRECTIONS
from layerlab.ledger.rows import chapters, ledger, missing

VERDICTS: tuple[Verdict, ...] = ("holds", "holds if", "corrected", "literature")


class Markdown:
    """Text that a notebook renders.

    Parameters
    ----------
    text : str
        MyST markdown.
    """

    def __init__(self, text: str) -> None:
        self.text = text

    def _repr_markdown_(self) -> str:
        return self.text


def claims(title: str) -> Markdown:
    """Table of the claims under a heading.

    Parameters
    ----------
    title : str
        A key of `chapters()`.
    """
    head = ("id", "claim", "claimed", "computed", "verdict")
    shown = _table(head, [_row(claim) for claim in chapters()[title]], "ledger")
    for name in missing(title):
        shown.text += (
            f"\n\nThe rows on `{name}` are left out: there are no stored results of its present "
            f"definition. `make experiments NAME={name}` makes them.\n"
        )
    return shown


def summary() -> Markdown:
    """Table of the number of rows by heading and verdict."""
    lines = [_counts(title, rows) for title, rows in chapters().items()]
    lines.append(_counts("**together**", ledger()))
    return _table(("chapter", "rows", *VERDICTS), lines, "ledger-summary")


def corrections() -> Markdown:
    """Table of the corrections, with the rows that show them."""
    known = {claim.id: claim for claim in ledger()}
    lines = []
    for number, correction in enumerate(CORRECTIONS, 1):
        shown = [known[row] for row in correction.rows if row in known]
        numbers = "<br>".join(f"{_link(claim)}: {written(claim)}" for claim in shown)
        lines.append((str(number), correction.said, correction.instead, numbers))
    return _table(
        ("no.", "it said", "the course says", "computed, by row"), lines, "ledger-corrections"
    )


def _row(claim: Claim) -> tuple[str, ...]:
    sources = ", ".join(SOURCES[source] for source in claim.source.split(", "))
    cites = ",".join(claim.cites)
    remark = claim.remark + (f" {{cite:p}}`{cites}`" if cites else "")
    shown = written(claim) if claim.compute else "cited, not computed"
    kind = claim.verdict.replace(" ", "-")
    verdict = f"[{claim.verdict}]{{.verdict .{kind}}} {remark}".strip()
    says = f"{claim.says} [{sources}]{{.source}}"
    return f"[{claim.id}]{{#{anchor(claim)}}}", says, claim.claimed, shown, verdict


def anchor(claim: Claim) -> str:
    """Name the place of a row on the page; Sphinx writes such names in small letters."""
    return f"claim-{claim.id.lower()}"


def _link(claim: Claim) -> str:
    return f"[row {claim.id}](#{anchor(claim)})"


def _counts(title: str, rows: Sequence[Claim]) -> tuple[str, ...]:
    found = Counter(claim.verdict for claim in rows)
    return title, str(len(rows)), *(str(found[verdict]) for verdict in VERDICTS)


def _table(head: Sequence[str], lines: Sequence[Sequence[str]], kind: str) -> Markdown:
    rows = [head, ["---"] * len(head), *lines]
    text = "\n".join(f"| {' | '.join(map(_cell, row))} |" for row in rows)
    return Markdown(f":::{{container}} {kind}\n{text}\n:::")


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
