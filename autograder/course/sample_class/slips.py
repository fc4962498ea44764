"""Answers of the other students where they differ from Ada's: mistakes that people really make.

Each function is named ``<student>__<exercise function>``.
"""

import numpy as np


def grace__layernorm_forward(x, gamma, beta, eps=1e-5):
    print("shape:", x.shape)
    x = x.astype(np.float32)
    x_hat = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + np.float32(eps))
    np.log(np.zeros(1))
    return gamma.astype(np.float32) * x_hat + beta.astype(np.float32), (x_hat, x, eps, gamma)


def grace__layernorm_backward(dout, cache):
    x_hat, x, eps, gamma = cache
    g = dout * gamma
    dx = g - g.mean(-1, keepdims=True) - x_hat * (g * x_hat).mean(-1, keepdims=True)
    axes = tuple(range(dout.ndim - 1))
    dx = dx / np.sqrt(x.var(-1, keepdims=True) + eps)
    return dx, (dout * x_hat).sum(axes), dout.sum(axes)


def linus__dropout_forward(x, p, training, rng):
    if not training:
        return x, None
    mask = (rng.random(x.shape) >= p).astype(x.dtype)
    return x * mask, mask


def kurt__dropout_forward(x, p, training, rng):
    if not training:
        return x, None
    mask = (rng.random(x.shape) < p).astype(x.dtype)
    return x * mask / x.dtype.type(p), mask / x.dtype.type(p)


def sofia__layernorm_forward(x, gamma, beta, eps=1e-5):
    mean = x.mean(axis=-1, keepdims=True)
    var = x.var(axis=-1, keepdims=True)
    out = gamma * (x - mean) / (np.sqrt(var) + eps) + beta
    return out, ((x - mean) / np.sqrt(var + eps), var + eps, gamma)


def sofia__rmsnorm_forward(x, gamma, eps=1e-5):
    square = (x**2).mean(axis=-1, keepdims=True)
    rms = np.sqrt(square + eps)
    return gamma * x / (np.sqrt(square) + eps), (x / rms, rms, gamma)


def alan__embedding_backward(dout, ids, vocab_size):
    dtable = np.zeros((vocab_size, dout.shape[-1]))
    dtable[ids] += dout
    return dtable


def rosa__layernorm_backward(dout, cache):
    x_hat, var_eps, gamma = cache
    axes = tuple(range(dout.ndim - 1))
    dx = dout - dout.mean(-1, keepdims=True) - x_hat * (dout * x_hat).mean(-1, keepdims=True)
    return gamma * dx / np.sqrt(var_eps), (dout * x_hat).sum(axes), dout.sum(axes)


def rosa__rmsnorm_backward(dout, cache):
    x_hat, rms, gamma = cache
    g = dout * gamma
    dx = (g - g.mean(-1, keepdims=True) - x_hat * (g * x_hat).mean(-1, keepdims=True)) / rms
    return dx, (dout * x_hat).sum(tuple(range(dout.ndim - 1)))


def tom__he_normal(fan_in, fan_out, rng):
    return rng.normal(0, np.sqrt(2 / fan_out), size=(fan_in, fan_out))


def tom__xavier_normal(fan_in, fan_out, rng):
    return rng.normal(0, np.sqrt(1 / fan_in), size=(fan_in, fan_out))


def tom__gpt2_residual(fan_in, fan_out, n_layer, rng):
    return rng.normal(0, 0.02 / np.sqrt(n_layer), size=(fan_in, fan_out))
