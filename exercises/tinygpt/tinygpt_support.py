"""Train the tiny GPT, measure it, and let it write.

`tinygpt_tensor` differentiates, `tinygpt_model` holds the model, and `layerlab.corpus` the text;
what a notebook needs of them can be imported from here.
"""

import math
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from layerlab.corpus import CharacterData, Corpus, corpus
from tinygpt_model import TinyGPT, attention, cross_entropy, gelu, layernorm, with_gradient
from tinygpt_tensor import Tensor

__all__ = [
    "AdamW", "CharacterData", "Corpus", "Tensor", "TinyGPT", "attention", "corpus",
    "cross_entropy", "evaluate", "gelu", "generate", "layernorm", "scheduled_rate", "train",
    "with_gradient",
]  # fmt: skip

Loss = Callable[[Tensor, np.ndarray], Tensor]
Pick = Callable[[np.ndarray, float, np.random.Generator], int]


class AdamW:
    """Adam with decoupled weight decay, for parameters with a gradient.

    ``w <- w - rate * (m_hat / (sqrt(v_hat) + eps) + decay * w)``, where m and v are running means
    of the gradient and its square, ``m_hat = m / (1 - beta1**t)`` and v_hat likewise. Only arrays
    with two or more axes decay.

    Parameters
    ----------
    params : dict of str to Tensor
        What to train; changed in place.
    decay, beta1, beta2, eps : float
        The constants of the formula.
    """

    def __init__(
        self, params: Mapping[str, Tensor], decay: float = 0.01,
        beta1: float = 0.9, beta2: float = 0.999, eps: float = 1e-8,
    ) -> None:  # fmt: skip
        self.params = list(params.values())
        self.decay, self.beta1, self.beta2, self.eps = decay, beta1, beta2, eps
        self.m = [np.zeros_like(tensor.data) for tensor in self.params]
        self.v = [np.zeros_like(tensor.data) for tensor in self.params]
        self.t = 0

    def step(self, rate: float) -> None:
        """Move the parameters by one step, and forget their gradients."""
        self.t += 1
        for tensor, m, v in zip(self.params, self.m, self.v):
            gradient, tensor.grad = tensor.grad, None
            m += (1 - self.beta1) * (gradient - m)
            v += (1 - self.beta2) * (gradient * gradient - v)
            mean, square = m / (1 - self.beta1**self.t), v / (1 - self.beta2**self.t)
            decay = self.decay if tensor.data.ndim >= 2 else 0.0
            tensor.data -= rate * (mean / (np.sqrt(square) + self.eps) + decay * tensor.data)


def scheduled_rate(
    step: int, steps: int, peak: float = 1e-3, warmup: int = 100, last: float = 1e-4
) -> float:
    """Give the learning rate of step 0, 1, ..., steps - 1.

    It rises evenly to `peak` during the first `warmup` steps, then falls along half a cosine to
    `last`.
    """
    if step < warmup:
        return peak * (step + 1) / warmup
    done = (step - warmup) / max(1, steps - warmup)
    return last + (peak - last) * (1 + math.cos(math.pi * done)) / 2


def clip(params: Mapping[str, Tensor], largest: float = 1.0) -> None:
    """Scale all gradients down together, if their common norm exceeds `largest`."""
    norm = np.sqrt(sum(float(np.vdot(t.grad, t.grad)) for t in params.values()))
    for tensor in params.values() if norm > largest else ():
        tensor.grad = tensor.grad * np.asarray(largest / norm, tensor.data.dtype)


def train(
    model: TinyGPT, data: CharacterData, steps: int, batch: int = 4, peak: float = 1e-3,
    loss: Loss = cross_entropy, rng: np.random.Generator | None = None, reports: int = 10,
) -> list[float]:  # fmt: skip
    """Train the model, and say from time to time how it goes.

    Parameters
    ----------
    model : TinyGPT
        The model; changed in place.
    data : CharacterData
        The text. When its windows are used up, they come again.
    steps, batch : int
        Number of steps, and of windows in each.
    peak : float
        Highest learning rate; see `scheduled_rate`.
    loss : function
        From logits and targets to a Tensor with a single number.
    rng : numpy.random.Generator, optional
        Shuffles the windows; without it they come in the order of the text.
    reports : int
        Number of lines to print.

    Returns
    -------
    list of float
        The loss of every step.

    Raises
    ------
    FloatingPointError
        If a loss is not finite.
    """
    optimizer, losses, start = AdamW(model.params), [], time.monotonic()
    batches = iter(())
    for step in range(steps):
        if (pair := next(batches, None)) is None:
            batches = data.batches(data.train, batch, rng)
            pair = next(batches)
        value = loss(model(pair[0]), pair[1])
        if not np.isfinite(value.data):
            raise FloatingPointError(
                f"train: the loss of step {step} is {value.data}; try a smaller peak than {peak}."
            )
        value.backward()
        clip(model.params)
        optimizer.step(scheduled_rate(step, steps, peak))
        losses.append(float(value.data))
        if reports and (step + 1) % max(1, steps // reports) == 0:
            _report(losses, steps, time.monotonic() - start)
    return losses


def _report(losses: list[float], steps: int, seconds: float) -> None:
    done = len(losses)
    left = seconds / done * (steps - done)
    recent = np.mean(losses[-max(1, steps // 10) :])
    print(f"step {done} of {steps}: loss {recent:.3f}, about {left:.0f} s left")


def evaluate(model: TinyGPT, data: CharacterData, batch: int = 4, most: int | None = None) -> float:
    """Average the cross-entropy over the test part, or over its first `most` batches."""
    losses = []
    for number, (inputs, targets) in enumerate(data.batches(data.test, batch)):
        if most is not None and number >= most:
            break
        losses.append(float(cross_entropy(model(inputs), targets).data))
    return float(np.mean(losses))


def sample(logits: np.ndarray, temperature: float, rng: np.random.Generator) -> int:
    """Draw a character from ``softmax(logits / temperature)``."""
    scaled = (logits - logits.max()).astype(float) / temperature
    powers = np.exp(scaled)
    return int(rng.choice(len(powers), p=powers / powers.sum()))


def generate(
    model: Callable[[np.ndarray], Any], data: CharacterData, start: str, length: int,
    rng: np.random.Generator, temperature: float = 1.0, pick: Pick = sample,
) -> str:  # fmt: skip
    """Write `length` characters after `start`, one after the other.

    Parameters
    ----------
    model : function
        From ids of shape (1, T) to logits of shape (1, T, vocabulary), a Tensor or an array.
    data : CharacterData
        Whose characters the model knows, and how many of them it can look at.
    start : str
        What to begin with, at least one character.
    length : int
        Number of characters to add.
    rng : numpy.random.Generator
        Source of the draws.
    temperature : float
        Below 1 the model prefers what it finds likely, above 1 it dares more.
    pick : function
        ``pick(logits, temperature, rng)`` chooses the next character from logits (vocabulary,).
    """
    if not start:
        raise ValueError("generate(start=''): start must have at least one character.")
    ids = list(data.encode(start))
    for _ in range(length):
        logits = model(np.array([ids[-data.context :]]))
        values = logits.data if isinstance(logits, Tensor) else logits
        ids.append(pick(values[0, -1], temperature, rng))
    return data.decode(np.array(ids))
