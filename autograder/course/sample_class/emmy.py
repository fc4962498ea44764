"""Emmy's answers: all right, in styles of her own: matrix products, long chains, loops."""

import numpy as np


def embedding_forward(ids, table):
    return np.take(table, ids, axis=0)


def embedding_backward(dout, ids, vocab_size):
    one_hot = np.ravel(ids)[None, :] == np.arange(vocab_size)[:, None]
    return one_hot.astype(float) @ dout.reshape(-1, dout.shape[-1])


def layernorm_forward(x, gamma, beta, eps=1e-5):
    features = x.shape[-1]
    centred = x - x.sum(axis=-1, keepdims=True) / features
    rstd = (np.einsum("...d,...d->...", centred, centred)[..., None] / features + eps) ** -0.5
    return np.multiply(gamma, centred * rstd) + beta, {"c": centred, "r": rstd, "gamma": gamma}


def layernorm_backward(dout, cache):
    centred, rstd, gamma = cache["c"], cache["r"], cache["gamma"]
    features = dout.shape[-1]
    dx_hat = dout * gamma
    dvar = np.sum(dx_hat * centred, axis=-1, keepdims=True) * -0.5 * rstd**3
    dmean = -np.sum(dx_hat * rstd, axis=-1, keepdims=True)
    dx = dx_hat * rstd + dvar * 2 * centred / features + dmean / features
    rows = dout.reshape(-1, features)
    dgamma = np.sum(rows * (centred * rstd).reshape(-1, features), axis=0)
    return dx, dgamma, np.sum(rows, axis=0)


def rmsnorm_forward(x, gamma, eps=1e-5):
    inverse = 1 / np.sqrt(np.mean(np.square(x), axis=-1)[..., None] + eps)
    return x * inverse * gamma, (x, inverse, gamma)


def rmsnorm_backward(dout, cache):
    x, inverse, gamma = cache
    along = np.sum(dout * gamma * x, axis=-1, keepdims=True) / x.shape[-1]
    dx = dout * gamma * inverse - x * inverse**3 * along
    return dx, (dout * x * inverse).reshape(-1, x.shape[-1]).sum(axis=0)


def dropout_forward(x, p, training, rng):
    if not training or p == 0:
        return x.copy(), (np.ones(x.shape, bool), 1.0)
    keep = rng.binomial(1, 1 - p, size=x.shape).astype(bool)
    return np.where(keep, x / (1 - p), 0).astype(x.dtype), (keep, 1 / (1 - p))


def dropout_backward(dout, cache):
    keep, scale = cache
    return np.where(keep, dout * scale, 0)


def xavier_normal(fan_in, fan_out, rng):
    return rng.standard_normal((fan_in, fan_out)) * (2 / (fan_in + fan_out)) ** 0.5


def xavier_uniform(fan_in, fan_out, rng):
    return (2 * rng.random((fan_in, fan_out)) - 1) * (6 / (fan_in + fan_out)) ** 0.5


def he_normal(fan_in, fan_out, rng):
    return rng.standard_normal((fan_in, fan_out)) * (2 / fan_in) ** 0.5


def he_uniform(fan_in, fan_out, rng):
    return (2 * rng.random((fan_in, fan_out)) - 1) * (6 / fan_in) ** 0.5


def gpt2_normal(fan_in, fan_out, rng):
    return 0.02 * rng.standard_normal((fan_in, fan_out))


def gpt2_residual(fan_in, fan_out, n_layer, rng):
    return gpt2_normal(fan_in, fan_out, rng) / (2 * n_layer) ** 0.5


def gpt2_init(shapes, n_layer, rng):
    def start(name, shape):
        if len(shape) < 2:
            return np.full(shape, 0.0 if name.endswith(".bias") else 1.0)
        std = 0.02 / (2 * n_layer) ** 0.5 if name.endswith("c_proj.weight") else 0.02
        return std * rng.standard_normal(shape)

    return {name: start(name, shape) for name, shape in shapes.items()}
