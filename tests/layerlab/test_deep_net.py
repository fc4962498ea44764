"""The deep net of the learning-rate grid: its gradients, and what three hundred steps show."""

from itertools import pairwise

import numpy as np
import pytest
from layerlab import gradient_check
from layerlab.deep_net import LOST, NORMS, Setting, _forward, _gradients, train
from layerlab.experiments.learning_rate_grid import SHORT, splits

TINY, HE = 0.01, 0.0


@pytest.mark.parametrize("norm", NORMS)
def test_gradients_agree_with_finite_differences(norm):
    rng = np.random.default_rng(3)
    sizes = (5, 7, 6, 4)
    weights = [rng.normal(size=(2, i, o)) for i, o in pairwise(sizes)]
    biases = [rng.normal(size=(2, 1, o)) for o in sizes[1:]]
    x, labels = rng.normal(size=(2, 3, 5)), rng.integers(0, 4, (2, 3))
    gradients = _gradients(x, labels, weights, biases, norm)

    def losses(place):
        def at(value):
            parts = [*weights, *biases]
            parts[place] = value
            logits = _forward(x, parts[:3], parts[3:], norm)[2]
            right = np.take_along_axis(logits, labels[..., None], -1)[..., 0]
            return (np.log(np.exp(logits).sum(-1)) - right).mean(-1)

        return at

    for place, (part, slope) in enumerate(zip(weights + biases, gradients, strict=True)):
        gradient_check(losses(place), part, np.ones(2), slope, limit=1e-7)


@pytest.mark.parametrize(
    ("std", "norm", "rate", "low", "high"),
    [
        (TINY, "none", 0.1, 1.3, 1.5),
        (TINY, "layernorm", 1e-3, 0, 0.6),
        (TINY, "layernorm", 0.1, 1.3, 1.5),
        (TINY, "rmsnorm", 1e-3, 0, 0.6),
        (HE, "layernorm", 0.1, 0, 0.05),
    ],
)
def test_a_norm_lets_the_tiny_start_train_at_a_hundredth_of_the_rate(std, norm, rate, low, high):
    x, labels = splits("clouds", np.random.default_rng(0))
    setting = Setting(depth=10, std=std, norm=norm, optimizer="sgd", rate=rate)
    (losses,) = train(x, labels, setting, (SHORT,), seed=0)
    # One split of three may leave the plateau a little: the median of the grid is what is claimed.
    assert low < np.median(losses) < high, losses


def test_a_network_that_diverges_counts_as_lost_without_a_warning():
    x, labels = splits("clouds", np.random.default_rng(0))
    setting = Setting(depth=10, std=HE, norm="none", optimizer="sgd", rate=0.1, gain=2.0)
    (losses,) = train(x, labels, setting, (20,), seed=0)
    np.testing.assert_array_equal(losses, LOST)


def test_starts_and_batches_do_not_depend_on_the_setting():
    """A rate of 0 leaves the start as it is, for any optimizer: the losses are equal."""
    x, labels = splits("clouds", np.random.default_rng(0), count=2)
    settings = [Setting(3, HE, "rmsnorm", optimizer, 0.0) for optimizer in ("sgd", "adam")]
    first, second = (train(x, labels, setting, (1, 3), seed=5) for setting in settings)
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(first[0], first[1])
