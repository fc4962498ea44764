"""The pieces of a tiny GPT that look back: mask, positions, causal attention, and the block."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from layerlab.jit import by_parts
from numpy.typing import NDArray

from autograder.kernels import _validate as validate
from autograder.kernels.layernorm import layernorm_forward
from autograder.kernels.tinygpt import gelu_forward

PARAMETERS = ("gamma1", "beta1", "w_qkv", "w_out", "gamma2", "beta2", "w1", "w2")

_MASK = "causal_mask(length)"
_EMBED = "embed_sum(ids, token_table, position_table)"
_ATTENTION = "causal_attention(x, w_qkv, w_out, n_head)"
_BLOCK = "block_forward(x, params, n_head)"


def causal_mask(length: int) -> NDArray[np.bool_]:
    """Say which positions each position may look at: itself and those before.

    ``mask[i, j] = (j <= i)``: the lower triangle, diagonal included.

    Parameters
    ----------
    length : int
        Number of positions T, 1 or more.

    Returns
    -------
    mask : ndarray of bool, shape (T, T)

    Raises
    ------
    TypeError, ValueError
        If `length` is no integer of 1 or more.
    """
    length = validate.whole_number(_MASK, "length", length)
    place = np.arange(length)
    return np.less_equal(place, place[:, None])


def embed_sum(
    ids: NDArray[Any], token_table: NDArray[Any], position_table: NDArray[Any]
) -> NDArray[Any]:
    """Add what a token is and where it stands: ``x[b, t] = tokens[ids[b, t]] + positions[t]``.

    Parameters
    ----------
    ids : ndarray of integers, shape (B, T)
        Tokens, in ``0 .. V - 1``.
    token_table : ndarray of float32 or float64, shape (V, D)
        A vector for each token.
    position_table : ndarray of the dtype of `token_table`, shape (C, D)
        A vector for each position; C is at least T.

    Returns
    -------
    x : ndarray of that dtype, shape (B, T, D)

    Raises
    ------
    TypeError, ValueError
        If an argument has another type, dtype, rank or shape.
    """
    tokens = validate.float_array(_EMBED, "token_table", token_table, 2)
    positions = validate.float_array(_EMBED, "position_table", position_table, 2)
    validate.same_dtype(_EMBED, "position_table", positions, "token_table", tokens)
    ids = validate.token_ids(_EMBED, ids, len(tokens))
    if ids.ndim != 2:
        raise ValueError(f"{_EMBED}: ids must have shape (B, T); got {ids.shape}.")
    if positions.shape[1] != tokens.shape[1] or len(positions) < ids.shape[1]:
        raise ValueError(
            f"{_EMBED}: position_table must have shape (C, D) with D = {tokens.shape[1]} and C at "
            f"least T = {ids.shape[1]}; got {positions.shape}. Shorten ids to the context."
        )
    x = np.empty((*ids.shape, tokens.shape[1]), tokens.dtype)
    _add_rows(len(ids), x.size, ids, tokens, positions, x)
    return x


def causal_attention(
    x: NDArray[Any], w_qkv: NDArray[Any], w_out: NDArray[Any], n_head: int
) -> NDArray[Any]:
    """Let each position gather from itself and those before it [1]_.

    ``q, k, v = x @ w_qkv`` in three equal parts; each head takes the next ``h = D / n_head``
    features of each and computes ``softmax(q @ k.T / sqrt(h)) @ v``, the softmax over ``j <= i``
    alone. The heads side by side are multiplied by ``w_out``.

    Parameters
    ----------
    x : ndarray of float32 or float64, shape (B, T, D)
        Input.
    w_qkv : ndarray of the dtype of `x`, shape (D, 3 D)
        Weights of queries, keys and values, in this order.
    w_out : ndarray of the dtype of `x`, shape (D, D)
        Weights of the output.
    n_head : int
        Number of heads, a divisor of D.

    Returns
    -------
    out : ndarray of the dtype and shape of `x`

    Raises
    ------
    TypeError, ValueError
        If an argument has another type, dtype, rank or shape.

    References
    ----------
    .. [1] Vaswani et al., "Attention Is All You Need", arXiv:1706.03762, 2017.
    """
    x = _sequence(_ATTENTION, x)
    batch, length, features = x.shape
    n_head = _heads(_ATTENTION, n_head, features)
    w_qkv = _matrix(_ATTENTION, "w_qkv", w_qkv, (features, 3 * features), x)
    w_out = _matrix(_ATTENTION, "w_out", w_out, (features, features), x)
    rows = x.reshape(-1, features)
    qkv = (rows @ w_qkv).reshape(batch, length, 3 * features)
    gathered = np.empty_like(x)
    _gather(batch, x.size * length, qkv, n_head, gathered)
    out: NDArray[Any] = gathered.reshape(rows.shape) @ w_out
    return out.reshape(x.shape)


def block_forward(x: NDArray[Any], params: Mapping[str, NDArray[Any]], n_head: int) -> NDArray[Any]:
    """One block of a GPT with the norms in front [1]_.

    ::

        x = x + causal_attention(layernorm(x, gamma1, beta1), w_qkv, w_out, n_head)
        out = x + gelu(layernorm(x, gamma2, beta2) @ w1) @ w2

    Parameters
    ----------
    x : ndarray of float32 or float64, shape (B, T, D)
        Input.
    params : mapping of str to ndarray of the dtype of `x`
        ``gamma1, beta1, gamma2, beta2`` of shape (D,), ``w_qkv`` (D, 3 D), ``w_out`` (D, D),
        ``w1`` (D, H), ``w2`` (H, D).
    n_head : int
        Number of heads, a divisor of D.

    Returns
    -------
    out : ndarray of the dtype and shape of `x`

    Raises
    ------
    TypeError, ValueError
        If a parameter is missing, or an argument has another type, dtype, rank or shape.

    References
    ----------
    .. [1] Radford et al., "Language Models are Unsupervised Multitask Learners", 2019.
    """
    x = _sequence(_BLOCK, x)
    missing = [name for name in PARAMETERS if name not in params]
    if missing:
        raise ValueError(f"{_BLOCK}: params must hold {missing[0]}; it has {sorted(params)}.")
    features, inner = x.shape[-1], np.shape(params["w1"])[-1]
    w1 = _matrix(_BLOCK, "w1", params["w1"], (features, inner), x)
    w2 = _matrix(_BLOCK, "w2", params["w2"], (inner, features), x)
    normed, _ = layernorm_forward(x, params["gamma1"], params["beta1"])
    x = x + causal_attention(normed, params["w_qkv"], params["w_out"], n_head)
    normed, _ = layernorm_forward(x, params["gamma2"], params["beta2"])
    out: NDArray[Any] = x + gelu_forward(normed @ w1)[0] @ w2
    return out


def _sequence(call: str, x: Any) -> NDArray[Any]:
    x = validate.float_array(call, "x", x, 3)
    if 0 in x.shape:
        raise ValueError(f"{call}: x must have shape (B, T, D) without a 0; got {x.shape}.")
    return x


def _heads(call: str, value: Any, features: int) -> int:
    n_head = validate.whole_number(call, "n_head", value)
    if features % n_head:
        raise ValueError(f"{call}: n_head must divide D = {features}; got {n_head}.")
    return n_head


def _matrix(
    call: str, name: str, value: Any, shape: tuple[int, int], x: NDArray[Any]
) -> NDArray[Any]:
    value = validate.float_array(call, name, value, 2)
    if value.shape != shape:
        raise ValueError(f"{call}: {name} must have shape {shape}; got {value.shape}.")
    validate.same_dtype(call, name, value, "x", x)
    return value


@by_parts
def _add_rows(first, end, ids, tokens, positions, x):  # type: ignore[no-untyped-def]
    for b in range(first, end):
        for t in range(ids.shape[1]):
            row = ids[b, t]
            for d in range(tokens.shape[1]):
                x[b, t, d] = tokens[row, d] + positions[t, d]


@by_parts
def _gather(first, end, qkv, n_head, out):  # type: ignore[no-untyped-def]
    length, features = out.shape[1:]
    size = features // n_head
    scale = 1.0 / math.sqrt(size)
    weights = np.empty(length)
    for b in range(first, end):
        for place in range(n_head * length):
            head, i = place // length * size, place % length
            # Only what may be seen is computed: there is nothing to mask.
            largest = -np.inf
            for j in range(i + 1):
                score = 0.0
                for d in range(head, head + size):
                    score += np.float64(qkv[b, i, d]) * np.float64(qkv[b, j, features + d])
                weights[j] = score * scale
                largest = max(largest, weights[j])
            total = 0.0
            for j in range(i + 1):
                weights[j] = math.exp(weights[j] - largest)
                total += weights[j]
            for d in range(head, head + size):
                value = 0.0
                for j in range(i + 1):
                    value += weights[j] * np.float64(qkv[b, j, 2 * features + d])
                out[b, i, d] = value / total
