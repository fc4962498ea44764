"""Gradient checks of many small networks at once."""

from functools import cache
from itertools import pairwise

import numpy as np

from layerlab.ledger.formulas import Floats, hat, hat_backward

SIZES, EXAMPLES = (5, 7, 7, 4), 6


class SmallNet:
    """A 5-7-7-4 network with a norm, gain and shift before each ReLU.

    Parameters
    ----------
    norm : {"none", "layernorm", "rmsnorm", "batchnorm"}
        The norm.
    seed : int
        Seed of weights, inputs and upstream gradient.
    biased : bool
        Whether biases, gains and shifts are random, or zeros and ones.
    """

    def __init__(self, norm: str, seed: int, biased: bool) -> None:
        rng = np.random.default_rng(seed)
        self.norm = norm
        self.x, self.dout = rng.normal(size=(EXAMPLES, 5)), rng.normal(size=(EXAMPLES, 4))
        self.values: list[Floats] = []
        for layer, (i, o) in enumerate(pairwise(SIZES)):
            self.values.append(rng.normal(size=(i, o)) * np.sqrt(2 / i))
            vectors = rng.normal(0, 0.3, (3, 1, o)) * biased + [[[0.0]], [[1.0]], [[0.0]]]
            last = layer == len(SIZES) - 2
            self.values += [vectors[0]] if last else list(vectors)

    def loss(self, values: list[Floats]) -> Floats:
        """Sum of output times upstream gradient, for stacks of parameters too."""
        return np.asarray((self._outputs(values)[-1] * self.dout).sum((-2, -1)))

    def dead(self) -> bool:
        """Whether an example has a hidden layer in which no unit is on."""
        before = self._outputs(self.values)
        return any((np.maximum(z, 0) == 0).all(-1).any() for z in (before[1], before[3]))

    def gradients(self) -> list[Floats]:
        """Gradients by the backward pass, in the order of the parameters."""
        z1, y1, z2, y2, _ = self._outputs(self.values)
        w1, _, gain1, _, w2, _, gain2, _, w3, _ = self.values
        h1, h2, found = np.maximum(y1, 0), np.maximum(y2, 0), [self.dout.sum(0, keepdims=True)]
        found.insert(0, h2.T @ self.dout)
        dy = self.dout @ w3.T * (y2 > 0)
        for z, gain, w, h in ((z2, gain2, w2, h1), (z1, gain1, w1, self.x)):
            vectors = [(dy * hat(z, self.norm)).sum(0, keepdims=True), dy.sum(0, keepdims=True)]
            dz = hat_backward(dy * gain, z, self.norm)
            found = [h.T @ dz, dz.sum(0, keepdims=True), *vectors, *found]
            dy = dz @ w.T * (y1 > 0) if w is w2 else dz
        return found

    def measured(self, step: float) -> list[Floats]:
        """Gradients by central differences, all entries of a parameter in one go."""
        found = []
        for place, value in enumerate(self.values):
            moves = step * np.eye(value.size).reshape(value.size, *value.shape)
            above, below = (
                self.loss([*self.values[:place], value + move, *self.values[place + 1 :]])
                for move in (moves, -moves)
            )
            found.append(((above - below) / (2 * step)).reshape(value.shape))
        return found

    def _outputs(self, values: list[Floats]) -> list[Floats]:
        w1, b1, gain1, shift1, w2, b2, gain2, shift2, w3, b3 = values
        z1 = self.x @ w1 + b1
        y1 = gain1 * hat(z1, self.norm) + shift1
        z2 = np.maximum(y1, 0) @ w2 + b2
        y2 = gain2 * hat(z2, self.norm) + shift2
        return [z1, y1, z2, y2, np.maximum(y2, 0) @ w3 + b3]


def by_entry(got: Floats, expected: Floats, floor: float = 1e-12) -> float:
    """Largest difference of an entry, relative to the sum of the two sizes of that entry."""
    sizes = np.maximum(np.abs(got) + np.abs(expected), floor)
    return float((np.abs(got - expected) / sizes).max())


@cache
def usual_errors(norm: str, seeds: int = 60) -> Floats:
    """Errors of right gradients, entry by entry: zero biases, step 1e-6, floor 1e-12."""
    nets = [SmallNet(norm, seed, biased=False) for seed in range(seeds)]
    return np.array([max(map(by_entry, net.gradients(), net.measured(1e-6))) for net in nets])


@cache
def dead_share(norm: str, seeds: int = 200) -> float:
    """Share of networks with an example whose whole hidden layer is off."""
    return float(np.mean([SmallNet(norm, seed, biased=False).dead() for seed in range(seeds)]))
