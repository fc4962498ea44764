"""A tiny GPT built from Tensors, and the functions it is made of."""

from collections.abc import Callable
from typing import Any

import numpy as np
from tinygpt_tensor import Tensor


def with_gradient(
    forward: Callable[..., tuple[Any, Any]], backward: Callable[..., np.ndarray], x: Tensor,
    *others: Any,
) -> Tensor:  # fmt: skip
    """Use a forward and a backward pass on arrays as one operation on a Tensor.

    Parameters
    ----------
    forward : function
        ``forward(x, *others) -> out, cache`` on arrays, as in the exercises.
    backward : function
        ``backward(dout, cache) -> dx``; or ``backward(cache) -> dx`` if `forward` gives a single
        number, a loss.
    x : Tensor
        What is differentiated.
    *others
        Further arguments of `forward`, passed as they are.
    """
    out, cache = forward(x.data, *others)
    out = np.asarray(out, x.data.dtype)

    def closure(dout: np.ndarray) -> tuple[np.ndarray]:
        return (dout * backward(cache) if out.ndim == 0 else backward(dout, cache),)

    return Tensor(out, (x,), closure)


def gelu(x: Tensor) -> Tensor:
    """Compute GELU in its tanh form, ``x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x**3)))``."""
    # The cube as a product: a power of floats is slow.
    inner = (x + x * x * x * 0.044715) * np.sqrt(2 / np.pi)
    return x * 0.5 * (inner.tanh() + 1)


def layernorm(x: Tensor, gamma: Tensor, beta: Tensor, eps: float = 1e-5) -> Tensor:
    """Normalize over the last axis, then scale by `gamma` and shift by `beta`."""
    centred = x - x.mean(-1, keepdims=True)
    variance = (centred * centred).mean(-1, keepdims=True)
    return centred * (variance + eps) ** -0.5 * gamma + beta


def cross_entropy(logits: Tensor, targets: np.ndarray) -> Tensor:
    """Average ``log(sum(exp(logits))) - logits[target]`` over all positions."""
    rows = logits.reshape(-1, logits.shape[-1])
    # Subtracting the largest logit changes nothing but keeps exp from overflowing.
    rows = rows - rows.data.max(-1, keepdims=True)
    picked = rows[np.arange(len(rows.data)), targets.reshape(-1)]
    return (rows.exp().sum(-1).log() - picked).mean()


def attention(x: Tensor, qkv: Tensor, heads: int) -> Tensor:
    """Let each position look at itself and at those before it.

    Parameters
    ----------
    x : Tensor, shape (B, T, D)
        What gives the result its shape.
    qkv : Tensor, shape (B, T, 3 * D)
        Queries, keys and values side by side; head h has the columns h * D/heads and on of each.
    heads : int
        Number of heads, which divides D.

    Returns
    -------
    Tensor, shape (B, T, D)
        The values, weighted, those of all heads side by side.
    """
    batch, length, width = x.shape
    size = width // heads
    q, k, v = (
        qkv[..., i * width : (i + 1) * width].reshape(batch, length, heads, size)
        .transpose(0, 2, 1, 3) for i in range(3)
    )  # fmt: skip
    scores = q @ k.transpose(0, 1, 3, 2) * size**-0.5
    future = ~np.tri(length, dtype=bool)
    mixed = scores.masked_fill(future, -np.inf).softmax() @ v
    return mixed.transpose(0, 2, 1, 3).reshape(batch, length, width)


def shapes(vocabulary: int, context: int, width: int, blocks: int) -> dict[str, tuple[int, ...]]:
    """List the parameters of a tiny GPT: names, in the order of use, and shapes."""
    found: dict[str, tuple[int, ...]] = {"tokens": (vocabulary, width)}
    found["positions"] = (context, width)
    for i in range(blocks):
        block = {
            "gamma1": (width,), "beta1": (width,),
            "w_qkv": (width, 3 * width), "b_qkv": (3 * width,),
            "w_out": (width, width), "b_out": (width,),
            "gamma2": (width,), "beta2": (width,),
            "w1": (width, 4 * width), "b1": (4 * width,),
            "w2": (4 * width, width), "b2": (width,),
        }  # fmt: skip
        found |= {f"block{i}.{name}": shape for name, shape in block.items()}
    found |= {"gamma": (width,), "beta": (width,)}
    return found | {"w_head": (width, vocabulary), "b_head": (vocabulary,)}


def initial(name: str, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """Draw a parameter: He's start for matrices, 0.1 for tables, gains of 1, the rest 0."""
    if len(shape) == 2:
        is_table = name in ("tokens", "positions")
        return rng.normal(0, 0.1 if is_table else np.sqrt(2 / shape[0]), shape)
    return np.full(shape, 1.0 if "gamma" in name else 0.0)


class TinyGPT:
    """A language model of characters: embeddings, pre-norm blocks, a last norm, an output layer.

    Parameters
    ----------
    vocabulary : int
        Number of different characters.
    rng : numpy.random.Generator
        Source of the initial weights.
    context, width, heads, blocks : int
        Longest input, features of a position, heads of each attention, and number of blocks.
    biased : bool
        Whether the linear layers have biases.
    dtype : dtype
        float32 to be fast, float64 to check gradients.

    Attributes
    ----------
    params : dict of str to Tensor
        Every parameter by its name in `shapes`.
    gelu : function
        From Tensor to Tensor; put two passes of your own in its place with `with_gradient`.
    """

    def __init__(
        self, vocabulary: int, rng: np.random.Generator, context: int = 32, width: int = 64,
        heads: int = 2, blocks: int = 2, biased: bool = True, dtype: Any = np.float32,
    ) -> None:  # fmt: skip
        if width % heads:
            raise ValueError(
                f"TinyGPT(width={width}, heads={heads}): the width must be a multiple of the "
                "number of heads."
            )
        self.context, self.heads, self.blocks, self.gelu = context, heads, blocks, gelu
        self.params = {
            name: Tensor(initial(name, shape, rng).astype(dtype))
            for name, shape in shapes(vocabulary, context, width, blocks).items()
            if biased or not name.rpartition(".")[2].startswith(("b_", "b1", "b2"))
        }

    def block(self, i: int) -> dict[str, np.ndarray]:
        """Give the parameters of block i as arrays, by their names within the block."""
        start = f"block{i}."
        return {
            name.removeprefix(start): parameter.data
            for name, parameter in self.params.items() if name.startswith(start)
        }  # fmt: skip

    def __call__(self, ids: np.ndarray) -> Tensor:
        """Give the logits of the next character, shape (B, T, vocabulary), for ids (B, T).

        Raises
        ------
        ValueError
            If `ids` is no (B, T) or longer than the context.
        """
        if ids.ndim != 2 or ids.shape[1] > self.context:
            raise ValueError(
                f"TinyGPT(ids): ids must have shape (B, T) with T <= {self.context}; "
                f"got {ids.shape}."
            )
        params = self.params
        x = params["tokens"][ids] + params["positions"][: ids.shape[1]]
        for i in range(self.blocks):
            x = self._block(x, f"block{i}.")
        return self._linear(layernorm(x, params["gamma"], params["beta"]), "w_head", "b_head")

    def _block(self, x: Tensor, at: str) -> Tensor:
        params = self.params
        normed = layernorm(x, params[at + "gamma1"], params[at + "beta1"])
        mixed = attention(normed, self._linear(normed, at + "w_qkv", at + "b_qkv"), self.heads)
        x = x + self._linear(mixed, at + "w_out", at + "b_out")
        normed = layernorm(x, params[at + "gamma2"], params[at + "beta2"])
        hidden = self.gelu(self._linear(normed, at + "w1", at + "b1"))
        return x + self._linear(hidden, at + "w2", at + "b2")

    def _linear(self, x: Tensor, w: str, b: str) -> Tensor:
        out = x @ self.params[w]
        return out + self.params[b] if b in self.params else out
