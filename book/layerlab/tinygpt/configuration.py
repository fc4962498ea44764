"""What is trained, and how long."""

import math
from dataclasses import dataclass

NORMS = ("layernorm", "rmsnorm", "none")
EPS = 1e-5


@dataclass(frozen=True)
class Configuration:
    """A tiny GPT and its training; the values given are those of the chapter.

    Attributes
    ----------
    vocabulary : int
        Number of different characters.
    context, stride : int
        Length of a window, and distance between the starts of two.
    batch : int
        Windows in a step.
    width, heads, blocks : int
        Features of a position, heads of each attention, and number of blocks.
    norm : {"layernorm", "rmsnorm", "none"}
        Before each half of a block and before the output layer.
    epochs : int
        How often the model sees each window.
    peak, last : float
        Highest and last learning rate.
    warmup : int
        Steps in which the rate rises to its peak.
    decay, beta1, beta2, eps : float
        Constants of AdamW; matrices and tables decay, vectors do not.
    clip : float
        Largest norm of all gradients together; longer ones are scaled down.
    seed : int
        Of the initial weights.
    """

    vocabulary: int = 65
    context: int = 32
    stride: int = 16
    batch: int = 4
    width: int = 64
    heads: int = 2
    blocks: int = 2
    norm: str = "layernorm"
    epochs: int = 2
    peak: float = 1e-3
    last: float = 1e-4
    warmup: int = 100
    decay: float = 0.01
    beta1: float = 0.9
    beta2: float = 0.999
    eps: float = 1e-8
    clip: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse what no model can be made of."""
        if self.norm not in NORMS:
            raise ValueError(
                f"Configuration(norm={self.norm!r}): norm must be one of {', '.join(NORMS)}."
            )
        if self.width % self.heads:
            raise ValueError(
                f"Configuration(width={self.width}, heads={self.heads}): the width must be a "
                "multiple of the number of heads."
            )

    def rate(self, step: int, steps: int) -> float:
        """Give the learning rate of a step: a line up to `peak`, half a cosine down to `last`."""
        if step < self.warmup:
            return self.peak * (step + 1) / self.warmup
        done = (step - self.warmup) / max(1, steps - self.warmup)
        return self.last + (self.peak - self.last) * (1 + math.cos(math.pi * done)) / 2
