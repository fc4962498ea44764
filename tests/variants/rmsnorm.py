"""Right RMSNorms as people really write them."""

import numpy as np


def mean_of_power(x, gamma, eps=1e-5):
    rms = np.sqrt(np.mean(np.power(x, 2), axis=-1, keepdims=True) + eps)
    return x / rms * gamma, None


def reciprocal_root(x, gamma, eps=1e-5):
    rstd = (np.square(x).sum(-1)[..., None] / x.shape[-1] + eps) ** -0.5
    return gamma * (x * rstd), {"rstd": rstd}


def length_over_root_d(x, gamma, eps=1e-5):
    rms = np.linalg.norm(x, axis=-1, keepdims=True) / np.sqrt(x.shape[-1])
    return gamma * x / np.sqrt(rms**2 + eps), rms


def inner_product(x, gamma, eps=1e-5):
    mean_square = np.einsum("...i,...i->...", x, x) / x.shape[-1]
    return (x / np.sqrt(mean_square + eps)[..., np.newaxis]) * gamma, None


def inside_float32(x, gamma, eps=1e-5):
    x = x.astype(np.float32)
    rms = np.sqrt((x * x).mean(-1, keepdims=True) + np.float32(eps))
    return gamma.astype(np.float32) * (x / rms), rms


def float32_only_at_the_end(x, gamma, eps=1e-5):
    out, cache = mean_of_power(x, gamma, eps)
    return out.astype(np.float32), cache


def reshape_to_rows(x, gamma, eps=1e-5):
    rows = x.reshape(-1, x.shape[-1])
    rms = np.sqrt((rows**2).mean(1) + eps).reshape(-1, 1)
    return (rows / rms * gamma).reshape(x.shape), None


def in_place_on_a_copy(x, gamma, eps=1e-5):
    out = x.copy()
    out /= np.sqrt((x * x).mean(axis=x.ndim - 1, keepdims=True) + eps)
    out *= gamma
    return out, (x, gamma)


def python_loop(x, gamma, eps=1e-5):
    out = np.zeros_like(x)
    for index in np.ndindex(x.shape[:-1]):
        row = x[index]
        rms = (sum(value * value for value in row) / len(row) + eps) ** 0.5
        out[index] = [g * value / rms for value, g in zip(row, gamma)]
    return out, None


def prints_and_warns(x, gamma, eps=1e-5):
    print("mean square", (x * x).mean())
    np.log(np.zeros(1))
    return mean_of_power(x, gamma, eps)


def _forward(x, gamma, eps=1e-5):
    mean_square = (x**2).mean(-1, keepdims=True)
    rms = np.sqrt(mean_square + eps)
    return gamma * x / rms, {"x": x, "gamma": gamma, "eps": eps, "rms": rms, "x_hat": x / rms}


def _dgamma(dout, x_hat):
    return np.sum(dout * x_hat, axis=tuple(range(dout.ndim - 1)))


def long_chain(dout, cache):
    x, rms, features = cache["x"], cache["rms"], dout.shape[-1]
    dx_hat = dout * cache["gamma"]
    drms = (dx_hat * x * -(rms**-2)).sum(-1, keepdims=True)
    dmean_square = drms * 0.5 / rms
    dx = dx_hat / rms + dmean_square * 2 * x / features
    return dx, _dgamma(dout, x / rms)


def in_terms_of_x(dout, cache):
    x, gamma, eps = cache["x"], cache["gamma"], cache["eps"]
    r = 1 / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + eps)
    g = gamma * dout
    dx = g * r - x * r**3 * np.mean(g * x, axis=-1, keepdims=True)
    return dx, _dgamma(dout, x * r)


def compact_with_sums(dout, cache):
    x_hat, features = cache["x_hat"], dout.shape[-1]
    g = dout * cache["gamma"]
    along = (g * x_hat).sum(-1, keepdims=True)
    return (features * g - x_hat * along) / (features * cache["rms"]), _dgamma(dout, x_hat)


def jacobian_rows(dout, cache):
    x_hat, features = cache["x_hat"], dout.shape[-1]
    outer = x_hat[..., :, None] * x_hat[..., None, :]
    jacobian = (np.eye(features) - outer / features) / cache["rms"][..., None]
    dx = np.einsum("...i,...ij->...j", dout * cache["gamma"], jacobian)
    return dx, _dgamma(dout, x_hat)


def rows_and_einsum(dout, cache):
    features = dout.shape[-1]
    d, x_hat = dout.reshape(-1, features), cache["x_hat"].reshape(-1, features)
    rms, g = cache["rms"].reshape(-1, 1), d * cache["gamma"]
    dx = (g - x_hat * np.einsum("nd,nd->n", g, x_hat)[:, None] / features) / rms
    return dx.reshape(dout.shape), np.einsum("nd,nd->d", d, x_hat)


def row_by_row(dout, cache):
    dx, dgamma = np.empty_like(dout), np.zeros(dout.shape[-1])
    for index in np.ndindex(dout.shape[:-1]):
        x_hat, g = cache["x_hat"][index], cache["gamma"] * dout[index]
        dx[index] = (g - x_hat * np.dot(g, x_hat) / len(g)) / cache["rms"][index]
        dgamma += dout[index] * x_hat
    return dx, dgamma


def changes_dout_in_place(dout, cache):
    x_hat = cache["x_hat"]
    dgamma = _dgamma(dout, x_hat)
    dout *= cache["gamma"]
    dout -= x_hat * (dout * x_hat).mean(-1, keepdims=True)
    dout /= cache["rms"]
    return dout, dgamma


def backward_float32(dout, cache):
    dx, dgamma = compact_with_sums(dout, cache)
    return dx.astype(np.float32), dgamma.astype(np.float32)


def consumes_its_cache(dout, cache):
    gradients = list(compact_with_sums(dout, cache))
    cache.clear()
    return gradients


VARIANTS = {
    "rmsnorm_forward": [
        (mean_of_power,),
        (reciprocal_root,),
        (length_over_root_d,),
        (inner_product,),
        (inside_float32,),
        (float32_only_at_the_end,),
        (reshape_to_rows,),
        (in_place_on_a_copy,),
        (python_loop,),
        (prints_and_warns,),
    ],
    "rmsnorm_backward": [
        (_forward, backward)
        for backward in (
            long_chain,
            in_terms_of_x,
            compact_with_sums,
            jacobian_rows,
            rows_and_einsum,
            row_by_row,
            changes_dout_in_place,
            backward_float32,
            consumes_its_cache,
        )
    ],
}
