"""Every claim of the documents that the course started from, computed anew.

A row is a `Claim`: what was said, a function that computes the number that decides, and a verdict.
`ledger` lists all rows, `layerlab.ledger.table` shows them on the page of the book, and a test
computes each one and compares it with its bounds.
"""

from layerlab.ledger.claim import SOURCES, Claim, computed, inside, written
from layerlab.ledger.rows import chapters, ledger, missing

__all__ = ["SOURCES", "Claim", "chapters", "computed", "inside", "ledger", "missing", "written"]
