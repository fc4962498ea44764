"""The compiled loops of attention, the loss and the optimizer."""

import math

import numpy as np

from layerlab.jit import compiled

_ZERO, _ONE = np.float32(0.0), np.float32(1.0)


@compiled
def attention_forward(qkv, bias, weights, mixed):  # type: ignore[no-untyped-def]
    """Add the bias to qkv, in place, and mix each head's values with causal softmax weights.

    Shapes, with H heads of C features: qkv (B, T, 3, H, C), queries, keys and values side by side;
    bias (3, H, C); weights (B, H, T, T), whose upper triangle is not touched; mixed (B, T, H, C).
    """
    batch, length, _, heads, size = qkv.shape
    scale = np.float32(1.0 / math.sqrt(size))
    for b in range(batch):
        for i in range(length):
            for part in range(3):
                for h in range(heads):
                    for c in range(size):
                        qkv[b, i, part, h, c] += bias[part, h, c]
        for h in range(heads):
            for i in range(length):
                largest = np.float32(-np.inf)
                for t in range(i + 1):
                    score = _ZERO
                    for c in range(size):
                        score += qkv[b, i, 0, h, c] * qkv[b, t, 1, h, c]
                    weights[b, h, i, t] = score * scale
                    largest = max(largest, score * scale)
                total = _ZERO
                for t in range(i + 1):
                    power = math.exp(weights[b, h, i, t] - largest)
                    weights[b, h, i, t] = power
                    total += power
                share = _ONE / total
                for c in range(size):
                    mixed[b, i, h, c] = _ZERO
                for t in range(i + 1):
                    weight = weights[b, h, i, t] * share
                    weights[b, h, i, t] = weight
                    for c in range(size):
                        mixed[b, i, h, c] += weight * qkv[b, t, 2, h, c]


@compiled
def attention_backward(dmixed, qkv, weights, dqkv, dbias):  # type: ignore[no-untyped-def]
    """Write the gradient with respect to qkv, and its sums over the positions into dbias."""
    batch, length, _, heads, size = qkv.shape
    scale = np.float32(1.0 / math.sqrt(size))
    dweights = np.empty(length, np.float32)
    dqkv[:] = 0
    dbias[:] = 0
    for b in range(batch):
        for h in range(heads):
            for i in range(length):
                along = _ZERO
                for t in range(i + 1):
                    dweight = _ZERO
                    for c in range(size):
                        dweight += dmixed[b, i, h, c] * qkv[b, t, 2, h, c]
                    dweights[t] = dweight
                    along += dweight * weights[b, h, i, t]
                for t in range(i + 1):
                    weight = weights[b, h, i, t]
                    dscore = weight * (dweights[t] - along) * scale
                    for c in range(size):
                        dqkv[b, t, 2, h, c] += weight * dmixed[b, i, h, c]
                    for c in range(size):
                        dqkv[b, i, 0, h, c] += dscore * qkv[b, t, 1, h, c]
                    for c in range(size):
                        dqkv[b, t, 1, h, c] += dscore * qkv[b, i, 0, h, c]
        for i in range(length):
            for part in range(3):
                for h in range(heads):
                    for c in range(size):
                        dbias[part, h, c] += dqkv[b, i, part, h, c]


@compiled
def cross_entropy(logits, bias, targets, dbias):  # type: ignore[no-untyped-def]
    """Give the mean loss of logits + bias; the gradient takes the place of the logits.

    By log-sum-exp, so that value and gradient belong together however sure the model is.
    """
    rows, count = logits.shape
    length = targets.shape[1]
    share = _ONE / np.float32(rows)
    total = 0.0
    dbias[:] = 0
    for r in range(rows):
        largest = np.float32(-np.inf)
        for j in range(count):
            logits[r, j] += bias[j]
            largest = max(largest, logits[r, j])
        target = targets[r // length, r % length]
        aimed = logits[r, target] - largest
        powers = _ZERO
        for j in range(count):
            logits[r, j] = math.exp(logits[r, j] - largest)
            powers += logits[r, j]
        total += math.log(powers) - aimed
        factor = share / powers
        for j in range(count):
            logits[r, j] *= factor
        logits[r, target] -= share
        for j in range(count):
            dbias[j] += logits[r, j]
    return total / rows


@compiled
def adamw(  # type: ignore[no-untyped-def]
    flat, gradient, first, second, shorten, shrink, decaying, beta1, beta2, rate, root, eps
):
    """Take a step of AdamW over all parameters at once.

    ``shorten`` multiplies the gradient; the first ``decaying`` parameters are multiplied by
    ``shrink``; ``rate`` and ``root`` hold the corrections of the two running means.
    """
    for i in range(flat.size):
        g = gradient[i] * shorten
        m = beta1 * first[i] + (_ONE - beta1) * g
        v = beta2 * second[i] + (_ONE - beta2) * g * g
        first[i], second[i] = m, v
        kept = flat[i] * shrink if i < decaying else flat[i]
        flat[i] = kept - rate * m / (np.sqrt(v) * root + eps)
