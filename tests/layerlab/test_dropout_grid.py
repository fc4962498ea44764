"""The dropout grid: its conclusions in the stored rows, and again on a few splits."""

import numpy as np
import pytest
from layerlab.experiments import stored
from layerlab.experiments.dropout_grid import EXPERIMENT, data, looks, measure, mislabel

SHORT = {"data": "questions", "steps": 3_000, "splits": 3, "wrong_labels": 0.0}


@pytest.fixture(scope="module")
def trained():
    """Four networks on three splits, by p and decay."""
    pairs = [(p, decay) for p in (0.0, 0.5) for decay in (0.0, 3.0)]
    return {
        (p, decay): measure({**SHORT, "p": p, "decay": decay}, EXPERIMENT.seed)
        for p, decay in pairs
    }


def last(result, name):
    return np.array(result[name][-1])


def test_trained_anew_dropout_alone_worsens_and_beside_decay_it_helps(trained):
    rise = last(trained[0.5, 0.0], "cross_entropy") - last(trained[0.0, 0.0], "cross_entropy")
    assert (rise > 0).all()
    assert rise.mean() > 0.3
    wider = last(trained[0.5, 0.0], "gap") / last(trained[0.0, 0.0], "gap")
    assert (wider > 1.2).all()
    fall = last(trained[0.0, 3.0], "cross_entropy") - last(trained[0.5, 3.0], "cross_entropy")
    assert (fall > 0).all()


def at(name, look=3_000, **cell):
    row = stored("dropout_grid").row(wrong_labels=0.0, **cell)
    return np.array(row[name][row["looks"].index(look)])


@pytest.mark.parametrize("name", ["questions", "clouds"])
def test_the_stored_grid_has_the_signs_of_the_claims(name):
    def worse(p, decay, look=3_000):
        with_dropout = at("cross_entropy", look, data=name, p=p, decay=decay)
        return int((with_dropout > at("cross_entropy", look, data=name, p=0.0, decay=decay)).sum())

    assert worse(0.5, 0.0) >= 9
    assert worse(0.5, 3.0) <= 1
    assert worse(0.5, 10.0) >= 9
    assert worse(0.7, 10.0) == 10
    assert worse(0.5, 0.0, look=500) == 0
    assert worse(0.5, 0.0, look=12_000) == 10
    assert worse(0.5, 3.0, look=12_000) == 0
    gap, sure = (
        at(measured, data=name, p=0.5, decay=0.0) / at(measured, data=name, p=0.0, decay=0.0)
        for measured in ("gap", "sure_when_wrong")
    )
    assert gap.mean() > 1.2
    assert sure.mean() > 1


def test_looks_end_with_the_run():
    assert looks(150) == (100, 150)
    assert looks(3_000) == (100, 200, 500, 1_000, 2_000, 3_000)


def test_a_fifth_of_the_labels_is_changed_and_none_to_itself():
    labels = np.random.default_rng(0).integers(0, 4, (50, 200))
    moved = mislabel(labels, 0.2, np.random.default_rng(1))
    share = np.mean(moved != labels)
    assert abs(share - 0.2) < 5 * np.sqrt(0.2 * 0.8 / labels.size)
    assert set(np.unique(moved)) == {0, 1, 2, 3}
    np.testing.assert_array_equal(mislabel(labels, 0.0, np.random.default_rng(1)), labels)


def test_clouds_that_lie_further_apart():
    near, far = (data(name, np.random.default_rng(0))[0] for name in ("clouds", "far clouds"))
    assert near.shape == far.shape == (200, 64)
    assert far.var() > near.var()
