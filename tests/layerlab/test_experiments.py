"""The store of long experiments: small cells again, interruptions, refusals."""

import io
import json
from dataclasses import replace

import numpy as np
import pytest
from layerlab.experiments import Experiment, StoredError, stored
from layerlab.experiments.__main__ import main
from layerlab.experiments.registry import ALL
from layerlab.experiments.running import measured, run
from layerlab.experiments.store import RESULTS, read


def powers(cell, seed):
    return {"value": np.float64(cell["base"]) ** np.arange(3), "drawn_with": seed}


TOY = Experiment("toy", ({"base": 2}, {"base": 3}, {"base": 4}), powers, 7, ({"base": 1},))


@pytest.mark.parametrize("name", ALL)
def test_small_cells_come_out_as_stored(name):
    experiment, results = ALL[name], stored(name)
    assert len(results.rows) == len(experiment.cells)
    for cell, row in zip(experiment.small, results.small, strict=True):
        again = measured(experiment, cell)
        assert again.keys() == row.keys()
        for key in row:
            _agree(again[key], row[key], experiment.rtol)


def _agree(got, expected, rtol):
    if _numeric(expected):
        np.testing.assert_allclose(got, expected, rtol=rtol, atol=rtol)
    elif isinstance(expected, list):
        assert len(got) == len(expected)
        for one, other in zip(got, expected):
            _agree(one, other, rtol)
    else:
        assert type(got) is type(expected)


def _numeric(value):
    try:
        return np.asarray(value).dtype.kind in "fiub"
    except ValueError:
        return False


@pytest.mark.parametrize("name", ALL)
def test_the_results_file_is_small_and_says_where_it_comes_from(name):
    results = stored(name)
    assert (RESULTS / f"{name}.json").stat().st_size < 300_000
    assert results.versions.keys() == {"python", "numpy", "numba"}
    assert results.date >= "2025"
    assert results.seed == ALL[name].seed


def test_a_run_that_was_killed_goes_on_where_it_stopped(tmp_path):
    asked = []

    def killed_at_the_third(cell, seed):
        asked.append(cell["base"])
        if len(asked) == 3:
            raise KeyboardInterrupt
        return powers(cell, seed)

    interrupted = replace(TOY, measure=killed_at_the_third)
    with pytest.raises(KeyboardInterrupt):
        run(interrupted, tmp_path, tmp_path, io.StringIO())
    with pytest.raises(StoredError, match="no results of toy yet"):
        read(TOY, tmp_path)
    # A line that the kill cut off, and one of another definition.
    with (tmp_path / "toy.jsonl").open("a") as journal:
        journal.write('{"cell": "0123", "row": {"base": 9}, "seconds": 1}\n{"cell": "45')
    progress = io.StringIO()
    run(interrupted, tmp_path, tmp_path, progress)
    assert asked == [2, 3, 4, 4, 1]
    assert "2 of 4 cells" in progress.getvalue()
    whole = tmp_path / "whole"
    run(TOY, whole, whole, io.StringIO())
    assert read(TOY, tmp_path).rows == read(TOY, whole).rows
    assert read(TOY, whole).row(base=3) == {"base": 3, "value": [1.0, 3.0, 9.0], "drawn_with": 7}


def test_results_of_another_definition_are_refused(tmp_path):
    run(TOY, tmp_path, tmp_path, io.StringIO())
    for other in (replace(TOY, seed=8), replace(TOY, edition=2), replace(TOY, cells=TOY.cells[1:])):
        with pytest.raises(StoredError, match="another definition of toy"):
            read(other, tmp_path)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"digest": "x", "rows": []}', "half a fi"])
def test_a_damaged_results_file_is_refused(tmp_path, text):
    (tmp_path / "toy.json").write_text(text)
    with pytest.raises(StoredError, match="make experiments NAME=toy"):
        read(TOY, tmp_path)


def test_a_row_must_be_one(tmp_path):
    run(TOY, tmp_path, tmp_path, io.StringIO())
    with pytest.raises(StoredError, match="got 0 of 3"):
        read(TOY, tmp_path).row(base=5)
    with pytest.raises(StoredError, match="got 3 of 3"):
        read(TOY, tmp_path).row()
    with pytest.raises(StoredError, match="there are"):
        stored("nothing")


def test_definitions_and_results_that_cannot_work_are_refused():
    with pytest.raises(ValueError, match="no two cells"):
        replace(TOY, small=TOY.cells[:1])
    with pytest.raises(ValueError, match="needs cells"):
        replace(TOY, small=())
    with pytest.raises(ValueError, match="like a parameter; got base"):
        measured(replace(TOY, measure=lambda cell, seed: {"base": 1}), {"base": 2})


def test_the_command_runs_what_is_missing_only(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(ALL, "toy", TOY)
    places = ["--journals", str(tmp_path), "--results", str(tmp_path)]
    assert main(["toy", *places]) == 0
    first = json.loads((tmp_path / "toy.json").read_text())
    assert first["rows"][0]["value"] == [1.0, 2.0, 4.0]
    capsys.readouterr()
    assert main(["toy", *places]) == 0
    assert "the results are there" in capsys.readouterr().out
    assert main(["toy", "--again", *places]) == 0
    assert "toy: 0 of 4 cells" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["nothing", *places])
    assert "unknown experiment nothing; there are" in capsys.readouterr().err
