"""Known wrong causal attentions (ids TG70 to TG97)."""

from __future__ import annotations

import numpy as np

from autograder.mistakes.registry import Family

attention = Family("causal_attention")


def softmax(scores, axis=-1):
    weights = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return weights / weights.sum(axis=axis, keepdims=True)


def split(part, n_head):
    batch, length, features = part.shape
    return part.reshape(batch, length, n_head, features // n_head).transpose(0, 2, 1, 3)


def merge(heads):
    batch, n_head, length, size = heads.shape
    return heads.transpose(0, 2, 1, 3).reshape(batch, length, n_head * size)


def parts(x, w_qkv):
    return np.split(x @ w_qkv, 3, axis=-1)


def root(q):
    return np.sqrt(q.shape[-1])


def hide(scores, value=-np.inf):
    return np.where(np.tri(scores.shape[-1], dtype=bool), scores, value)


def masked(scores):
    return softmax(hide(scores))


def attend(
    weigh=masked, scale=root, split=split, merge=merge, parts=parts, project=np.matmul,
    cross=lambda q, k: q @ k.swapaxes(-1, -2),
):  # fmt: skip
    """Attend with one step of the procedure exchanged."""

    def formula(x, w_qkv, w_out, n_head):
        q, k, v = (split(part, n_head) for part in parts(x, w_qkv))
        return project(merge(weigh(cross(q, k) / scale(q)) @ v), w_out)

    return formula


right = attend()


def _rule(id, name, sentence, **steps):
    attention(id, name, sentence)(attend(**steps))


def _transposed_mask(scores):
    length = scores.shape[-1]
    return softmax(np.where(np.triu(np.ones((length, length), bool)), scores, -np.inf))


def _after(scores):
    return np.where(np.tri(scores.shape[-1], dtype=bool), softmax(scores), 0)


def _strictly(scores):
    length = scores.shape[-1]
    before = np.tri(length, k=-1, dtype=bool)
    before[0, 0] = True
    return softmax(np.where(before, scores, -np.inf))


def _ahead(scores):
    return softmax(np.where(np.tri(scores.shape[-1], k=1, dtype=bool), scores, -np.inf))


def _overflowing(scores):
    weights = np.exp(hide(scores))
    return weights / weights.sum(axis=-1, keepdims=True)


def _over_everything(scores):
    weights = np.exp(hide(scores) - hide(scores).max())
    return weights / weights.sum()


def _over_heads(scores):
    return softmax(hide(scores, -1e9), axis=1)


def _reshaped(part, n_head):
    batch, length, features = part.shape
    return part.reshape(batch, n_head, length, features // n_head)


def _reshaped_back(heads):
    batch, n_head, length, size = heads.shape
    return heads.reshape(batch, length, n_head * size)


def _interleaved(part, n_head):
    batch, length, features = part.shape
    return part.reshape(batch, length, features // n_head, n_head).transpose(0, 3, 1, 2)


def _head_by_head(x, w_qkv):
    # Features 0, 3, 6, ... for the queries.
    together = x @ w_qkv
    return together[..., 0::3], together[..., 1::3], together[..., 2::3]


def _in_order(*order):
    def parts(x, w_qkv):
        three = np.split(x @ w_qkv, 3, axis=-1)
        return tuple(three[i] for i in order)

    return parts


_rule(
    "TG70", "mask missing",
    "Your positions see what comes after them, the token to be predicted included. Hide the "
    "scores with j > i before the softmax.",
    weigh=softmax,
)  # fmt: skip
_rule(
    "TG71", "upper triangle kept",
    "You kept the scores of later positions and hid the earlier ones. Row i keeps the columns "
    "j <= i, the lower triangle.",
    weigh=_transposed_mask,
)  # fmt: skip
_rule(
    "TG72", "masked after the softmax",
    "You set the forbidden weights to 0 after the softmax, so the rest of a row no longer adds up "
    "to 1. Hide the scores before it.",
    weigh=_after,
)  # fmt: skip
_rule(
    "TG73", "masked with 0",
    "You set the forbidden scores to 0, whose exponential is 1. They need minus infinity, whose "
    "exponential is 0.",
    weigh=lambda scores: softmax(hide(scores, 0.0)),
)  # fmt: skip
_rule(
    "TG74", "future hidden too weakly",
    "You set the forbidden scores to a number that is not low enough: the future still has some "
    "weight. They need minus infinity, or -1e9.",
    weigh=lambda scores: softmax(hide(scores, -3.0)),
)  # fmt: skip
_rule(
    "TG75", "own position hidden",
    "You hid the diagonal too. A position may look at itself: j <= i.",
    weigh=_strictly,
)  # fmt: skip
_rule(
    "TG76", "one position too many",
    "Each of your positions sees the next one, which it has to predict. Allow j <= i.",
    weigh=_ahead,
)  # fmt: skip
_rule(
    "TG77", "softmax over the queries",
    "Your softmax runs over the queries. Each row, one query, must have weights that add up to 1 "
    "over the keys: the last axis.",
    weigh=lambda scores: softmax(hide(scores), axis=-2),
)  # fmt: skip
_rule(
    "TG78", "softmax over everything",
    "You divided by the sum over all scores. Every row has a softmax of its own.",
    weigh=_over_everything,
)  # fmt: skip
_rule(
    "TG79", "softmax over the heads",
    "Your softmax runs over the heads. It runs over the keys, the last axis.",
    weigh=_over_heads,
)  # fmt: skip
_rule(
    "TG80", "exponentials overflow",
    "Your exponentials overflow for large scores. Subtract the largest of each row first.",
    weigh=_overflowing,
)  # fmt: skip
_rule(
    "TG81", "no softmax",
    "You used the scores themselves as weights. The softmax makes them positive and lets them add "
    "up to 1.",
    weigh=lambda scores: hide(scores, 0.0),
)  # fmt: skip
_rule(
    "TG82", "scale missing",
    "You did not divide the scores by sqrt(head size). They grow with the size of a head, and the "
    "softmax then looks at one position only.",
    scale=lambda q: 1.0,
)  # fmt: skip
_rule(
    "TG83", "divided by the head size",
    "You divided the scores by the head size. It is the root of it: a sum of h products has a "
    "spread of sqrt(h).",
    scale=lambda q: q.shape[-1],
)  # fmt: skip
_rule(
    "TG84", "divided by sqrt(D)",
    "You divided the scores by sqrt(D), the size of all heads together. Each score is a sum over "
    "one head: use the root of D / n_head.",
    scale=lambda q: np.sqrt(q.shape[-1] * q.shape[1]),
)  # fmt: skip
_rule(
    "TG85", "multiplied by sqrt(head size)",
    "You multiplied the scores by sqrt(head size). Divide by it.",
    scale=lambda q: 1 / root(q),
)  # fmt: skip
_rule(
    "TG86", "heads split by reshape alone",
    "You reshaped (B, T, D) to (B, n_head, T, h) directly, which mixes positions and features. "
    "Reshape to (B, T, n_head, h), then exchange the two axes in the middle.",
    split=_reshaped, merge=_reshaped_back,
)  # fmt: skip
_rule(
    "TG87", "heads not brought back",
    "You joined the heads with reshape alone. Exchange the axes of head and position back first: "
    "(B, n_head, T, h) to (B, T, n_head, h) to (B, T, D).",
    merge=_reshaped_back,
)  # fmt: skip
_rule(
    "TG88", "heads interleaved",
    "Your heads take every n_head-th feature. Head 0 takes the first h features, head 1 the next.",
    split=_interleaved, merge=lambda heads: heads.transpose(0, 2, 3, 1).reshape(
        len(heads), heads.shape[2], -1
    ),
)  # fmt: skip
_rule(
    "TG89", "keys and queries exchanged",
    "You took the keys for the queries. w_qkv holds queries first, then keys, then values.",
    parts=_in_order(1, 0, 2),
)  # fmt: skip
_rule(
    "TG90", "keys and values exchanged",
    "You took the values for the keys. w_qkv holds queries first, then keys, then values.",
    parts=_in_order(0, 2, 1),
)  # fmt: skip
_rule(
    "TG91", "queries, keys and values interleaved",
    "You took every third column. The first D columns of w_qkv make the queries, the next D the "
    "keys, the last D the values.",
    parts=_head_by_head,
)  # fmt: skip
_rule(
    "TG92", "output weights left out",
    "You return the heads side by side. They are multiplied by w_out at the end.",
    project=lambda heads, w_out: heads,
)  # fmt: skip
_rule(
    "TG93", "output weights transposed",
    "You multiplied by w_out.T. The output is heads @ w_out.",
    project=lambda heads, w_out: heads @ w_out.T,
)  # fmt: skip


@attention(
    "TG94", "number of heads ignored",
    "Your function has one head whatever n_head says. Each head takes D / n_head features and has "
    "a softmax of its own.",
)  # fmt: skip
def one_head(x, w_qkv, w_out, n_head):
    return right(x, w_qkv, w_out, 1)


@attention(
    "TG95", "residual added inside",
    "You added x to the output. The residual belongs to the block; causal_attention returns what "
    "is added there.",
)  # fmt: skip
def with_residual(x, w_qkv, w_out, n_head):
    return x + right(x, w_qkv, w_out, n_head)


@attention(
    "TG96", "average over the past",
    "Your weights are the same for all earlier positions. They are the softmax of the scores "
    "q @ k.T / sqrt(h).",
)  # fmt: skip
def average(x, w_qkv, w_out, n_head):
    return attend(weigh=lambda scores: masked(0 * scores))(x, w_qkv, w_out, n_head)


@attention(
    "TG97", "x changed in place",
    "Your function changes x. The residual stream still needs it: work on a new array.",
)  # fmt: skip
def in_place(x, w_qkv, w_out, n_head):
    x[...] = right(x, w_qkv, w_out, n_head)
    return x
