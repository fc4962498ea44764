"""What the checks on regularization say where no known mistake fits, and how fair they are."""

import numpy as np

from autograder.checks.regularization import MEANS
from autograder.checks.regularization_split import SPLIT


def test_masks_that_are_drawn_are_recognized():
    draws = np.random.default_rng(0)

    def sampled(x, w, p):
        masks = draws.random((500, len(x))) >= p
        z = (masks * x / (1 - p)) @ w
        return z.mean(axis=0), np.maximum(z, 0).mean(axis=0)

    report = MEANS.report((sampled,), 5, seed=0)
    assert report.score < 1
    assert "it draws masks" in report.sentence


def test_a_steady_wrong_answer_is_not_taken_for_drawn():
    report = MEANS.report((lambda x, w, p: (3 * (x @ w), x @ w - 7),), 5, seed=0)
    assert report.score == 0
    assert report.sentence is None


def test_a_small_preference_for_an_example_is_seen():
    """One example in train three times as often as it should be."""

    def partial(n, n_train, n_val, rng):
        order = rng.permutation(n)
        first = np.flatnonzero(order == 0)[0]
        if first >= n_train and rng.random() < 0.9:
            order[[0, first]] = order[[first, 0]]
        return order[:n_train], order[n_train : n_train + n_val]

    lost = [
        out.name for out in SPLIT.report((partial,), 3, seed=1).outcomes if out.reason is not None
    ]
    assert lost == ["every example equally likely"]
