"""The next token of a tiny GPT, drawn from its logits."""

import math
from typing import Any

import numpy as np
from layerlab.jit import compiled
from numpy.typing import NDArray

from autograder.kernels import _validate as validate

_NEXT = "next_token(logits, temperature, rng)"


def next_token(logits: NDArray[Any], temperature: float, rng: np.random.Generator) -> int:
    """Draw a token from ``softmax(logits / temperature)``; at temperature 0 take the likeliest.

    Parameters
    ----------
    logits : ndarray of float32 or float64, shape (V,)
        One score for each token.
    temperature : float
        0 or more: below 1 the likely tokens are preferred more, above 1 less.
    rng : numpy.random.Generator
        Where the randomness comes from; not used at temperature 0.

    Returns
    -------
    token : int
        In ``0 .. V - 1``; of equally likely tokens at temperature 0 the first.

    Raises
    ------
    TypeError, ValueError
        If an argument has another type, dtype or rank.
    """
    logits = validate.float_array(_NEXT, "logits", logits, 1)
    if not logits.size:
        raise ValueError(f"{_NEXT}: logits must have at least one entry; got shape (0,).")
    temperature = validate.non_negative(_NEXT, "temperature", temperature)
    rng = validate.generator(_NEXT, rng)
    if temperature == 0:
        return int(np.argmax(logits))
    return int(_inverse(logits, 1.0 / temperature, rng.random()))


@compiled
def _inverse(logits, sharpness, u):  # type: ignore[no-untyped-def]
    """Find the token at which the running sum of probabilities passes u."""
    largest, total = logits.max(), 0.0
    for logit in logits:
        total += math.exp((np.float64(logit) - largest) * sharpness)
    rest = u * total
    for token, logit in enumerate(logits):
        rest -= math.exp((np.float64(logit) - largest) * sharpness)
        if rest < 0:
            return token
    # Rounding can leave a little; the likeliest token is never wrong.
    return logits.argmax()
