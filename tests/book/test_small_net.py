"""The classifier behind the dropout experiment."""

import numpy as np
from layerlab import numerical_gradient, relative_error
from layerlab.small_net import (
    CLASSES,
    FEATURES,
    TRAIN,
    _adamw,
    _gradients,
    _probabilities,
    clouds,
    train,
)


def test_slopes_agree_with_finite_differences():
    rng = np.random.default_rng(0)
    shapes = [(1, 6, 5), (1, 5, 7), (1, 7, CLASSES), (1, 1, 5), (1, 1, 7), (1, 1, CLASSES)]
    parameters = [rng.normal(size=shape) for shape in shapes]
    x, labels = rng.normal(size=(1, 9, 6)), rng.integers(0, CLASSES, (1, 9))
    p = np.full((1, 1, 1), 0.4)

    def loss(index, value):
        """Mean cross-entropy with the masks of seed 1, written anew."""
        w1, w2, w3, b1, b2, b3 = [*parameters[:index], value, *parameters[index + 1 :]]
        masks = np.random.default_rng(1)
        h = x
        for w, b in ((w1, b1), (w2, b2)):
            h = np.maximum(h @ w + b, 0)
            h = np.where(masks.random(h.shape, np.float32) < 0.4, 0, h / 0.6)
        return -np.log(_probabilities(h @ w3 + b3)[0, np.arange(9), labels[0]]).mean()

    got = _gradients(x, labels, parameters, p, np.random.default_rng(1))
    for index, slope in enumerate(got):
        expected = numerical_gradient(
            lambda value, i=index: loss(i, value), parameters[index].copy(), 1.0
        )
        assert relative_error(slope, expected) < 1e-6


def test_steps_are_those_of_adamw():
    """Three steps of two networks with decays of their own, against the textbook formula."""
    rng = np.random.default_rng(0)
    w, decay = rng.normal(size=(2, 3, 4)), np.array([0.0, 3.0])
    got, m, v = w.copy(), np.zeros_like(w), np.zeros_like(w)
    slopes = rng.normal(size=(3, 2, 3, 4))
    for t in range(1, 4):
        _adamw(got, slopes[t - 1], m, v, decay, 1 - 0.9**t, 1 - 0.999**t)
        first = sum(0.1 * 0.9 ** (t - k) * slopes[k - 1] for k in range(1, t + 1)) / (1 - 0.9**t)
        second = sum(0.001 * 0.999 ** (t - k) * slopes[k - 1] ** 2 for k in range(1, t + 1))
        scaled = first / (np.sqrt(second / (1 - 0.999**t)) + 1e-8)
        w = w - 1e-3 * (scaled + decay[:, None, None] * w)
    # The rates inside are float32.
    np.testing.assert_allclose(got, w, rtol=1e-6)


def test_clouds_hold_every_class_equally_often():
    x, labels = clouds(np.random.default_rng(0))
    assert x.shape == (200, FEATURES)
    assert np.bincount(labels).tolist() == [50] * CLASSES


def test_networks_in_a_stack_do_not_touch_each_other():
    """Weight decay of one network changes nothing in its neighbour; training learns."""
    x, labels = clouds(np.random.default_rng(0), distance=6.0)
    x, labels = np.stack([x, x]), np.stack([labels, labels])
    free = train(x, labels, [0, 0], [0, 0], (60,), seed=0)[-1]
    decayed = train(x, labels, [0, 0], [0, 50.0], (60,), seed=0)[-1]
    assert free.cross_entropy[0] == decayed.cross_entropy[0]
    assert free.cross_entropy[1] != decayed.cross_entropy[1]
    assert free.accuracy[0] > 0.9
    assert len(labels[0]) > TRAIN
