"""Right LayerNorms as people really write them."""

import numpy as np


def var_method(x, gamma, beta, eps=1e-5):
    out = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps) * gamma + beta
    return out, None


def reciprocal_root(x, gamma, beta, eps=1e-5):
    centred = x - np.mean(x, axis=-1)[..., None]
    rstd = (np.square(centred).sum(-1, keepdims=True) / x.shape[-1] + eps) ** -0.5
    return gamma * (centred * rstd) + beta, {"rstd": rstd}


def inside_float32(x, gamma, beta, eps=1e-5):
    x = x.astype(np.float32)
    mean = x.mean(-1, keepdims=True)
    x_hat = (x - mean) / np.sqrt(((x - mean) ** 2).mean(-1, keepdims=True) + np.float32(eps))
    return gamma.astype(np.float32) * x_hat + beta.astype(np.float32), x_hat


def one_pass_clipped(x, gamma, beta, eps=1e-5):
    mean = x.mean(-1, keepdims=True)
    variance = np.maximum((x * x).mean(-1, keepdims=True) - mean * mean, 0)
    return gamma * (x - mean) / np.sqrt(variance + eps) + beta, None


def reshape_to_rows(x, gamma, beta, eps=1e-5):
    rows = x.reshape(-1, x.shape[-1])
    mean, var = rows.mean(1).reshape(-1, 1), rows.var(1).reshape(-1, 1)
    return ((rows - mean) / np.sqrt(var + eps) * gamma + beta).reshape(x.shape), None


def python_loop(x, gamma, beta, eps=1e-5):
    out = np.empty_like(x)
    for index in np.ndindex(x.shape[:-1]):
        row = x[index]
        mean = sum(row) / len(row)
        var = sum((value - mean) ** 2 for value in row) / len(row)
        out[index] = [
            g * (value - mean) / (var + eps) ** 0.5 + b for value, g, b in zip(row, gamma, beta)
        ]
    return out, None


def prints_and_warns(x, gamma, beta, eps=1e-5):
    print("mean", x.mean())
    np.log(np.zeros(1))
    return var_method(x, gamma, beta, eps)


def _forward(x, gamma, beta, eps=1e-5):
    mean = x.mean(-1, keepdims=True)
    var = x.var(-1, keepdims=True)
    x_hat = (x - mean) / np.sqrt(var + eps)
    return gamma * x_hat + beta, {"x": x, "x_hat": x_hat, "var": var, "mean": mean, "eps": eps,
                                  "gamma": gamma}  # fmt: skip


def _parameters(dout, x_hat):
    axes = tuple(range(dout.ndim - 1))
    return np.sum(dout * x_hat, axis=axes), np.sum(dout, axis=axes)


def long_chain(dout, cache):
    x, mean, var, eps = (cache[name] for name in ("x", "mean", "var", "eps"))
    features = x.shape[-1]
    dx_hat = dout * cache["gamma"]
    dvar = (dx_hat * (x - mean) * -0.5 * (var + eps) ** -1.5).sum(-1, keepdims=True)
    dmean = (-dx_hat / np.sqrt(var + eps)).sum(-1, keepdims=True)
    dmean = dmean + dvar * (-2 * (x - mean)).sum(-1, keepdims=True) / features
    dx = dx_hat / np.sqrt(var + eps) + dvar * 2 * (x - mean) / features + dmean / features
    return dx, *_parameters(dout, cache["x_hat"])


def chain_without_zero_term(dout, cache):
    x, mean, var, eps = (cache[name] for name in ("x", "mean", "var", "eps"))
    dx_hat = dout * cache["gamma"]
    dvar = -0.5 * (dx_hat * (x - mean)).sum(-1, keepdims=True) / (var + eps) ** 1.5
    dmean = -dx_hat.sum(-1, keepdims=True) / np.sqrt(var + eps)
    dx = dx_hat / np.sqrt(var + eps) + (2 * dvar * (x - mean) + dmean) / x.shape[-1]
    return dx, *_parameters(dout, cache["x_hat"])


def compact_with_sums(dout, cache):
    x_hat, features = cache["x_hat"], dout.shape[-1]
    g = dout * cache["gamma"]
    s = np.sqrt(cache["var"] + cache["eps"])
    total, along = g.sum(-1, keepdims=True), (g * x_hat).sum(-1, keepdims=True)
    dx = (features * g - total - x_hat * along) / (features * s)
    return dx, *_parameters(dout, x_hat)


def jacobian_rows(dout, cache):
    x_hat = cache["x_hat"]
    features = x_hat.shape[-1]
    s = np.sqrt(cache["var"] + cache["eps"])
    eye = np.eye(features) - 1 / features
    jacobian = (eye - x_hat[..., :, None] * x_hat[..., None, :] / features) / s[..., None]
    dx = np.einsum("...i,...ij->...j", dout * cache["gamma"], jacobian)
    return dx, *_parameters(dout, x_hat)


def changes_dout_in_place(dout, cache):
    dgamma, dbeta = _parameters(dout, cache["x_hat"])
    x_hat, s = cache["x_hat"], np.sqrt(cache["var"] + cache["eps"])
    dout *= cache["gamma"]
    dout -= dout.mean(-1, keepdims=True) + x_hat * (dout * x_hat).mean(-1, keepdims=True)
    dout /= s
    return dout, dgamma, dbeta


def backward_float32(dout, cache):
    dx, dgamma, dbeta = compact_with_sums(dout, cache)
    return dx.astype(np.float32), dgamma.astype(np.float32), dbeta.astype(np.float32)


def consumes_its_cache(dout, cache):
    gradients = compact_with_sums(dout, cache)
    cache.clear()
    return gradients


VARIANTS = {
    "layernorm_forward": [
        (var_method,),
        (reciprocal_root,),
        (inside_float32,),
        (one_pass_clipped,),
        (reshape_to_rows,),
        (python_loop,),
        (prints_and_warns,),
    ],
    "layernorm_backward": [
        (_forward, backward)
        for backward in (
            long_chain,
            chain_without_zero_term,
            compact_with_sums,
            jacobian_rows,
            changes_dout_in_place,
            backward_float32,
            consumes_its_cache,
        )
    ],
}
