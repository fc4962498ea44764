"""The tiny GPT with compiled loops: few calls per step, no new arrays."""

import math
from types import SimpleNamespace

import numpy as np

from layerlab.tinygpt import loops
from layerlab.tinygpt import loops_attention as wide
from layerlab.tinygpt.configuration import NORMS, Configuration
from layerlab.tinygpt.parameters import Floats, Parameters
from layerlab.tinygpt.plain import Ints, PlainGPT


class FusedGPT(PlainGPT):
    """The same model, parameters and losses as `PlainGPT`, several times as fast.

    Products of matrices stay NumPy's. Everything between two of them is one loop: a bias, GELU and
    its tanh; a bias, the residual stream; scores, softmax and the mixing of values. Batches must
    have the shape (B, T) of the configuration.
    """

    def __init__(self, config: Configuration, params: Parameters) -> None:
        super().__init__(config, params)
        self._norm_kind = NORMS.index(config.norm)
        rows, width = config.batch * config.context, config.width
        self._heads = (3, config.heads, width // config.heads)
        # Stands for parameters that the norm does not have.
        self._none = np.zeros(width, np.float32)
        self._weights = [params.of_block(i) for i in range(config.blocks)]
        self._gradients = [self.grads.of_block(i) for i in range(config.blocks)]
        self._blocks = [_BlockRoom(config) for _ in range(config.blocks)]
        self._x, self._dx, self._rows, self._drows = (_room(rows, width) for _ in range(4))
        self._last = _NormRoom(rows, width)
        self._logits = _room(rows, config.vocabulary)
        self._dwide, self._dqkv = _room(rows, 4 * width), _room(rows, 3 * width)
        self._dbias_head = np.zeros(config.vocabulary, np.float32)

    def loss(self, ids: Ints, targets: Ints) -> float:
        """Give the mean cross-entropy of targets (B, T)."""
        self._fill_logits(ids)
        bias = self.params.views["b_head"]
        return wide.cross_entropy(self._logits, bias, targets, self._dbias_head)

    def loss_and_gradient(self, ids: Ints, targets: Ints) -> float:
        """Give the mean cross-entropy, and write its gradients into `grads`."""
        self._fill_logits(ids)
        views, grads = self.params.views, self.grads.views
        loss = wide.cross_entropy(self._logits, views["b_head"], targets, grads["b_head"])
        np.matmul(self._last.out.T, self._logits, out=grads["w_head"])
        np.matmul(self._logits, views["w_head"].T, out=self._drows)
        before = self._gradients[-1]["b2"]
        self._back_through_norm(self._last, views, grads, "", before, add=False)
        for i in reversed(range(self.config.blocks)):
            # What was added last to the stream before this block; to none before the first.
            before = self._gradients[i - 1]["b2"] if i else np.empty_like(self._none)
            self._block_backward(i, before)
        loops.embed_backward(ids, self._dx, grads["tokens"], grads["positions"])
        return loss

    def step(self, t: int, rate: float) -> None:
        """Take step t = 1, 2, ... of AdamW along the gradients, shortened if they are too long."""
        config, gradient = self.config, self.grads.flat
        length = math.sqrt(np.dot(gradient, gradient))
        shorten = config.clip / length if length > config.clip else 1.0
        numbers = map(np.float32, (
            config.beta1, config.beta2, rate / (1 - config.beta1**t),
            1 / math.sqrt(1 - config.beta2**t), config.eps,
        ))  # fmt: skip
        wide.adamw(
            self.params.flat, gradient, self.first, self.second, np.float32(shorten),
            np.float32(1 - rate * config.decay), self.params.decaying, *numbers,
        )  # fmt: skip

    def _fill_logits(self, ids: Ints) -> None:
        shape = (self.config.batch, self.config.context)
        if ids.shape != shape:
            raise ValueError(
                f"FusedGPT: a batch must have shape (B, T) = {shape}; got {ids.shape}."
            )
        views = self.params.views
        loops.embed(ids, views["tokens"], views["positions"], self._x)
        for weights, room in zip(self._weights, self._blocks):
            self._block_forward(weights, room)
        self._normalize(self._last, views, "")
        np.matmul(self._last.out, views["w_head"], out=self._logits)

    def _block_forward(self, w, room) -> None:  # type: ignore[no-untyped-def]
        self._normalize(room.norm1, w, "1")
        np.matmul(room.norm1.out, w["w_qkv"], out=room.qkv)
        by_head = room.qkv_by_head, w["b_qkv"].reshape(self._heads)
        wide.attention_forward(*by_head, room.weights, room.mixed_by_head)
        np.matmul(room.mixed, w["w_out"], out=self._rows)
        loops.add_rows(self._x, self._rows, w["b_out"])
        self._normalize(room.norm2, w, "2")
        np.matmul(room.norm2.out, w["w1"], out=room.z)
        loops.gelu_forward(room.z, w["b1"], room.hidden, room.tanhs)
        np.matmul(room.hidden, w["w2"], out=self._rows)
        loops.add_rows(self._x, self._rows, w["b2"])

    def _block_backward(self, i: int, before: Floats) -> None:
        w, d, room = self._weights[i], self._gradients[i], self._blocks[i]
        np.matmul(room.hidden.T, self._dx, out=d["w2"])
        np.matmul(self._dx, w["w2"].T, out=self._dwide)
        loops.gelu_backward(self._dwide, room.z, room.tanhs, d["b1"])
        np.matmul(room.norm2.out.T, self._dwide, out=d["w1"])
        np.matmul(self._dwide, w["w1"].T, out=self._drows)
        self._back_through_norm(room.norm2, w, d, "2", d["b_out"])
        np.matmul(room.mixed.T, self._dx, out=d["w_out"])
        np.matmul(self._dx, w["w_out"].T, out=self._drows)
        wide.attention_backward(
            self._drows.reshape(room.mixed_by_head.shape), room.qkv_by_head, room.weights,
            self._dqkv.reshape(room.qkv_by_head.shape), d["b_qkv"].reshape(self._heads),
        )  # fmt: skip
        np.matmul(room.norm1.out.T, self._dqkv, out=d["w_qkv"])
        np.matmul(self._dqkv, w["w_qkv"].T, out=self._drows)
        self._back_through_norm(room.norm1, w, d, "1", before)

    def _normalize(self, room, weights, which: str) -> None:  # type: ignore[no-untyped-def]
        gamma = weights.get(f"gamma{which}", self._none)
        beta = weights.get(f"beta{which}", self._none)
        loops.normalize(self._x, gamma, beta, self._norm_kind, room.out, room.xhat, room.rstds)

    def _back_through_norm(  # type: ignore[no-untyped-def]
        self, room, weights, grads, which: str, dbias: Floats, add: bool = True
    ) -> None:
        gamma = weights.get(f"gamma{which}", self._none)
        dgamma = grads.get(f"gamma{which}", self._none)
        dbeta = grads.get(f"beta{which}", self._none)
        loops.normalize_backward(
            self._drows, room.xhat, room.rstds, gamma, self._norm_kind, add, self._dx,
            dgamma, dbeta, dbias,
        )  # fmt: skip


def _room(*shape: int) -> Floats:
    return np.zeros(shape, np.float32)


class _NormRoom(SimpleNamespace):
    """What a norm leaves for its backward pass."""

    def __init__(self, rows: int, width: int) -> None:
        super().__init__(out=_room(rows, width), xhat=_room(rows, width), rstds=_room(rows))


class _BlockRoom(SimpleNamespace):
    """What a block leaves for its backward pass."""

    def __init__(self, config: Configuration) -> None:
        batch, length, heads, width = config.batch, config.context, config.heads, config.width
        rows, size = batch * length, width // heads
        qkv, mixed = _room(rows, 3 * width), _room(rows, width)
        super().__init__(
            norm1=_NormRoom(rows, width), norm2=_NormRoom(rows, width), qkv=qkv, mixed=mixed,
            qkv_by_head=qkv.reshape(batch, length, 3, heads, size),
            mixed_by_head=mixed.reshape(batch, length, heads, size),
            weights=_room(batch, heads, length, length),
            z=_room(rows, 4 * width), hidden=_room(rows, 4 * width), tanhs=_room(rows, 4 * width),
        )  # fmt: skip
