"""The compiled loops of attention, the loss and the optimizer."""

import math

import numpy as np

from layerlab.jit import compiled

_ZERO, _ONE = np.float32(0.0), np.float32(1.0)


@compiled
def attention_forward(qkv, bias, length, heads, weights, mixed):  # type: ignore[no-untyped-def]
    """Add the bias to qkv, in place, and mix each head's values with causal softmax weights.

    qkv has shape (R, 3 * D), queries, keys and values side by side; weights (B, heads, T, T), whose
    upper triangle is not touched; mixed (R, D).
    """
    width = mixed.shape[1]
    size = width // heads
    scale = np.float32(1.0 / math.sqrt(size))
    for r in range(qkv.shape[0]):
        for j in range(3 * width):
            qkv[r, j] += bias[j]
    for turn in range(qkv.shape[0] // length * heads):
        batch, head = turn // heads, turn % heads
        first, q = batch * length, head * size
        k, v = q + width, q + 2 * width
        for i in range(length):
            row = weights[batch, head, i]
            largest = np.float32(-np.inf)
            for t in range(i + 1):
                score = _ZERO
                for c in range(size):
                    score += qkv[first + i, q + c] * qkv[first + t, k + c]
                row[t] = score * scale
                largest = max(largest, row[t])
            total = _ZERO
            for t in range(i + 1):
                row[t] = math.exp(row[t] - largest)
                total += row[t]
            share = _ONE / total
            for c in range(size):
                mixed[first + i, q + c] = _ZERO
            for t in range(i + 1):
                row[t] *= share
                weight = row[t]
                for c in range(size):
                    mixed[first + i, q + c] += weight * qkv[first + t, v + c]


@compiled
def attention_backward(  # type: ignore[no-untyped-def]
    dmixed, qkv, length, heads, weights, dqkv, dbias
):
    """Write the gradient with respect to qkv, and its column sums into dbias."""
    width = dmixed.shape[1]
    size = width // heads
    scale = np.float32(1.0 / math.sqrt(size))
    dweights = np.empty(length, np.float32)
    dqkv[:] = 0
    for turn in range(qkv.shape[0] // length * heads):
        batch, head = turn // heads, turn % heads
        first, q = batch * length, head * size
        k, v = q + width, q + 2 * width
        for i in range(length):
            row = weights[batch, head, i]
            along = _ZERO
            for t in range(i + 1):
                dweight = _ZERO
                for c in range(size):
                    dweight += dmixed[first + i, q + c] * qkv[first + t, v + c]
                dweights[t] = dweight
                along += dweight * row[t]
            for t in range(i + 1):
                weight = row[t]
                dscore = weight * (dweights[t] - along) * scale
                for c in range(size):
                    dqkv[first + t, v + c] += weight * dmixed[first + i, q + c]
                    dqkv[first + i, q + c] += dscore * qkv[first + t, k + c]
                    dqkv[first + t, k + c] += dscore * qkv[first + i, q + c]
    dbias[:] = 0
    for r in range(dqkv.shape[0]):
        for j in range(3 * width):
            dbias[j] += dqkv[r, j]


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
