"""Right pieces of a tiny GPT as people really write them."""

import math

import numpy as np

ROOT, CUBIC = math.sqrt(2 / math.pi), 0.044715


def lower_triangle(length):
    return np.tril(np.ones((length, length), dtype=bool))


def not_upper(length):
    return ~np.triu(np.ones((length, length)), k=1).astype(bool)


def by_loop(length):
    mask = np.zeros((length, length), dtype=bool)
    for i in range(length):
        mask[i, : i + 1] = True
    return mask


def comprehension(length):
    return np.array([[j <= i for j in range(length)] for i in range(length)])


def multiplied_out(x):
    out = x / 2 + x / 2 * np.tanh(ROOT * x + ROOT * CUBIC * x * x * x)
    return out, {"x": x}


def by_sigmoid_of_2u(x):
    # (1 + tanh(u)) / 2 is the sigmoid of 2 u, written so that nothing overflows.
    twice = 2 * ROOT * x * (1 + CUBIC * np.square(x))
    small = np.exp(-np.abs(twice))
    return x * np.where(twice >= 0, 1, small) / (1 + small), x


def gelu_float32(x):
    x = x.astype(np.float32)
    u = np.float32(ROOT) * (x + np.float32(CUBIC) * x**3)
    return np.float32(0.5) * x * (1 + np.tanh(u)), x


def gelu_prints_and_warns(x):
    print("mean", x.mean())
    np.log(np.zeros(1))
    return multiplied_out(x)


def _gelu(x):
    t = np.tanh(ROOT * (x + CUBIC * x**3))
    return 0.5 * x * (1 + t), {"x": x, "t": t}


def product_rule(dout, cache):
    x, t = cache["x"], cache["t"]
    share = 0.5 * (1 + t)
    return dout * share + dout * x * 0.5 * (1 - t) * (1 + t) * (ROOT + 3 * ROOT * CUBIC * x * x)


def by_cosh(dout, cache):
    x = cache["x"]
    u = np.clip(ROOT * (x + CUBIC * x**3), -300, 300)
    bend = ROOT * (1 + 3 * CUBIC * x**2)
    return dout * (0.5 + 0.5 * np.tanh(u) + 0.5 * x / np.cosh(u) ** 2 * bend)


def in_place_on_dout(dout, cache):
    dout *= product_rule(np.ones_like(dout), cache)
    return dout


def slope_float32(dout, cache):
    return product_rule(dout, cache).astype(np.float32)


def rows_and_arange(logits, targets):
    rows, y = logits.reshape(-1, logits.shape[-1]), targets.ravel()
    m = rows.max(1)
    logsum = m + np.log(np.sum(np.exp(rows - m[:, None]), axis=1))
    return float(np.mean(logsum - rows[np.arange(len(rows)), y])), (logits, targets)


def by_logaddexp(logits, targets):
    logsum = np.logaddexp.reduce(logits, axis=-1)
    hot = np.eye(logits.shape[-1])[targets]
    return np.sum(logsum - (hot * logits).sum(-1)) / targets.size, None


def loss_by_loops(logits, targets):
    total, count = 0.0, 0
    for index in np.ndindex(targets.shape):
        row = [float(v) for v in logits[index]]
        m = max(row)
        total += m + math.log(sum(math.exp(v - m) for v in row)) - row[targets[index]]
        count += 1
    return total / count, None


def loss_as_array(logits, targets):
    return np.asarray(rows_and_arange(logits, targets)[0]), {}


def _softmax(z):
    e = np.exp(z - z.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def minus_one_hot(cache):
    logits, targets = cache
    return (_softmax(logits) - np.eye(logits.shape[-1])[targets]) / np.prod(targets.shape)


def subtract_at(cache):
    logits, targets = cache
    p = _softmax(logits).reshape(-1, logits.shape[-1])
    p[np.arange(len(p)), targets.ravel()] -= 1.0
    return (p / len(p)).reshape(logits.shape)


def dlogits_float32(cache):
    return minus_one_hot(cache).astype(np.float32)


def with_take(ids, token_table, position_table):
    places = np.arange(ids.shape[1])
    return np.take(token_table, ids, axis=0) + np.take(position_table, places, axis=0)[None]


def one_hot_product(ids, token_table, position_table):
    return np.eye(len(token_table))[ids] @ token_table + position_table[: ids.shape[1]]


def add_by_loop(ids, token_table, position_table):
    x = np.empty((*ids.shape, token_table.shape[1]))
    for b, t in np.ndindex(*ids.shape):
        x[b, t] = token_table[ids[b, t]] + position_table[t]
    return x


def head_by_head(x, w_qkv, w_out, n_head):
    q, k, v = np.split(x @ w_qkv, 3, axis=-1)
    size = x.shape[-1] // n_head
    future = np.triu(np.ones((x.shape[1], x.shape[1]), bool), 1)
    heads = []
    for h in range(n_head):
        part = slice(h * size, (h + 1) * size)
        scores = q[..., part] @ k[..., part].transpose(0, 2, 1) / math.sqrt(size)
        scores[:, future] = -np.inf
        heads.append(_softmax(scores) @ v[..., part])
    return np.concatenate(heads, -1) @ w_out


def with_a_large_negative_number(x, w_qkv, w_out, n_head):
    batch, length, features = x.shape
    shape = batch, length, n_head, features // n_head
    q, k, v = ((x @ w).reshape(shape).transpose(0, 2, 1, 3) for w in np.split(w_qkv, 3, axis=1))
    scores = np.einsum("bhid,bhjd->bhij", q, k) * shape[-1] ** -0.5
    scores = scores - 1e9 * (1 - np.tri(length))
    out = np.einsum("bhij,bhjd->bihd", _softmax(scores), v)
    return out.reshape(x.shape) @ w_out


def mask_as_factor(x, w_qkv, w_out, n_head):
    # Weights made 0 and divided by what is left: the same as a softmax over what may be seen.
    batch, length, features = x.shape
    shape = batch, length, n_head, features // n_head
    q, k, v = (p.reshape(shape).swapaxes(1, 2) for p in np.split(x @ w_qkv, 3, axis=-1))
    scores = np.where(np.tri(length) == 0, -np.inf, q @ k.swapaxes(2, 3) / np.sqrt(shape[-1]))
    weights = np.exp(scores - scores.max(-1, keepdims=True)) * np.tri(length)
    out = weights / weights.sum(-1, keepdims=True) @ v
    return out.swapaxes(1, 2).reshape(x.shape) @ w_out


def position_by_position(x, w_qkv, w_out, n_head):
    features = x.shape[-1]
    size, qkv = features // n_head, x @ w_qkv
    out = np.zeros(x.shape)
    for b, i in np.ndindex(*x.shape[:2]):
        for start in range(0, features, size):
            q = qkv[b, i, start : start + size]
            k = qkv[b, : i + 1, features + start : features + start + size]
            v = qkv[b, : i + 1, 2 * features + start : 2 * features + start + size]
            out[b, i, start : start + size] = _softmax(k @ q / math.sqrt(size)) @ v
    return out @ w_out


def attention_float32(x, w_qkv, w_out, n_head):
    return head_by_head(*(a.astype(np.float32) for a in (x, w_qkv, w_out)), n_head)


def _norm(x, gamma, beta):
    return gamma * (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5) + beta


def two_steps(x, params, n_head):
    p = params
    normed = _norm(x, p["gamma1"], p["beta1"])
    middle = x + head_by_head(normed, p["w_qkv"], p["w_out"], n_head)
    hidden = _gelu(_norm(middle, p["gamma2"], p["beta2"]) @ p["w1"])[0]
    return middle + hidden @ p["w2"]


def copies_then_adds(x, params, n_head):
    out = x.copy()
    out += mask_as_factor(
        _norm(out, params["gamma1"], params["beta1"]), params["w_qkv"], params["w_out"], n_head
    )
    out += _gelu(_norm(out, params["gamma2"], params["beta2"]) @ params["w1"])[0] @ params["w2"]
    return out


def block_float32(x, params, n_head):
    narrow = {name: value.astype(np.float32) for name, value in params.items()}
    return two_steps(x.astype(np.float32), narrow, n_head)


def inverse_of_the_sum(logits, temperature, rng):
    if temperature == 0:
        return np.argmax(logits)
    p = _softmax(logits / temperature)
    return min(int(np.searchsorted(np.cumsum(p), rng.random())), len(p) - 1)


def gumbel(logits, temperature, rng):
    if temperature == 0:
        return int(logits.argmax())
    return int(np.argmax(logits / temperature + rng.gumbel(size=logits.shape)))


def multinomial(logits, temperature, rng):
    if temperature < 1e-8:
        return int(np.flatnonzero(logits == logits.max())[0])
    return int(rng.multinomial(1, _softmax(logits / temperature)).argmax())


def by_a_loop(logits, temperature, rng):
    if not temperature:
        return max(range(len(logits)), key=lambda i: logits[i])
    u = rng.random()
    for token, share in enumerate(_softmax(logits / temperature)):
        u -= share
        if u <= 0:
            return token
    return len(logits) - 1


def _pair(logits, targets):
    return rows_and_arange(logits, targets)


VARIANTS = {
    "causal_mask": [(f,) for f in (lower_triangle, not_upper, by_loop, comprehension)],
    "gelu_forward": [
        (f,) for f in (multiplied_out, by_sigmoid_of_2u, gelu_float32, gelu_prints_and_warns)
    ],
    "gelu_backward": [
        (_gelu, f) for f in (product_rule, by_cosh, in_place_on_dout, slope_float32)
    ],
    "cross_entropy_forward": [
        (f,) for f in (rows_and_arange, by_logaddexp, loss_by_loops, loss_as_array)
    ],
    "cross_entropy_backward": [
        (_pair, f) for f in (minus_one_hot, subtract_at, dlogits_float32)
    ],
    "embed_sum": [(f,) for f in (with_take, one_hot_product, add_by_loop)],
    "causal_attention": [
        (f,)
        for f in (
            head_by_head, with_a_large_negative_number, mask_as_factor, position_by_position,
            attention_float32,
        )
    ],
    "block_forward": [
        (head_by_head, _gelu, f) for f in (two_steps, copies_then_adds, block_float32)
    ],
    "next_token": [(f,) for f in (inverse_of_the_sum, gumbel, multinomial, by_a_loop)],
}  # fmt: skip
