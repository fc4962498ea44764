"""Right functions on regularization as people really write them."""

import math
from itertools import combinations, product

import numpy as np


def loop_over_products(x, w, p):
    linear, relu = np.zeros(w.shape[1]), np.zeros(w.shape[1])
    for mask in product([False, True], repeat=len(x)):
        share = math.prod(1 - p if kept else p for kept in mask)
        z = (np.array(mask) * x / (1 - p)) @ w
        linear += share * z
        relu += share * np.maximum(0, z)
    return linear, relu


def bits_of_a_number(x, w, p):
    n = x.size
    masks = (np.arange(2**n)[:, None] >> np.arange(n)) & 1
    kept = masks.sum(axis=1)
    shares = (1 - p) ** kept * p ** (n - kept)
    outputs = np.where(masks, x / (1 - p), 0) @ w
    return shares @ outputs, shares @ outputs.clip(min=0)


def short_form_of_the_linear_mean(x, w, p):
    relu = np.zeros_like(w[0])
    for count in range(len(x) + 1):
        for kept in combinations(range(len(x)), count):
            z = sum((x[i] * w[i] for i in kept), np.zeros_like(w[0])) / (1 - p)
            relu = relu + (1 - p) ** count * p ** (len(x) - count) * np.where(z > 0, z, 0)
    return [x @ w, relu]


def unit_by_unit(x, w, p):
    """Split the outputs into two for each unit, zeroed and kept."""
    outputs, shares = np.zeros((1, w.shape[1])), np.ones(1)
    for value, row in zip(x, w):
        outputs = np.concatenate([outputs, outputs + value * row / (1 - p)])
        shares = np.concatenate([shares * p, shares * (1 - p)])
        print(len(outputs), "networks")
    return np.average(outputs, axis=0, weights=shares), (shares[:, None] * outputs.clip(0)).sum(0)


def by_partition(logits):
    top = np.partition(logits, -2, axis=-1)
    return (top[..., -1] - top[..., -2]).mean()


def by_argsort(logits):
    order = np.argsort(logits, axis=-1)
    ranked = np.take_along_axis(logits, order, axis=-1)
    return float((ranked[..., -1] - ranked[..., -2]).mean())


def largest_masked(logits):
    rows = logits.reshape(-1, logits.shape[-1]).copy()
    first = rows.max(axis=1)
    rows[np.arange(len(rows)), rows.argmax(axis=1)] = -np.inf
    return np.mean(first - rows.max(axis=1))


def row_by_row(logits):
    total, rows = 0.0, logits.reshape(-1, logits.shape[-1])
    for row in rows:
        first, second, *_ = sorted(row.tolist(), reverse=True)
        total += first - second
    return total / len(rows)


def shuffled_in_place(n, n_train, n_val, rng):
    order = np.arange(n)
    rng.shuffle(order)
    return order[:n_train], order[n_train : n_train + n_val]


def choice_without_replacement(n, n_train, n_val, rng):
    chosen = rng.choice(n, size=n_train + n_val, replace=False)
    return chosen[n_val:], chosen[:n_val]


def sorted_parts(n, n_train, n_val, rng):
    order = rng.permutation(n).astype(np.int32)
    return np.sort(order[:n_train]), np.sort(order[-n_val:])


def by_random_keys(n, n_train, n_val, rng):
    order = rng.random(n).argsort()
    return np.split(order[: n_train + n_val], [n_train])


def val_from_the_rest(n, n_train, n_val, rng):
    train = rng.choice(n, n_train, replace=False)
    rest = np.setdiff1d(np.arange(n), train)
    return train, rng.choice(rest, n_val, replace=False)


def shrink_then_step(params, grads, learning_rate, weight_decay):
    moved = {}
    for name, param in params.items():
        kept = 1 - learning_rate * weight_decay if param.ndim > 1 else 1
        moved[name] = kept * param - learning_rate * grads[name]
    return moved


def decay_by_its_own_variable(params, grads, learning_rate, weight_decay):
    new = {name: np.array(param, copy=True) for name, param in params.items()}
    for name in new:
        decay = weight_decay if len(params[name].shape) >= 2 else 0.0
        update = grads[name] + decay * params[name]
        new[name] = new[name] - learning_rate * update
    return new


def in_float32(params, grads, learning_rate, weight_decay):
    new = {}
    for name in params:
        p, g = np.float32(params[name]), np.float32(grads[name])
        new[name] = p - np.float32(learning_rate) * (
            g + np.float32(weight_decay) * (p.ndim >= 2) * p
        )
    return new


def statistics_by_hand(a, b, n_train, n_val):
    n = len(a)
    d = [float(second - first) for first, second in zip(a, b)]
    mean = sum(d) / n
    variance = sum((value - mean) ** 2 for value in d) / (n - 1)
    return mean, math.sqrt(variance * (1 / n + n_val / n_train))


def difference_of_means(a, b, n_train, n_val):
    variance = np.var(b - a, ddof=1)
    return np.mean(b) - np.mean(a), np.sqrt(variance / len(a) + variance * n_val / n_train)


def as_an_array(a, b, n_train, n_val):
    d = np.subtract(b, a)
    return np.array(d.mean()), np.array([d.std(ddof=1) * (1 / d.size + n_val / n_train) ** 0.5])


VARIANTS = {
    "thinned_means": [
        (loop_over_products,),
        (bits_of_a_number,),
        (short_form_of_the_linear_mean,),
        (unit_by_unit,),
    ],
    "top2_gap": [(by_partition,), (by_argsort,), (largest_masked,), (row_by_row,)],
    "train_split": [
        (shuffled_in_place,),
        (choice_without_replacement,),
        (sorted_parts,),
        (by_random_keys,),
        (val_from_the_rest,),
    ],
    "decayed_step": [(shrink_then_step,), (decay_by_its_own_variable,), (in_float32,)],
    "paired_difference": [(statistics_by_hand,), (difference_of_means,), (as_an_array,)],
}
