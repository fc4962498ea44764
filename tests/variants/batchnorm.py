"""Right BatchNorms as people really write them."""

import numpy as np


def axes_and_ddof(x, gamma, beta, running_mean, running_var, training, momentum=0.1, eps=1e-5):
    axes = tuple(range(x.ndim - 1))
    if not training:
        x_hat = (x - running_mean) / np.sqrt(running_var + eps)
        return gamma * x_hat + beta, None, running_mean, running_var
    mean, var = np.mean(x, axis=axes), np.var(x, axis=axes)
    running_mean = (1 - momentum) * running_mean + momentum * mean
    running_var = (1 - momentum) * running_var + momentum * np.var(x, axis=axes, ddof=1)
    s = np.sqrt(var + eps)
    x_hat = (x - mean) / s
    return gamma * x_hat + beta, (x_hat, s, gamma), running_mean, running_var


def flat_rows(x, gamma, beta, running_mean, running_var, training, momentum=0.1, eps=1e-5):
    rows = x.reshape(-1, x.shape[-1])
    mean, var = running_mean, running_var
    if training:
        n = rows.shape[0]
        mean = rows.sum(0) / n
        var = ((rows - mean) ** 2).sum(0) / n
        running_mean = running_mean + momentum * (mean - running_mean)
        running_var = running_var + momentum * (var * n / (n - 1) - running_var)
    x_hat = (rows - mean) * (var + eps) ** -0.5
    out = (x_hat * gamma + beta).reshape(x.shape)
    cache = {"x_hat": x_hat.reshape(x.shape), "var": var, "eps": eps, "gamma": gamma, "x": x}
    return out, cache, running_mean, running_var


def folded(x, gamma, beta, running_mean, running_var, training, momentum=0.1, eps=1e-5):
    """One multiplication and one addition, after the mean is taken off; copies in use."""
    axes = tuple(range(x.ndim - 1))
    mean, var = running_mean.copy(), running_var.copy()
    if training:
        mean, var = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
        n = x[..., 0].size
        running_mean = (1 - momentum) * running_mean + momentum * mean.ravel()
        running_var = (1 - momentum) * running_var + momentum * n / (n - 1) * var.ravel()
    factor = gamma / np.sqrt(var + eps)
    return (x - mean) * factor + beta, None, running_mean.copy(), running_var.copy()


def python_loop(x, gamma, beta, running_mean, running_var, training, momentum=0.1, eps=1e-5):
    out = np.zeros_like(x)
    running_mean, running_var = running_mean.copy(), running_var.copy()
    for j in range(x.shape[-1]):
        mean, var = running_mean[j], running_var[j]
        if training:
            column = x[..., j].ravel().tolist()
            mean = sum(column) / len(column)
            squares = sum((value - mean) ** 2 for value in column)
            var = squares / len(column)
            running_mean[j] += momentum * (mean - running_mean[j])
            running_var[j] += momentum * (squares / (len(column) - 1) - running_var[j])
        out[..., j] = gamma[j] * (x[..., j] - mean) / (var + eps) ** 0.5 + beta[j]
    return out, None, running_mean, running_var


def statistics_before_the_flag(
    x, gamma, beta, running_mean, running_var, training, momentum=0.1, eps=1e-5
):
    """Batch statistics in both modes, used in training alone; a list returned."""
    axes = tuple(range(x.ndim - 1))
    mean, var = x.mean(axes), x.var(axes)
    n = x.size // x.shape[-1]
    if training:
        running_mean = np.average([running_mean, mean], axis=0, weights=[1 - momentum, momentum])
        running_var = (1 - momentum) * running_var + momentum * var * n / (n - 1)
    else:
        mean, var = running_mean, running_var
    return [gamma * (x - mean) / np.sqrt(var + eps) + beta, None, running_mean, running_var]


def inside_float32(x, gamma, beta, running_mean, running_var, training, momentum=0.1, eps=1e-5):
    arrays = (part.astype(np.float32) for part in (x, gamma, beta, running_mean, running_var))
    out, cache, *running = axes_and_ddof(*arrays, training, momentum, eps)
    return out, cache, *running


def one_pass_clipped(x, gamma, beta, running_mean, running_var, training, momentum=0.1, eps=1e-5):
    axes = tuple(range(x.ndim - 1))
    if training:
        n = x.size // x.shape[-1]
        mean = x.mean(axes)
        var = np.maximum((x * x).mean(axes) - mean * mean, 0)
        running_mean = (1 - momentum) * running_mean + momentum * mean
        running_var = (1 - momentum) * running_var + momentum * var * n / (n - 1)
    else:
        mean, var = running_mean, running_var
    return gamma * (x - mean) / np.sqrt(var + eps) + beta, None, running_mean, running_var


def prints_and_warns(x, gamma, beta, running_mean, running_var, training, momentum=0.1, eps=1e-5):
    print("mean", x.mean())
    np.log(np.zeros(1))
    return flat_rows(x, gamma, beta, running_mean, running_var, training, momentum, eps)


def _parameters(dout, x_hat):
    axes = tuple(range(dout.ndim - 1))
    return np.sum(dout * x_hat, axis=axes), np.sum(dout, axis=axes)


def from_the_parameters(dout, cache):
    x_hat, gamma = cache["x_hat"], cache["gamma"]
    dgamma, dbeta = _parameters(dout, x_hat)
    n = dout.size // dout.shape[-1]
    s = np.sqrt(cache["var"] + cache["eps"])
    return gamma / s * (dout - dbeta / n - x_hat * dgamma / n), dgamma, dbeta


def sums_over_n(dout, cache):
    x_hat = cache["x_hat"]
    axes = tuple(range(dout.ndim - 1))
    n = x_hat[..., 0].size
    g = cache["gamma"] * dout
    s = np.sqrt(cache["var"] + cache["eps"])
    dx = (n * g - g.sum(axes) - x_hat * (g * x_hat).sum(axes)) / (n * s)
    return dx, *_parameters(dout, x_hat)


def gamma_at_the_end(dout, cache):
    """Right here, unlike in LayerNorm: gamma is constant along the means."""
    x_hat = cache["x_hat"]
    axes = tuple(range(dout.ndim - 1))
    s = np.sqrt(cache["var"] + cache["eps"])
    inner = dout - dout.mean(axes) - x_hat * (dout * x_hat).mean(axes)
    return cache["gamma"] * inner / s, *_parameters(dout, x_hat)


def long_chain(dout, cache):
    x, var, eps = cache["x"], cache["var"], cache["eps"]
    axes = tuple(range(x.ndim - 1))
    n = x.size // x.shape[-1]
    centred = x - x.mean(axes)
    dx_hat = dout * cache["gamma"]
    dvar = (dx_hat * centred * -0.5 * (var + eps) ** -1.5).sum(axes)
    dmean = (-dx_hat / np.sqrt(var + eps)).sum(axes) + dvar * (-2 * centred).mean(axes)
    dx = dx_hat / np.sqrt(var + eps) + dvar * 2 * centred / n + dmean / n
    return dx, *_parameters(dout, cache["x_hat"])


def jacobian_of_a_column(dout, cache):
    n = dout.size // dout.shape[-1]
    x_hat, upstream = (part.reshape(n, -1) for part in (cache["x_hat"], dout * cache["gamma"]))
    s = np.sqrt(cache["var"] + cache["eps"])
    inner = np.eye(n)[:, :, None] - 1 / n - x_hat[:, None] * x_hat[None] / n
    dx = np.einsum("mnd,md->nd", inner / s, upstream).reshape(dout.shape)
    return dx, *_parameters(dout, cache["x_hat"])


def changes_dout_in_place(dout, cache):
    x_hat = cache["x_hat"]
    axes = tuple(range(dout.ndim - 1))
    dgamma, dbeta = _parameters(dout, x_hat)
    dout *= cache["gamma"]
    dout -= dout.mean(axes) + x_hat * (dout * x_hat).mean(axes)
    dout /= np.sqrt(cache["var"] + cache["eps"])
    return dout, dgamma, dbeta


def backward_float32(dout, cache):
    return tuple(gradient.astype(np.float32) for gradient in sums_over_n(dout, cache))


def consumes_its_cache(dout, cache):
    gradients = from_the_parameters(dout, cache)
    cache.clear()
    return gradients


VARIANTS = {
    "batchnorm_forward": [
        (axes_and_ddof,),
        (flat_rows,),
        (folded,),
        (python_loop,),
        (statistics_before_the_flag,),
        (inside_float32,),
        (one_pass_clipped,),
        (prints_and_warns,),
    ],
    "batchnorm_backward": [
        (flat_rows, backward)
        for backward in (
            from_the_parameters,
            sums_over_n,
            gamma_at_the_end,
            long_chain,
            jacobian_of_a_column,
            changes_dout_in_place,
            backward_float32,
            consumes_its_cache,
        )
    ],
}
