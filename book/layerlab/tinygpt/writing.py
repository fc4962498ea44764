"""Let the tiny GPT write."""

import numpy as np

from layerlab.corpus import CharacterData
from layerlab.tinygpt.plain import PlainGPT


def write(
    model: PlainGPT, data: CharacterData, start: str, length: int, rng: np.random.Generator,
    temperature: float = 0.8,
) -> str:  # fmt: skip
    """Add `length` characters to `start`, each drawn from ``softmax(logits / temperature)``.

    Parameters
    ----------
    model : PlainGPT
        A model of either kind.
    data : CharacterData
        Whose characters it knows.
    start : str
        What to begin with, at least one character.
    length : int
        Number of characters to add.
    rng : numpy.random.Generator
        Source of the draws.
    temperature : float
        Below 1 the model prefers what it finds likely; more than 0.
    """
    if not start or temperature <= 0:
        raise ValueError(
            "write(model, data, start, ..., temperature): start must have a character and the "
            f"temperature must be more than 0; got {start!r} and {temperature}."
        )
    ids = list(data.encode(start))
    for _ in range(length):
        # The compiled model wants whole batches; this pass takes any shape.
        logits = PlainGPT.logits(model, np.array([ids[-data.context :]]))[0, -1]
        powers = np.exp((logits - logits.max()).astype(np.float64) / temperature)
        ids.append(int(rng.choice(len(powers), p=powers / powers.sum())))
    return data.decode(np.array(ids))
