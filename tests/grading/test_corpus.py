"""The corpus of odd and hostile notebooks that lies beside the repository, where it does."""

import csv
import os
from pathlib import Path

import pytest

from autograder.grading.master import master_from_source
from autograder.grading.submission import Job

CORPUS = Path(os.environ.get("LAYERS_CORPUS", "no corpus given")) / "layernorm_course"
ROWS = (
    list(csv.DictReader((CORPUS / "EXPECTED.csv").read_text().splitlines()))
    if CORPUS.is_dir()
    else []
)


@pytest.mark.skipif(not ROWS, reason="LAYERS_CORPUS does not name the corpus")
def test_every_row_of_the_corpus_comes_out_as_expected(engine):
    source = (CORPUS / "source" / "ps1" / "p1.ipynb").read_bytes()
    master = engine.prepare(master_from_source(source, "ps1", "p1"))
    got = {}
    for row in ROWS:
        folder = CORPUS / "submitted" / row["student"] / "ps1"
        path = next(folder.glob("*.ipynb"))
        result = engine.grade(Job(row["student"], "ps1", "p1", path), master)
        assert result.problems or result.status == "graded"
        got[row["student"]] = f"{result.score:g}" if result.status == "graded" else ""
    assert got == {row["student"]: row["score"] for row in ROWS}
