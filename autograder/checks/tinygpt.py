"""What is asked of the pieces of a tiny GPT."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograder.checks.tinygpt_attention import ATTENTION, EMBED, MASK
from autograder.checks.tinygpt_block import BLOCK, NEXT
from autograder.checks.tinygpt_gelu import GELU, GELU_BACKWARD
from autograder.checks.tinygpt_loss import LOSS, LOSS_BACKWARD

Function = Callable[..., Any]

CHECKS = (
    MASK, GELU, GELU_BACKWARD, LOSS, LOSS_BACKWARD, EMBED, ATTENTION, BLOCK, NEXT
)  # fmt: skip


def check_causal_mask(causal_mask: Function, points: float) -> float:
    """Grade the causal mask.

    Parameters
    ----------
    causal_mask : callable
        ``causal_mask(length) -> mask``.
    points : float
        What a right answer is worth.

    Returns
    -------
    float
        The score, between 0 and `points`.
    """
    return MASK.run((causal_mask,), points)


def check_gelu_forward(gelu_forward: Function, points: float) -> float:
    """Grade GELU's forward pass.

    Parameters
    ----------
    gelu_forward : callable
        ``gelu_forward(x) -> out, cache``.
    points : float
        What a right answer is worth.

    Returns
    -------
    float
        The score, between 0 and `points`.
    """
    return GELU.run((gelu_forward,), points)


def check_gelu_backward(gelu_forward: Function, gelu_backward: Function, points: float) -> float:
    """Grade GELU's backward pass with the cache of the same student's forward pass.

    Parameters
    ----------
    gelu_forward, gelu_backward : callable
        ``gelu_backward(dout, cache) -> dx``.
    points : float
        What a right answer is worth.

    Returns
    -------
    float
        The score, between 0 and `points`.
    """
    return GELU_BACKWARD.run((gelu_forward, gelu_backward), points)


def check_cross_entropy_forward(cross_entropy_forward: Function, points: float) -> float:
    """Grade the softmax cross-entropy.

    Parameters
    ----------
    cross_entropy_forward : callable
        ``cross_entropy_forward(logits, targets) -> loss, cache``.
    points : float
        What a right answer is worth.

    Returns
    -------
    float
        The score, between 0 and `points`.
    """
    return LOSS.run((cross_entropy_forward,), points)


def check_cross_entropy_backward(
    cross_entropy_forward: Function, cross_entropy_backward: Function, points: float
) -> float:
    """Grade the gradient of the cross-entropy with the same student's own cache.

    Parameters
    ----------
    cross_entropy_forward, cross_entropy_backward : callable
        ``cross_entropy_backward(cache) -> dlogits``.
    points : float
        What a right answer is worth.

    Returns
    -------
    float
        The score, between 0 and `points`.
    """
    return LOSS_BACKWARD.run((cross_entropy_forward, cross_entropy_backward), points)


def check_embed_sum(embed_sum: Function, points: float) -> float:
    """Grade the sum of token and position embeddings.

    Parameters
    ----------
    embed_sum : callable
        ``embed_sum(ids, token_table, position_table) -> x``.
    points : float
        What a right answer is worth.

    Returns
    -------
    float
        The score, between 0 and `points`.
    """
    return EMBED.run((embed_sum,), points)


def check_causal_attention(causal_attention: Function, points: float) -> float:
    """Grade causal attention with several heads.

    Parameters
    ----------
    causal_attention : callable
        ``causal_attention(x, w_qkv, w_out, n_head) -> out``.
    points : float
        What a right answer is worth.

    Returns
    -------
    float
        The score, between 0 and `points`.
    """
    return ATTENTION.run((causal_attention,), points)


def check_block_forward(
    causal_attention: Function, gelu_forward: Function, block_forward: Function, points: float
) -> float:
    """Grade a block; the functions that it is made of are called to say which is at fault.

    Parameters
    ----------
    causal_attention, gelu_forward, block_forward : callable
        ``block_forward(x, params, n_head) -> out``.
    points : float
        What a right answer is worth.

    Returns
    -------
    float
        The score, between 0 and `points`.
    """
    return BLOCK.run((causal_attention, gelu_forward, block_forward), points)


def check_next_token(next_token: Function, points: float) -> float:
    """Grade the draw of the next token.

    Parameters
    ----------
    next_token : callable
        ``next_token(logits, temperature, rng) -> token``.
    points : float
        What a right answer is worth.

    Returns
    -------
    float
        The score, between 0 and `points`.
    """
    return NEXT.run((next_token,), points)
