"""The tiny GPT in PyTorch, operation by operation as a user writes it."""

import numpy as np
import torch
from layerlab.tinygpt import Configuration, Parameters
from torch.nn import functional


def step(config: Configuration):
    """Give a function for a training step, from the start that our models have, too."""
    torch.set_num_threads(1)
    views = Parameters.drawn(config).views
    params = {name: torch.tensor(view, requires_grad=True) for name, view in views.items()}
    groups = [
        {"params": [p for p in params.values() if p.ndim >= 2], "weight_decay": config.decay},
        {"params": [p for p in params.values() if p.ndim < 2], "weight_decay": 0.0},
    ]
    optimizer = torch.optim.AdamW(
        groups, lr=config.peak, betas=(config.beta1, config.beta2), eps=config.eps
    )

    def run(inputs: np.ndarray, targets: np.ndarray, t: int, rate: float) -> float:
        for group in optimizer.param_groups:
            group["lr"] = rate
        logits = forward(params, torch.from_numpy(inputs), config)
        wanted = torch.from_numpy(targets).reshape(-1)
        loss = functional.cross_entropy(logits.reshape(-1, config.vocabulary), wanted)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(params.values(), config.clip)
        optimizer.step()
        return loss.item()

    return run


def forward(params, ids, config):
    """Give the logits; LayerNorm, attention and GELU are PyTorch's own fast ones."""
    batch, length, width = *ids.shape, config.width
    x = functional.embedding(ids, params["tokens"]) + params["positions"]
    for i in range(config.blocks):
        p = {name.split(".")[1]: value for name, value in params.items()
             if name.startswith(f"block{i}.")}  # fmt: skip
        normed = functional.layer_norm(x, (width,), p["gamma1"], p["beta1"])
        qkv = (normed @ p["w_qkv"] + p["b_qkv"]).view(batch, length, 3, config.heads, -1)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + mixed.transpose(1, 2).reshape(batch, length, width) @ p["w_out"] + p["b_out"]
        normed = functional.layer_norm(x, (width,), p["gamma2"], p["beta2"])
        hidden = functional.gelu(normed @ p["w1"] + p["b1"], approximate="tanh")
        x = x + hidden @ p["w2"] + p["b2"]
    normed = functional.layer_norm(x, (width,), params["gamma"], params["beta"])
    return normed @ params["w_head"] + params["b_head"]
