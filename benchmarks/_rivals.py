"""The other contenders: straightforward NumPy, and PyTorch where it is installed."""

from collections.abc import Callable

import numpy as np

try:
    import torch
except ModuleNotFoundError:
    torch = None

EPS = 1e-5


def layernorm_forward(x, gamma, beta):
    x_hat = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + x.dtype.type(EPS))
    return gamma * x_hat + beta


def layernorm_backward(dout, x, gamma):
    rstd = 1 / np.sqrt(x.var(-1, keepdims=True) + x.dtype.type(EPS))
    x_hat = (x - x.mean(-1, keepdims=True)) * rstd
    g = dout * gamma
    inner = g - g.mean(-1, keepdims=True) - x_hat * (g * x_hat).mean(-1, keepdims=True)
    return inner * rstd, (dout * x_hat).sum(0), dout.sum(0)


def rmsnorm_forward(x, gamma):
    return gamma * x / np.sqrt((x * x).mean(-1, keepdims=True) + x.dtype.type(EPS))


def rmsnorm_backward(dout, x, gamma):
    rstd = 1 / np.sqrt((x * x).mean(-1, keepdims=True) + x.dtype.type(EPS))
    x_hat, g = x * rstd, dout * gamma
    return (g - x_hat * (g * x_hat).mean(-1, keepdims=True)) * rstd, (dout * x_hat).sum(0)


def batchnorm_forward(x, gamma, beta):
    return batchnorm_in_use(x, gamma, beta, x.mean(0), x.var(0))


def batchnorm_in_use(x, gamma, beta, mean, var):
    return gamma * (x - mean) / np.sqrt(var + x.dtype.type(EPS)) + beta


def batchnorm_backward(dout, x, gamma):
    rstd = 1 / np.sqrt(x.var(0) + x.dtype.type(EPS))
    x_hat = (x - x.mean(0)) * rstd
    dgamma, dbeta = (dout * x_hat).sum(0), dout.sum(0)
    return gamma * rstd * (dout - (dbeta + x_hat * dgamma) / len(x)), dgamma, dbeta


def dropout_forward(x, p, rng):
    return x * (rng.random(x.shape) >= p) * x.dtype.type(1 / (1 - p))


def dropout_backward(dout, keep, p):
    return dout * keep * dout.dtype.type(1 / (1 - p))


def embedding_backward(dout, ids, vocab_size):
    dtable = np.zeros((vocab_size, dout.shape[1]), dout.dtype)
    np.add.at(dtable, ids, dout)
    return dtable


def in_pytorch(x, dout, gamma, beta, ids, table) -> dict[str, Callable[[], object]]:
    """Return PyTorch's call for each kernel; none if it is not installed."""
    if torch is None:
        return {}
    features, vocab_size = x.shape[1:], len(table)
    x, dout, gamma, beta, ids, table = map(torch.from_numpy, (x, dout, gamma, beta, ids, table))
    _, mean, rstd = torch.native_layer_norm(x, features, gamma, beta, EPS)
    leaves = x.clone().requires_grad_(), gamma.clone().requires_grad_()
    normalized = torch.nn.functional.rms_norm(leaves[0], features, leaves[1], EPS)
    running = torch.zeros_like(gamma), torch.ones_like(gamma)
    _, *saved = torch.native_batch_norm(x, gamma, beta, *running, True, 0.0, EPS)
    keep = torch.rand(x.shape) >= 0.1
    aten = torch.ops.aten
    return {
        "layernorm_forward": lambda: torch.native_layer_norm(x, features, gamma, beta, EPS),
        "layernorm_backward": lambda: aten.native_layer_norm_backward(
            dout, x, features, mean, rstd, gamma, beta, [True] * 3
        ),
        "rmsnorm_forward": lambda: torch.nn.functional.rms_norm(x, features, gamma, EPS),
        # There is no backward pass of its own to call: autograd runs those of its parts.
        "rmsnorm_backward": lambda: torch.autograd.grad(
            normalized, leaves, dout, retain_graph=True
        ),
        "batchnorm_forward": lambda: torch.native_batch_norm(
            x, gamma, beta, *running, True, 0.0, EPS
        ),
        "batchnorm_in_use": lambda: torch.native_batch_norm(
            x, gamma, beta, *running, False, 0.0, EPS
        ),
        "batchnorm_backward": lambda: aten.native_batch_norm_backward(
            dout, x, gamma, *running, *saved, True, EPS, [True] * 3
        ),
        "dropout_forward": lambda: aten.native_dropout(x, 0.1, True),
        "dropout_backward": lambda: aten.native_dropout_backward(dout, keep, 1 / 0.9),
        "embedding_forward": lambda: torch.nn.functional.embedding(ids, table),
        "embedding_backward": lambda: aten.embedding_dense_backward(
            dout, ids, vocab_size, -1, False
        ),
    }
