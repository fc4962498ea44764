"""Claims about embeddings."""

import numpy as np

from layerlab.ledger.claim import Claim, Numbers, exactly
from layerlab.ledger.formulas import Floats

TABLE = np.array([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]])
IDS = np.array([2, 0, 2])
DOUT = np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])


def _lookup() -> Floats:
    return TABLE[IDS]


def _one_hot() -> Numbers:
    """Largest difference to the one-hot product, and NaN rows of it when one entry is infinite."""
    one_hot = np.eye(3)[IDS]
    broken = TABLE.copy()
    broken[1, 0] = np.inf
    with np.errstate(invalid="ignore"):
        rows = np.isnan(one_hot @ broken).any(axis=1)
    return float(np.abs(one_hot @ TABLE - TABLE[IDS]).max()), float(rows.sum())


def _added() -> Floats:
    table = np.zeros((3, 2))
    np.add.at(table, IDS, DOUT)
    return table


def _last_kept() -> Floats:
    table = np.zeros((3, 2))
    table[IDS] += DOUT
    return table[2]


ROWS = (
    Claim(
        "1",
        "notes",
        "A table of three rows, looked up with ids (2, 0, 2), gives its rows 2, 0 and 2.",
        "(0.5, 0.6), (0.1, 0.2), (0.5, 0.6)",
        "holds",
        _lookup,
        exactly(0.5, 0.6, 0.1, 0.2, 0.5, 0.6),
        "({:.1f}, {:.1f}), ({:.1f}, {:.1f}), ({:.1f}, {:.1f})",
    ),
    Claim(
        "2",
        "notes",
        "A product with one-hot rows gives the same result as the look-up.",
        "no difference",
        "holds if",
        _one_hot,
        exactly(0.0, 3.0),
        "{:.0f} difference; with one infinite entry {:.0f} of 3 rows are NaN",
        refutes=exactly(0.0, 0.0),
        remark="Only for a finite table: 0 times infinity is NaN, and the product visits all rows.",
    ),
    Claim(
        "3",
        "notes",
        "The gradient of the table adds up over repeated ids.",
        "(2, 2), (0, 0), (4, 4)",
        "holds",
        _added,
        exactly(2, 2, 0, 0, 4, 4),
        "({:.0f}, {:.0f}), ({:.0f}, {:.0f}), ({:.0f}, {:.0f})",
    ),
    Claim(
        "4",
        "notes",
        "`dE[ids] += dout` keeps only the last of the repeated ids.",
        "row 2 is (3, 3)",
        "holds",
        _last_kept,
        exactly(3, 3),
        "({:.0f}, {:.0f})",
    ),
    Claim(
        "L1",
        "notes",
        "Learning a vector for each word together with the model goes back to 2003.",
        "history",
        "literature",
        cites=("bengio2003",),
    ),
)
