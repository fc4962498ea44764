"""Right functions on signal and scale as people really write them."""

import numpy as np

EPS = 1e-5


def _plain(z):
    return z, np.ones((len(z), 1))


def _layernorm(z):
    rstd = 1 / np.sqrt(z.var(axis=1, keepdims=True) + EPS)
    return (z - z.mean(axis=1, keepdims=True)) * rstd, rstd


def _rmsnorm(z):
    rstd = 1 / np.sqrt(np.mean(z * z, axis=-1, keepdims=True) + EPS)
    return z * rstd, rstd


NORMS = {"none": _plain, "layernorm": _layernorm, "rmsnorm": _rmsnorm}


def by_table_of_norms(x, weights, norm):
    h, kept, scales = x, [], np.zeros(len(weights))
    for layer, w in enumerate(weights):
        n, rstd = NORMS[norm](h.dot(w))
        kept.append((h, w, n, rstd))
        h = n * (n > 0)
        scales[layer] = np.sqrt(np.square(h).mean())
    return h, scales, (kept, norm)


def back_by_table(dout, cache):
    kept, norm = cache
    dweights, scales = [], []
    for h, w, n, rstd in kept[::-1]:
        g = np.where(n > 0, dout, 0.0)
        if norm == "layernorm":
            g = rstd * (g - g.mean(-1, keepdims=True) - n * (g * n).mean(-1, keepdims=True))
        elif norm == "rmsnorm":
            g = rstd * (g - n * (g * n).mean(-1, keepdims=True))
        dweights.insert(0, h.T @ g)
        dout = g @ w.T
        scales.insert(0, np.sqrt((dout**2).mean()))
    return dout, dweights, scales


def plain_lists_and_lengths(x, weights, norm):
    """Sizes by np.linalg.norm, as a list of Python's floats; layers kept in a dict."""
    h, scales, cache = [x], [], {"weights": weights, "norm": norm, "n": []}
    for w in weights:
        cache["n"].append(NORMS[norm](h[-1] @ w)[0])
        h.append(np.maximum(cache["n"][-1], 0))
        scales.append(float(np.linalg.norm(h[-1]) / np.sqrt(h[-1].size)))
    cache["h"] = h
    print("sizes:", scales)
    return h[-1], scales, cache


def back_with_jacobians(dout, cache):
    """Go back through the norm by the Jacobian of each row, found from z again."""
    dweights, scales = {}, {}
    for layer in range(len(cache["weights"]) - 1, -1, -1):
        h, w, n = cache["h"][layer], cache["weights"][layer], cache["n"][layer]
        dn = dout * (n > 0)
        dz = np.stack([_jacobian(z, cache["norm"]) @ row for z, row in zip(h @ w, dn)])
        dweights[layer] = np.einsum("ni,no->io", h, dz)
        dout = np.einsum("no,io->ni", dz, w)
        scales[layer] = np.mean(dout**2) ** 0.5
    order = sorted(scales)
    return dout, tuple(dweights[k] for k in order), np.array([scales[k] for k in order])


def _jacobian(z, norm):
    size = z.size
    if norm == "none":
        return np.eye(size)
    centre = np.eye(size) - 1 / size if norm == "layernorm" else np.eye(size)
    c = centre @ z
    s = np.sqrt(c @ c / size + EPS)
    return (centre - np.outer(c, c) / (size * s**2)) / s


def in_float32(x, weights, norm):
    weights = [w.astype(np.float32) for w in weights]
    out, scales, cache = by_table_of_norms(x.astype(np.float32), weights, norm)
    return out, scales.astype(np.float32), cache


def back_in_float32(dout, cache):
    dx, dweights, scales = back_by_table(dout.astype(np.float32), cache)
    return dx, dweights, np.array(scales, dtype=np.float32)


def rate_by_norm(weight, learning_rate):
    return learning_rate / np.linalg.norm(weight) ** 2


def rate_by_dot(weight, learning_rate):
    flat = weight.ravel()
    return np.array([learning_rate / (flat @ flat)])


def rate_by_loop(weight, learning_rate):
    total = 0.0
    for entry in weight.flat:
        total += float(entry) ** 2
    return learning_rate / total


def split_by_direction(weight, gradient):
    direction = weight / np.sqrt((weight**2).sum())
    along = np.sum(gradient * direction) * direction
    return along, gradient - along


def split_by_vdot(weight, gradient):
    factor = np.vdot(weight, gradient) / np.vdot(weight, weight)
    return [factor * weight, gradient - factor * weight]


def split_by_tensordot(weight, gradient):
    axes = weight.ndim
    factor = np.tensordot(weight, gradient, axes) / np.tensordot(weight, weight, axes)
    across = gradient - weight * factor
    return gradient - across, across


def split_in_float32(weight, gradient):
    w, g = weight.astype(np.float32), gradient.astype(np.float32)
    along = (w * g).sum() / (w * w).sum() * w
    return along, g - along


def growth_by_norms(weight, gradient, learning_rate, weight_decay):
    new = weight - learning_rate * gradient - learning_rate * weight_decay * weight
    return (np.linalg.norm(new) / np.linalg.norm(weight)) ** 2


def growth_of_mean_squares(weight, gradient, learning_rate, weight_decay):
    new = (1 - learning_rate * weight_decay) * weight - learning_rate * gradient
    return np.mean(new**2) / np.mean(weight**2)


def growth_multiplied_out(weight, gradient, learning_rate, weight_decay):
    kept = 1 - learning_rate * weight_decay
    ww, wg, gg = (np.sum(a * b) for a, b in ((weight, weight), (weight, gradient), (gradient,) * 2))
    return float(kept**2 - 2 * kept * learning_rate * wg / ww + learning_rate**2 * gg / ww)


_NETS = [
    (by_table_of_norms, back_by_table),
    (plain_lists_and_lengths, back_with_jacobians),
    (in_float32, back_in_float32),
]

VARIANTS = {
    "activation_scale": [net[:1] for net in _NETS],
    "gradient_scale": _NETS,
    "effective_rate": [(rate_by_norm,), (rate_by_dot,), (rate_by_loop,)],
    "split_gradient": [
        (split_by_direction,),
        (split_by_vdot,),
        (split_by_tensordot,),
        (split_in_float32,),
    ],
    "weight_growth": [(growth_by_norms,), (growth_of_mean_squares,), (growth_multiplied_out,)],
}
