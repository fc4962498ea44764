"""A deep and narrow classifier, to watch which starts and learning rates train at all.

The data are those of `layerlab.small_net`. Ten hidden layers of 64 units are far more than four
classes need: the question is not how well such a network does, but whether it moves.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from layerlab.small_net import CLASSES, TRAIN

Floats = NDArray[Any]
Ints = NDArray[np.int64]

WIDTH, BATCH, EPS = 64, 32, 1e-5
NORMS = ("none", "layernorm", "rmsnorm")
# Stands for the loss of a network whose numbers have become NaN or infinite, or nearly so.
LOST = 100.0


@dataclass(frozen=True)
class Setting:
    """How a network starts, and how it is trained.

    Attributes
    ----------
    depth : int
        Number of hidden layers ``h = relu(norm(h @ w + b))``.
    std : float
        Standard deviation of the weights at the start; 0 stands for He's, sqrt(2 / fan_in).
    norm : {"none", "layernorm", "rmsnorm"}
        Applied to every row before the ReLU, without gain and shift.
    optimizer : {"sgd", "adam"}
        Plain steps, or Adam with 0.9 and 0.999.
    rate : float
        Learning rate.
    biased : bool
        Whether the hidden layers have biases, which start at 0. The output layer has them always.
    adam_eps : float
        Value that Adam adds to the root of its second moment.
    gain : float
        Factor on the standard deviation of all hidden weights.
    """

    depth: int
    std: float
    norm: str
    optimizer: str
    rate: float
    biased: bool = True
    adam_eps: float = 1e-8
    gain: float = 1.0


def train(
    x: Floats, labels: Ints, setting: Setting, stops: tuple[int, ...], seed: int
) -> list[Floats]:
    """Train R networks at once on batches of 32, and look at their losses at some steps.

    Parameters
    ----------
    x, labels : ndarray, shapes (R, N, D) and (R, N)
        Data of each network, of which the first 120 examples are used.
    setting : Setting
        Start and training, the same for all. Starts and batches are drawn alike whatever it says.
    stops : tuple of int
        Numbers of steps after which to look, increasing.
    seed : int
        Seed of the starts and the batches.

    Returns
    -------
    list of ndarray, shape (R,)
        Mean cross-entropy of the 120 examples at each stop; `LOST` at most.
    """
    rng, runs = np.random.default_rng(seed), len(x)
    weights, biases = _start(setting, runs, x.shape[-1], rng)
    parameters = weights + biases
    trained = [setting.biased] * setting.depth + [True]
    moments = [(np.zeros_like(part), np.zeros_like(part)) for part in parameters]
    each, seen = np.arange(runs)[:, None], []
    # A network that diverges is a result here.
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        for step in range(1, stops[-1] + 1):
            batch = rng.integers(0, TRAIN, (runs, BATCH))
            slopes = _gradients(x[each, batch], labels[each, batch], weights, biases, setting.norm)
            used = [True] * len(weights) + trained
            for part, slope, moment, moves in zip(parameters, slopes, moments, used):
                if moves:
                    part -= setting.rate * _direction(slope, moment, step, setting)
            if step in stops:
                seen.append(_loss(x[:, :TRAIN], labels[:, :TRAIN], weights, biases, setting.norm))
    return seen


def _start(
    setting: Setting, runs: int, features: int, rng: np.random.Generator
) -> tuple[list[Floats], list[Floats]]:
    sizes = [features, *[WIDTH] * setting.depth, CLASSES]
    weights, biases = [], []
    for place, (i, o) in enumerate(pairwise(sizes)):
        std = setting.std or np.sqrt(2 / i)
        gain = setting.gain if place < setting.depth else 1.0
        weights.append(gain * std * rng.standard_normal((runs, i, o)))
        biases.append(np.zeros((runs, 1, o)))
    return weights, biases


def _direction(slope: Floats, moment: tuple[Floats, Floats], step: int, setting: Setting) -> Floats:
    """Give what the learning rate multiplies; Adam's moments are brought up to date in place."""
    if setting.optimizer == "sgd":
        return slope
    first, second = moment
    first += 0.1 * (slope - first)
    second += 0.001 * (slope**2 - second)
    root = np.sqrt(second / (1 - 0.999**step))
    return np.asarray(first / (1 - 0.9**step) / (root + setting.adam_eps))


def _normalize(z: Floats, norm: str) -> tuple[Floats, Any]:
    if norm == "none":
        return z, None
    centred = z - z.mean(-1, keepdims=True) if norm == "layernorm" else z
    rstd = 1 / np.sqrt((centred**2).mean(-1, keepdims=True) + EPS)
    return centred * rstd, rstd


def _forward(
    x: Floats, weights: list[Floats], biases: list[Floats], norm: str
) -> tuple[list[Floats], list[tuple[Floats, Any]], Floats]:
    """Give the inputs of all layers, the normalized sums of the hidden ones, and the logits."""
    inputs, hidden = [x], []
    for w, b in zip(weights[:-1], biases[:-1]):
        hidden.append(_normalize(inputs[-1] @ w + b, norm))
        inputs.append(np.maximum(hidden[-1][0], 0))
    return inputs, hidden, inputs[-1] @ weights[-1] + biases[-1]


def _gradients(
    x: Floats, labels: Ints, weights: list[Floats], biases: list[Floats], norm: str
) -> list[Floats]:
    """Slopes of the mean cross-entropy of each batch: weights first, then biases."""
    inputs, hidden, logits = _forward(x, weights, biases, norm)
    powers = np.exp(logits - logits.max(-1, keepdims=True))
    dz = (powers / powers.sum(-1, keepdims=True) - np.eye(CLASSES)[labels]) / labels.shape[1]
    d_weights, d_biases = [], []
    for place in reversed(range(len(weights))):
        d_weights.append(inputs[place].mT @ dz)
        d_biases.append(dz.sum(1, keepdims=True))
        if place:
            normalized, rstd = hidden[place - 1]
            dz = (dz @ weights[place].mT) * (normalized > 0)
            if rstd is not None:
                along = (dz * normalized).mean(-1, keepdims=True)
                mean = dz.mean(-1, keepdims=True) if norm == "layernorm" else 0
                dz = (dz - mean - normalized * along) * rstd
    return d_weights[::-1] + d_biases[::-1]


def _loss(
    x: Floats, labels: Ints, weights: list[Floats], biases: list[Floats], norm: str
) -> Floats:
    logits = _forward(x, weights, biases, norm)[2]
    top = logits.max(-1)
    total = top + np.log(np.exp(logits - top[..., None]).sum(-1))
    right = np.take_along_axis(logits, labels[..., None], -1)[..., 0]
    losses = (total - right).mean(-1)
    return np.minimum(np.where(np.isfinite(losses), losses, LOST), LOST)
