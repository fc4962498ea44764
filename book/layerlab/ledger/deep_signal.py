"""Signals through twenty layers, and how loss and gradient answer to the scale of a matrix."""

from functools import cache

import numpy as np

from layerlab.ledger.formulas import Floats, backward, cosine, normalized, rms, softmax

LAYERS, WIDTH, BATCH = 20, 256, 512


@cache
def deep_signal(std: float, norm: str, seeds: int = 5) -> Floats:
    """Sizes in a fresh network of twenty layers: norm, then ReLU, in each.

    Parameters
    ----------
    std : float
        Standard deviation of the weights.
    norm : {"none", "layernorm", "rmsnorm"}
        Norm before each ReLU.
    seeds : int
        Number of networks.

    Returns
    -------
    ndarray of float64, shape (3,)
        Medians over the networks of the root mean squares of the last output, of the gradient
        with respect to the first layer's input and of that of the first layer's weights. The
        gradient with respect to the last output has size 1.
    """
    return np.asarray(np.median([_once(std, norm, seed) for seed in range(seeds)], axis=0))


@cache
def _draws(seed: int) -> list[Floats]:
    """Input, weights of size 1, and the gradient with respect to the last output."""
    rng = np.random.default_rng(seed)
    shapes = [(BATCH, WIDTH), *[(WIDTH, WIDTH)] * LAYERS, (BATCH, WIDTH)]
    return [rng.normal(size=shape).astype(np.float32) for shape in shapes]


def _once(std: float, norm: str, seed: int) -> tuple[float, float, float]:
    x, *weights, d = _draws(seed)
    h, kept = x, []
    for w in weights:
        kept.append(normalized(h @ w * np.float32(std), norm))
        h = np.maximum(kept[-1][0], 0)
    top = rms(h)
    for (x_hat, spread), w in zip(kept[::-1], weights[::-1]):
        dz = backward(d * (x_hat > 0), x_hat, spread, norm)
        d = dz @ w.T * np.float32(std)
    return top, rms(d), rms(x.T @ dz)


class Scales:
    """One layer, a norm, ReLU and a loss, small and in float64.

    Parameters
    ----------
    norm : {"layernorm", "rmsnorm", "batchnorm"}
        The norm behind the layer.
    bias : float
        Bias of the layer, the same for every unit.
    """

    def __init__(self, norm: str, bias: float = 0.0) -> None:
        rng = np.random.default_rng(0)
        self.norm, self.bias = norm, bias
        self.x, self.w = rng.normal(size=(64, 32)), rng.normal(size=(32, 16))
        self.out, self.labels = rng.normal(size=(16, 4)), rng.integers(0, 4, 64)

    def loss(self, w: Floats) -> float:
        """Mean cross-entropy with the first matrix `w`."""
        h = np.maximum(normalized(self.x @ w + self.bias, self.norm, 0.0)[0], 0)
        right = softmax(h @ self.out)[np.arange(64), self.labels]
        return float(-np.log(right).mean())

    def gradient(self, w: Floats) -> Floats:
        """Gradient of `loss`."""
        z_hat, spread = normalized(self.x @ w + self.bias, self.norm, 0.0)
        slopes = softmax(np.maximum(z_hat, 0) @ self.out)
        slopes[np.arange(64), self.labels] -= 1
        dz = backward(slopes / 64 @ self.out.T * (z_hat > 0), z_hat, spread, self.norm)
        return np.asarray(self.x.T @ dz)

    def loss_change(self) -> float:
        """How much the loss changes when the matrix is ten times as large."""
        return abs(self.loss(10 * self.w) - self.loss(self.w))

    def gradient_ratio(self) -> float:
        """Gradient of the matrix over that of the tenfold matrix."""
        return rms(self.gradient(self.w)) / rms(self.gradient(10 * self.w))

    def whole(self) -> float:
        """Cosine of matrix and gradient."""
        return abs(float(cosine(self.w, self.gradient(self.w))))

    def columns(self) -> float:
        """Largest cosine of a unit's weights with their gradient."""
        return float(np.abs(cosine(self.w, self.gradient(self.w), axis=0)).max())

    def growth(self, rate: float = 0.1) -> float:
        """Squared norm after a step of gradient descent over the sum of the two squared norms."""
        g = self.gradient(self.w)
        after = np.sum((self.w - rate * g) ** 2)
        return float(after / (np.sum(self.w**2) + rate**2 * np.sum(g**2)))
