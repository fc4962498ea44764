"""The tiny GPT in plain NumPy: every forward and backward pass written out."""

import math
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from layerlab.tinygpt.configuration import EPS, Configuration
from layerlab.tinygpt.parameters import Floats, Parameters

Ints = NDArray[np.int64]
Cache = Any
GELU_SCALE, GELU_CUBE = math.sqrt(2 / math.pi), 0.044715


class PlainGPT:
    """Loss and gradients of the model.

    Parameters
    ----------
    config : Configuration
        What the model looks like.
    params : Parameters
        Its parameters.

    Attributes
    ----------
    grads : Parameters
        Gradients of the last `loss_and_gradient`, laid out like the parameters.
    first, second : ndarray
        Running means of Adam.
    """

    def __init__(self, config: Configuration, params: Parameters) -> None:
        self.config, self.params, self.grads = config, params, Parameters(config)
        self.first, self.second = np.zeros_like(params.flat), np.zeros_like(params.flat)

    @classmethod
    def drawn(cls, config: Configuration) -> Self:
        """Make a model with a fresh start."""
        return cls(config, Parameters.drawn(config))

    def logits(self, ids: Ints) -> Floats:
        """Give the logits of the next character, shape (B, T, vocabulary), for ids (B, T)."""
        return self._forward(ids)[0]

    def loss(self, ids: Ints, targets: Ints) -> float:
        """Give the mean cross-entropy of targets (B, T)."""
        return cross_entropy(self._forward(ids)[0], targets)[0]

    def loss_and_gradient(self, ids: Ints, targets: Ints) -> float:
        """Give the mean cross-entropy, and write its gradients into `grads`."""
        logits, caches = self._forward(ids)
        loss, dlogits = cross_entropy(logits, targets)
        self._backward(ids, dlogits, caches)
        return loss

    def step(self, t: int, rate: float) -> None:
        """Take step t = 1, 2, ... of AdamW along the gradients, shortened if they are too long."""
        config, flat, gradient = self.config, self.params.flat, self.grads.flat
        length = math.sqrt(np.dot(gradient, gradient))
        if length > config.clip:
            gradient *= np.float32(config.clip / length)
        self.first *= config.beta1
        self.first += (1 - config.beta1) * gradient
        self.second *= config.beta2
        self.second += (1 - config.beta2) * gradient * gradient
        root = np.sqrt(self.second)
        root *= 1 / math.sqrt(1 - config.beta2**t)
        root += config.eps
        flat[: self.params.decaying] *= 1 - rate * config.decay
        flat -= (rate / (1 - config.beta1**t)) * self.first / root

    def _forward(self, ids: Ints) -> tuple[Floats, list[Cache]]:
        views = self.params.views
        x = views["tokens"][ids] + views["positions"][: ids.shape[1]]
        caches: list[Cache] = []
        for i in range(self.config.blocks):
            block = self.params.of_block(i)
            normed, cache1 = self._norm(x, block.get("gamma1"), block.get("beta1"))
            qkv = normed @ block["w_qkv"] + block["b_qkv"]
            mixed, cache2 = attention_forward(qkv, self.config.heads)
            x = x + mixed @ block["w_out"] + block["b_out"]
            normed2, cache3 = self._norm(x, block.get("gamma2"), block.get("beta2"))
            out, cache4 = gelu_forward(normed2 @ block["w1"] + block["b1"])
            x = x + out @ block["w2"] + block["b2"]
            caches.append((normed, cache1, mixed, cache2, normed2, cache3, out, cache4))
        normed, cache = self._norm(x, views.get("gamma"), views.get("beta"))
        caches.append((normed, cache))
        return normed @ views["w_head"] + views["b_head"], caches

    def _backward(self, ids: Ints, dlogits: Floats, caches: list[Cache]) -> None:
        views, grads = self.params.views, self.grads.views
        normed, cache = caches.pop()
        dnormed = _linear(normed, views["w_head"], dlogits, grads["w_head"], grads["b_head"])
        dx = self._norm_backward(dnormed, cache, grads.get("gamma"), grads.get("beta"))
        for i in reversed(range(self.config.blocks)):
            normed, cache1, mixed, cache2, normed2, cache3, out, cache4 = caches.pop()
            w, d = self.params.of_block(i), self.grads.of_block(i)
            dout = _linear(out, w["w2"], dx, d["w2"], d["b2"])
            dnormed = _linear(normed2, w["w1"], gelu_backward(dout, cache4), d["w1"], d["b1"])
            dx = dx + self._norm_backward(dnormed, cache3, d.get("gamma2"), d.get("beta2"))
            dmixed = _linear(mixed, w["w_out"], dx, d["w_out"], d["b_out"])
            dqkv = attention_backward(dmixed, cache2)
            dnormed = _linear(normed, w["w_qkv"], dqkv, d["w_qkv"], d["b_qkv"])
            dx = dx + self._norm_backward(dnormed, cache1, d.get("gamma1"), d.get("beta1"))
        grads["tokens"][:] = 0
        np.add.at(grads["tokens"], ids, dx)
        grads["positions"][:] = 0
        grads["positions"][: ids.shape[1]] = dx.sum(0)

    def _norm(self, x: Floats, gamma: Floats | None, beta: Floats | None) -> tuple[Floats, Cache]:
        if gamma is None:
            return x, None
        # beta belongs to LayerNorm alone, and so does the mean.
        centred = x if beta is None else x - x.mean(-1, keepdims=True)
        rstd = 1 / np.sqrt((centred * centred).mean(-1, keepdims=True) + np.float32(EPS))
        xhat = centred * rstd
        return xhat * gamma + (0 if beta is None else beta), (xhat, rstd, gamma)

    def _norm_backward(
        self, dout: Floats, cache: Cache, dgamma: Floats | None, dbeta: Floats | None
    ) -> Floats:
        if dgamma is None:
            return dout
        xhat, rstd, gamma = cache
        (dout * xhat).sum((0, 1), out=dgamma)
        dxhat = dout * gamma
        rest = dxhat - xhat * (dxhat * xhat).mean(-1, keepdims=True)
        if dbeta is not None:
            dout.sum((0, 1), out=dbeta)
            rest -= dxhat.mean(-1, keepdims=True)
        return rest * rstd


def _linear(x: Floats, w: Floats, dout: Floats, dw: Floats, db: Floats) -> Floats:
    """Write the gradients of ``x @ w + b`` into dw and db, and give that of x."""
    rows, drows = x.reshape(-1, x.shape[-1]), dout.reshape(-1, dout.shape[-1])
    np.matmul(rows.T, drows, out=dw)
    drows.sum(0, out=db)
    return dout @ w.T


def attention_forward(qkv: Floats, heads: int) -> tuple[Floats, Cache]:
    """Mix the values of each head, weighted by ``softmax(q @ k.T / sqrt(size))`` up to oneself."""
    batch, length, width = qkv.shape[0], qkv.shape[1], qkv.shape[2] // 3
    size = width // heads
    q, k, v = qkv.reshape(batch, length, 3, heads, size).transpose(2, 0, 3, 1, 4)
    scores = q @ k.swapaxes(-1, -2) * size**-0.5
    scores = np.where(np.tri(length, dtype=bool), scores, np.float32(-np.inf))
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    mixed = (weights @ v).transpose(0, 2, 1, 3).reshape(batch, length, width)
    return mixed, (q, k, v, weights)


def attention_backward(dmixed: Floats, cache: Cache) -> Floats:
    """Give the gradient with respect to queries, keys and values, side by side."""
    q, k, v, weights = cache
    batch, heads, length, size = q.shape
    dout = dmixed.reshape(batch, length, heads, size).transpose(0, 2, 1, 3)
    dqkv = np.empty((3, *q.shape), q.dtype)
    np.matmul(weights.swapaxes(-1, -2), dout, out=dqkv[2])
    dweights = dout @ v.swapaxes(-1, -2)
    dscores = weights * (dweights - (dweights * weights).sum(-1, keepdims=True)) * size**-0.5
    np.matmul(dscores, k, out=dqkv[0])
    np.matmul(dscores.swapaxes(-1, -2), q, out=dqkv[1])
    return dqkv.transpose(1, 3, 0, 2, 4).reshape(batch, length, -1)


def gelu_forward(x: Floats) -> tuple[Floats, Cache]:
    """Compute ``x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x**3)))``."""
    tanh = np.tanh(GELU_SCALE * (x + GELU_CUBE * x * x * x))
    return 0.5 * x * (1 + tanh), (x, tanh)


def gelu_backward(dout: Floats, cache: Cache) -> Floats:
    """Multiply by the slope of GELU."""
    x, tanh = cache
    inner = GELU_SCALE * (1 + 3 * GELU_CUBE * x * x)
    return dout * (0.5 * (1 + tanh) + 0.5 * x * (1 - tanh * tanh) * inner)


def cross_entropy(logits: Floats, targets: Ints) -> tuple[float, Floats]:
    """Give the mean of ``log(sum(exp(logits))) - logits[target]``, and its gradient."""
    rows = logits - logits.max(-1, keepdims=True)
    powers = np.exp(rows)
    sums = powers.sum(-1, keepdims=True)
    places = targets[..., None]
    loss = float((np.log(sums) - np.take_along_axis(rows, places, -1)).mean())
    powers /= sums
    np.put_along_axis(powers, places, np.take_along_axis(powers, places, -1) - 1, -1)
    powers /= targets.size
    return loss, powers
