"""Ada's answers: all right, written the way the statements suggest."""

import numpy as np


def embedding_forward(ids, table):
    return table[ids]


def embedding_backward(dout, ids, vocab_size):
    dtable = np.zeros((vocab_size, dout.shape[-1]))
    np.add.at(dtable, ids, dout)
    return dtable


def layernorm_forward(x, gamma, beta, eps=1e-5):
    mean = x.mean(axis=-1, keepdims=True)
    var = x.var(axis=-1, keepdims=True)
    x_hat = (x - mean) / np.sqrt(var + eps)
    return gamma * x_hat + beta, (x_hat, var + eps, gamma)


def layernorm_backward(dout, cache):
    x_hat, var_eps, gamma = cache
    axes = tuple(range(dout.ndim - 1))
    g = dout * gamma
    dx = g - g.mean(-1, keepdims=True) - x_hat * (g * x_hat).mean(-1, keepdims=True)
    return dx / np.sqrt(var_eps), (dout * x_hat).sum(axes), dout.sum(axes)


def rmsnorm_forward(x, gamma, eps=1e-5):
    rms = np.sqrt((x**2).mean(axis=-1, keepdims=True) + eps)
    x_hat = x / rms
    return gamma * x_hat, (x_hat, rms, gamma)


def rmsnorm_backward(dout, cache):
    x_hat, rms, gamma = cache
    g = dout * gamma
    dx = (g - x_hat * (g * x_hat).mean(-1, keepdims=True)) / rms
    return dx, (dout * x_hat).sum(tuple(range(dout.ndim - 1)))


def dropout_forward(x, p, training, rng):
    if not training:
        return x, None
    keep = rng.random(x.shape) >= p
    scale = (keep / (1 - p)).astype(x.dtype)
    return x * scale, scale


def dropout_backward(dout, cache):
    return dout if cache is None else dout * cache


def xavier_normal(fan_in, fan_out, rng):
    return rng.normal(0, np.sqrt(2 / (fan_in + fan_out)), size=(fan_in, fan_out))


def xavier_uniform(fan_in, fan_out, rng):
    bound = np.sqrt(6 / (fan_in + fan_out))
    return rng.uniform(-bound, bound, size=(fan_in, fan_out))


def he_normal(fan_in, fan_out, rng):
    return rng.normal(0, np.sqrt(2 / fan_in), size=(fan_in, fan_out))


def he_uniform(fan_in, fan_out, rng):
    bound = np.sqrt(6 / fan_in)
    return rng.uniform(-bound, bound, size=(fan_in, fan_out))


def gpt2_normal(fan_in, fan_out, rng):
    return rng.normal(0, 0.02, size=(fan_in, fan_out))


def gpt2_residual(fan_in, fan_out, n_layer, rng):
    return rng.normal(0, 0.02 / np.sqrt(2 * n_layer), size=(fan_in, fan_out))


def gpt2_init(shapes, n_layer, rng):
    parameters = {}
    for name, shape in shapes.items():
        if name.endswith("bias"):
            parameters[name] = np.zeros(shape)
        elif len(shape) == 1:
            parameters[name] = np.ones(shape)
        elif name.endswith("c_proj.weight"):
            parameters[name] = rng.normal(0, 0.02 / np.sqrt(2 * n_layer), size=shape)
        else:
            parameters[name] = rng.normal(0, 0.02, size=shape)
    return parameters
