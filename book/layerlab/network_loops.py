"""Loops through a deep network, on flat buffers of float32.

The same source runs natively (`layerlab.activation_scale`) and, compiled to WebAssembly, in the
pages of the book (`layerlab.wasm`). Both give the same bits: the order of every sum is fixed here.

A network is `depth` layers ``h = activation(norm(h @ w))``, each w of shape (width, width) with
entries std * N(0, 1). Buffers are given as one-dimensional arrays, or as pointers:

- h, grad: batch * width; weights: depth * width * width, of standard deviation 1;
- kept: depth * batch * width, what enters each activation; rstds: depth * batch, 1 / the size that
  the norm has removed;
- sizes: depth float64, the root mean squares that are measured.
"""

import math

import numpy as np

from layerlab.activations import activate, slope
from layerlab.jit import Doubles, Floats, on_buffers, reproducible

NORMS = ("none", "layernorm", "rmsnorm")
EPS = 1e-5

# Smaller numbers count as 0. Below 1e-38 float32 has fewer digits, and processors take a hundred
# times as long for such a number.
_TINY = np.float32(1e-28)


@on_buffers
def propagate(
    h: Floats, weights: Floats, kept: Floats, rstds: Floats, sizes: Doubles,
    batch: int, width: int, depth: int, std: float, activation: int, norm: int,
) -> None:  # fmt: skip
    """Send h through the layers, in place, and measure each layer's output."""
    for layer in range(depth):
        total = 0.0
        for example in range(batch):
            row, turn = example * width, layer * batch + example
            to = turn * width
            times_matrix(h, row, weights, layer * width * width, kept, to, width, std)
            if norm != 0:
                rstds[turn] = normalize_row(kept, to, width, EPS, norm == 1)
            for j in range(width):
                value = without_tiny(np.float32(activate(np.float64(kept[to + j]), activation)))
                h[row + j] = value
            for j in range(width):
                total += np.float64(h[row + j]) * np.float64(h[row + j])
        sizes[layer] = math.sqrt(total / (batch * width))


@on_buffers
def backpropagate(
    grad: Floats, turned: Floats, kept: Floats, rstds: Floats, row: Floats, sizes: Doubles,
    batch: int, width: int, depth: int, std: float, activation: int, norm: int,
) -> None:  # fmt: skip
    """Send the gradient with respect to the last output back, in place, after `propagate`.

    `turned` holds each layer's matrix transposed, `row` is room for width numbers. Measured is the
    gradient with respect to the output of each layer.
    """
    for layer in range(depth - 1, -1, -1):
        total = 0.0
        for example in range(batch):
            at, turn = example * width, layer * batch + example
            for j in range(width):
                total += np.float64(grad[at + j]) * np.float64(grad[at + j])
            first = turn * width
            for j in range(width):
                passed = np.float64(grad[at + j]) * slope(np.float64(kept[first + j]), activation)
                row[j] = np.float32(passed)
            if norm != 0:
                normalize_row_backward(row, kept, first, rstds[turn], width, norm == 1)
            times_matrix(row, 0, turned, layer * width * width, grad, at, width, std)
            for j in range(width):
                grad[at + j] = without_tiny(grad[at + j])
        sizes[layer] = math.sqrt(total / (batch * width))


@reproducible
def without_tiny(value):  # type: ignore[no-untyped-def]
    """Replace numbers near zero by 0; NaN stays NaN."""
    return np.float32(0.0) if -_TINY < value < _TINY else value


@reproducible
def times_matrix(x, start, weights, first, out, to, width, std):  # type: ignore[no-untyped-def]
    """Write x[start:] @ (std * w), w beginning at `first`, into out[to:]."""
    for j in range(width):
        out[to + j] = np.float32(0.0)
    # Eight rows at once: each output is loaded and stored an eighth as often.
    eights = width - width % 8
    for k in range(0, eights, 8):
        # Scaling the input, not the weights, keeps powers of two exact and costs nothing.
        a, b = x[start + k] * std, x[start + k + 1] * std
        c, d = x[start + k + 2] * std, x[start + k + 3] * std
        e, f = x[start + k + 4] * std, x[start + k + 5] * std
        g, h = x[start + k + 6] * std, x[start + k + 7] * std
        w = first + k * width
        for j in range(width):
            total = out[to + j] + a * weights[w + j]
            total = total + b * weights[w + width + j]
            total = total + c * weights[w + 2 * width + j]
            total = total + d * weights[w + 3 * width + j]
            total = total + e * weights[w + 4 * width + j]
            total = total + f * weights[w + 5 * width + j]
            total = total + g * weights[w + 6 * width + j]
            out[to + j] = total + h * weights[w + 7 * width + j]
    for k in range(eights, width):
        a, w = x[start + k] * std, first + k * width
        for j in range(width):
            out[to + j] = out[to + j] + a * weights[w + j]


@reproducible
def normalize_row(z, first, width, eps, center):  # type: ignore[no-untyped-def]
    """Bring a row to root mean square 1, with `center` to mean 0 too; give 1 / its size."""
    total = 0.0
    if center:
        for j in range(first, first + width):
            total += z[j]
    mean = total / width
    squares = 0.0
    for j in range(first, first + width):
        squares += (z[j] - mean) * (z[j] - mean)
    rstd = 1.0 / math.sqrt(squares / width + eps)
    for j in range(first, first + width):
        z[j] = np.float32((z[j] - mean) * rstd)
    return np.float32(rstd)


@reproducible
def normalize_row_backward(g, normalized, first, rstd, width, center):  # type: ignore[no-untyped-def]
    """Take out of g what normalization undoes, and scale the rest, in place."""
    total = along = 0.0
    for j in range(width):
        total += g[j]
        along += np.float64(g[j]) * np.float64(normalized[first + j])
    mean = total / width if center else 0.0
    along /= width
    for j in range(width):
        rest = g[j] - mean - normalized[first + j] * along
        g[j] = np.float32(rest * rstd)


@on_buffers
def transpose(weights: Floats, turned: Floats, width: int, depth: int) -> None:
    """Write each layer's matrix transposed."""
    for layer in range(depth):
        first = layer * width * width
        for k in range(width):
            for j in range(width):
                turned[first + j * width + k] = weights[first + k * width + j]


@on_buffers
def layernorm(
    x: Floats, gamma: Floats, beta: Floats, out: Floats, rows: int, width: int, eps: float
) -> None:
    """Normalize rows to mean 0 and variance 1, then scale by gamma and shift by beta."""
    _rows(x, gamma, out, rows, width, eps, True)
    for i in range(rows):
        for j in range(width):
            out[i * width + j] = out[i * width + j] + beta[j]


@on_buffers
def rmsnorm(x: Floats, gamma: Floats, out: Floats, rows: int, width: int, eps: float) -> None:
    """Divide rows by their root mean square, then scale by gamma."""
    _rows(x, gamma, out, rows, width, eps, False)


@reproducible
def _rows(x, gamma, out, rows, width, eps, center):  # type: ignore[no-untyped-def]
    for j in range(rows * width):
        out[j] = x[j]
    for i in range(rows):
        normalize_row(out, i * width, width, eps, center)
        for j in range(width):
            out[i * width + j] = out[i * width + j] * gamma[j]
