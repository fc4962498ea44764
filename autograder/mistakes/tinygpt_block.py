"""Known wrong blocks of a GPT (ids TG98 to TG119)."""

from __future__ import annotations

import numpy as np

from autograder.mistakes.registry import Family
from autograder.mistakes.tinygpt_attention import right as attention


def _gelu(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def _gelu_forward(x):
    return _gelu(x), None


def _bare(x):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)


def _norm(x, p, which):
    return p[f"gamma{which}"] * _bare(x) + p[f"beta{which}"]


def _attend(x, p, n_head):
    return attention(x, p["w_qkv"], p["w_out"], n_head)


def _feed(x, p, activation=_gelu):
    return activation(x @ p["w1"]) @ p["w2"]


block = Family("block_forward", partners=(attention, _gelu_forward))


@block(
    "TG98", "norms after the residual",
    "You normalized after each sum, as the transformer of 2017 did. Here the norms stand in front: "
    "the branch sees norm(x), and x itself stays untouched.",
)  # fmt: skip
def post_norm(x, p, n_head):
    x = _norm(x + _attend(x, p, n_head), p, 1)
    return _norm(x + _feed(x, p), p, 2)


@block(
    "TG99", "first residual missing",
    "You replaced x by the output of attention. It is added: x + attention(norm(x)).",
)  # fmt: skip
def no_first_residual(x, p, n_head):
    x = _attend(_norm(x, p, 1), p, n_head)
    return x + _feed(_norm(x, p, 2), p)


@block(
    "TG100", "second residual missing",
    "You return the feed-forward branch alone. It is added to what attention left.",
)  # fmt: skip
def no_second_residual(x, p, n_head):
    x = x + _attend(_norm(x, p, 1), p, n_head)
    return _feed(_norm(x, p, 2), p)


@block(
    "TG101", "both residuals missing",
    "Your block has no residual at all. Both branches are added to x.",
)  # fmt: skip
def no_residual(x, p, n_head):
    return _feed(_norm(_attend(_norm(x, p, 1), p, n_head), p, 2), p)


@block(
    "TG102", "residual from the normalized input",
    "You added the branches to norm(x). The residual stream itself is never normalized inside a "
    "block: x + branch(norm(x)).",
)  # fmt: skip
def normalized_residual(x, p, n_head):
    first = _norm(x, p, 1)
    second = _norm(first + _attend(first, p, n_head), p, 2)
    return second + _feed(second, p)


@block(
    "TG103", "norms missing",
    "Your branches see x as it is. Each begins with its norm.",
)  # fmt: skip
def no_norms(x, p, n_head):
    x = x + _attend(x, p, n_head)
    return x + _feed(x, p)


@block(
    "TG104", "first norm missing",
    "Attention sees x as it is. It gets layernorm(x, gamma1, beta1).",
)  # fmt: skip
def no_first_norm(x, p, n_head):
    x = x + _attend(x, p, n_head)
    return x + _feed(_norm(x, p, 2), p)


@block(
    "TG105", "second norm missing",
    "The feed-forward branch sees x as it is. It gets layernorm(x, gamma2, beta2).",
)  # fmt: skip
def no_second_norm(x, p, n_head):
    x = x + _attend(_norm(x, p, 1), p, n_head)
    return x + _feed(x, p)


@block(
    "TG106", "first norm used twice",
    "You used gamma1 and beta1 for both norms. The second has parameters of its own.",
)  # fmt: skip
def same_norm(x, p, n_head):
    x = x + _attend(_norm(x, p, 1), p, n_head)
    return x + _feed(_norm(x, p, 1), p)


@block(
    "TG107", "norms exchanged",
    "You used the second norm in front of attention and the first in front of the feed-forward "
    "branch.",
)  # fmt: skip
def norms_exchanged(x, p, n_head):
    x = x + _attend(_norm(x, p, 2), p, n_head)
    return x + _feed(_norm(x, p, 1), p)


@block(
    "TG108", "gains and shifts left out",
    "Your norms have no gamma and beta. layernorm takes both.",
)  # fmt: skip
def bare_norms(x, p, n_head):
    x = x + _attend(_bare(x), p, n_head)
    return x + _feed(_bare(x), p)


@block(
    "TG109", "branches side by side",
    "Both of your branches start from the same x. The second starts from what the first has "
    "added to.",
)  # fmt: skip
def parallel(x, p, n_head):
    return x + _attend(_norm(x, p, 1), p, n_head) + _feed(_norm(x, p, 2), p)


@block(
    "TG110", "first residual forgotten at the end",
    "You added the feed-forward branch to the x from before attention. Add it to the sum that "
    "attention left.",
)  # fmt: skip
def old_stream(x, p, n_head):
    middle = x + _attend(_norm(x, p, 1), p, n_head)
    return x + _feed(_norm(middle, p, 2), p)


@block(
    "TG111", "feed-forward branch first",
    "Your block starts with the feed-forward branch. Attention comes first.",
)  # fmt: skip
def feed_first(x, p, n_head):
    x = x + _feed(_norm(x, p, 2), p)
    return x + _attend(_norm(x, p, 1), p, n_head)


@block(
    "TG112", "ReLU instead of GELU",
    "Your feed-forward branch uses ReLU. It uses GELU.",
)  # fmt: skip
def with_relu(x, p, n_head):
    x = x + _attend(_norm(x, p, 1), p, n_head)
    return x + _feed(_norm(x, p, 2), p, lambda h: np.maximum(h, 0))


@block(
    "TG113", "GELU missing",
    "Nothing stands between w1 and w2, so the two matrices are one. Put GELU between them.",
)  # fmt: skip
def linear(x, p, n_head):
    x = x + _attend(_norm(x, p, 1), p, n_head)
    return x + _feed(_norm(x, p, 2), p, lambda h: h)


@block(
    "TG114", "GELU at the end of the branch",
    "You applied GELU behind w2. It stands between w1 and w2.",
)  # fmt: skip
def late_gelu(x, p, n_head):
    x = x + _attend(_norm(x, p, 1), p, n_head)
    return x + _gelu(_feed(_norm(x, p, 2), p, lambda h: h))


@block(
    "TG115", "feed-forward matrices exchanged",
    "You multiplied by the transposes of w2 and w1. The branch is gelu(x @ w1) @ w2.",
)  # fmt: skip
def transposed(x, p, n_head):
    x = x + _attend(_norm(x, p, 1), p, n_head)
    return x + _gelu(_norm(x, p, 2) @ p["w2"].T) @ p["w1"].T


@block(
    "TG116", "norm behind each branch",
    "You normalized what the branches return. The norm stands in front of the branch.",
)  # fmt: skip
def norm_behind(x, p, n_head):
    x = x + _norm(_attend(x, p, n_head), p, 1)
    return x + _norm(_feed(x, p), p, 2)


@block(
    "TG117", "x changed in place",
    "Your block changes the array that it was given. x += ... writes into it; x = x + ... makes a "
    "new one.",
)  # fmt: skip
def in_place(x, p, n_head):
    x += _attend(_norm(x, p, 1), p, n_head)
    x += _feed(_norm(x, p, 2), p)
    return x


@block(
    "TG118", "one head whatever n_head says",
    "Your block does not pass n_head on to the attention.",
)  # fmt: skip
def one_head(x, p, n_head):
    x = x + _attend(_norm(x, p, 1), p, 1)
    return x + _feed(_norm(x, p, 2), p)


@block(
    "TG119", "feed-forward branch missing",
    "Your block ends after attention. The feed-forward branch with its own norm follows.",
)  # fmt: skip
def attention_only(x, p, n_head):
    return x + _attend(_norm(x, p, 1), p, n_head)
