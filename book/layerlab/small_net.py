"""A small classifier on a small data set, to watch dropout and weight decay at work.

The data are four Gaussian clouds or the questions of `layerlab.questions`, so nothing has to be
downloaded. With 120 training examples in 64 dimensions or more the network can learn every one of
them by heart, which is the situation dropout is for.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from layerlab.jit import compiled

Floats = NDArray[Any]
Ints = NDArray[np.int64]

TRAIN, CLASSES, FEATURES, HIDDEN, BATCH = 120, 4, 64, 64, 32


@dataclass(frozen=True)
class HeldOut:
    """How trained networks do on the examples they have not seen.

    Attributes
    ----------
    cross_entropy : ndarray, shape (R,)
        Mean of minus the logarithm of the probability given to the right class.
    gap : ndarray, shape (R,)
        Mean distance between the largest and the second largest logit: how sure a network is.
    accuracy : ndarray, shape (R,)
        Share of examples whose largest logit is the right one.
    sure_when_wrong : ndarray, shape (R,)
        Mean probability of the class chosen, over the examples where it is a wrong one; 0 without
        such examples.
    """

    cross_entropy: Floats
    gap: Floats
    accuracy: Floats
    sure_when_wrong: Floats


def clouds(
    rng: np.random.Generator, examples: int = 200, distance: float = 2.0
) -> tuple[Floats, Ints]:
    """Draw points from four Gaussian clouds of unit spread around random centres.

    Parameters
    ----------
    rng : numpy.random.Generator
        Source of the draws.
    examples : int
        Number of points, divided equally among the classes.
    distance : float
        Root mean square distance of a centre from the origin, in units of the spread.

    Returns
    -------
    x : ndarray of float64, shape (examples, 64)
        The points, in random order.
    labels : ndarray of int64, shape (examples,)
        Their classes.
    """
    centres = rng.normal(size=(CLASSES, FEATURES)) * distance / np.sqrt(FEATURES)
    labels = rng.permutation(np.arange(examples) % CLASSES)
    return centres[labels] + rng.normal(size=(examples, FEATURES)), labels


def train(
    x: Floats, labels: Ints, p: ArrayLike, decay: ArrayLike, stops: tuple[int, ...], seed: int
) -> list[HeldOut]:
    """Train many D-64-64-4 ReLU networks with AdamW at once and look at them at some steps.

    The networks know nothing of each other; stacking them only saves time. With the same seed and
    the same number of networks, starts, batches and masks are drawn alike whatever p and decay are.

    Parameters
    ----------
    x, labels : ndarray, shapes (R, N, D) and (R, N)
        Data of each of the R networks; its first 120 examples are for training, the others are
        held out.
    p : array_like, shape (R,)
        Probability of zeroing a hidden activation during training.
    decay : array_like, shape (R,)
        Weight decay, on the matrices only: ``w -= rate * decay * w`` at each step of rate 1e-3.
    stops : tuple of int
        Numbers of steps after which to look, increasing.
    seed : int
        Seed of the starts, the batches and the masks.

    Returns
    -------
    list of HeldOut
        One for each stop.
    """
    rng, runs = np.random.default_rng(seed), len(x)
    sizes = ((x.shape[-1], HIDDEN), (HIDDEN, HIDDEN), (HIDDEN, CLASSES))
    # float32 throughout: the time goes into moving numbers.
    x = x.astype(np.float32)
    matrices = [np.sqrt(2 / i) * rng.normal(size=(runs, i, o)) for i, o in sizes]
    biases = [np.zeros((runs, 1, o)) for _, o in sizes]
    parameters = [array.astype(np.float32) for array in (*matrices, *biases)]
    zeroing = np.asarray(p, np.float32).reshape(-1, 1, 1)
    on_matrices = np.broadcast_to(np.asarray(decay, np.float32), (runs,))
    decays = [on_matrices] * 3 + [np.zeros_like(on_matrices)] * 3
    first = [np.zeros_like(parameter) for parameter in parameters]
    second = [np.zeros_like(parameter) for parameter in parameters]
    each, seen = np.arange(runs)[:, None], []
    for step in range(1, stops[-1] + 1):
        batch = rng.integers(0, TRAIN, (runs, BATCH))
        slopes = _gradients(x[each, batch], labels[each, batch], parameters, zeroing, rng)
        for arrays in zip(parameters, slopes, first, second, decays):
            _adamw(*arrays, np.float32(1 - 0.9**step), np.float32(1 - 0.999**step))
        if step in stops:
            seen.append(_look(x[:, TRAIN:], labels[:, TRAIN:], parameters))
    return seen


@compiled
def _adamw(w, slope, first, second, decay, weight1, weight2):  # type: ignore[no-untyped-def]
    # In NumPy this takes as long as the matrix products: each operation writes a whole array.
    for run in range(w.shape[0]):
        for i in range(w.shape[1]):
            for j in range(w.shape[2]):
                g = slope[run, i, j]
                m = first[run, i, j] + np.float32(0.1) * (g - first[run, i, j])
                v = second[run, i, j] + np.float32(0.001) * (g * g - second[run, i, j])
                first[run, i, j], second[run, i, j] = m, v
                step = m / weight1 / (math.sqrt(v / weight2) + np.float32(1e-8))
                w[run, i, j] -= np.float32(1e-3) * (step + decay[run] * w[run, i, j])


def _gradients(
    x: Floats, labels: Ints, parameters: list[Floats], p: Floats, rng: np.random.Generator
) -> list[Floats]:
    """Slopes of the mean cross-entropy of each batch, matrices first."""
    w1, w2, w3, b1, b2, b3 = parameters
    # Where a unit is off or dropped its factor is 0, otherwise the scale of inverted dropout.
    z1 = x @ w1 + b1
    pass1 = (z1 > 0) * (rng.random(z1.shape, np.float32) >= p) / (1 - p)
    h1 = z1 * pass1
    z2 = h1 @ w2 + b2
    pass2 = (z2 > 0) * (rng.random(z2.shape, np.float32) >= p) / (1 - p)
    h2 = z2 * pass2
    right = np.eye(CLASSES, dtype=np.float32)[labels]
    d3 = (_probabilities(h2 @ w3 + b3) - right) / labels.shape[1]
    d2 = d3 @ w3.mT * pass2
    d1 = d2 @ w2.mT * pass1
    sums = [d.sum(axis=1, keepdims=True) for d in (d1, d2, d3)]
    return [x.mT @ d1, h1.mT @ d2, h2.mT @ d3, *sums]


def _probabilities(logits: Floats) -> Floats:
    powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))


def _look(x: Floats, labels: Ints, parameters: list[Floats]) -> HeldOut:
    w1, w2, w3, b1, b2, b3 = parameters
    logits = np.maximum(np.maximum(x @ w1 + b1, 0) @ w2 + b2, 0) @ w3 + b3
    # By log-sum-exp: the probability itself may round to 0.
    top = logits.max(axis=-1)
    total = top + np.log(np.exp(logits - top[..., None]).sum(axis=-1))
    right = np.take_along_axis(logits, labels[..., None], axis=-1)[..., 0]
    ranked = np.sort(logits, axis=-1)
    wrong = logits.argmax(axis=-1) != labels
    sure = np.where(wrong, np.exp(top - total), 0).sum(axis=-1)
    return HeldOut(
        cross_entropy=(total - right).mean(axis=-1),
        gap=(ranked[..., -1] - ranked[..., -2]).mean(axis=-1),
        accuracy=1 - wrong.mean(axis=-1),
        sure_when_wrong=sure / np.maximum(wrong.sum(axis=-1), 1),
    )
