"""How well the next character can be guessed by counting."""

import numpy as np
from numpy.typing import NDArray

from layerlab.corpus import CharacterData

Ints = NDArray[np.int64]
# Part of the training text that finds the weights of the mixture; counted is the rest.
_HELD_OUT = 0.1


def baselines(data: CharacterData) -> dict[str, float]:
    """Measure guesses that look at 0, 1 or 2 characters, on the test part.

    Each mixes the frequencies of all shorter contexts with the uniform guess, so that nothing is
    impossible: ``p = sum_k weight_k * p_k``. The weights are those that suit a held-out tenth of
    the training part best.

    Parameters
    ----------
    data : CharacterData
        The text.

    Returns
    -------
    dict of str to float
        Mean cross-entropy of ``uniform``, ``unigram``, ``bigram`` and ``trigram``.
    """
    cut = int(len(data.train) * (1 - _HELD_OUT))
    counted, held_out = data.train[:cut], data.train[cut:]
    found = {"uniform": float(np.log(data.size))}
    for order, name in enumerate(("unigram", "bigram", "trigram"), start=1):
        weights = _fit(_guesses(counted, held_out, order, data.size))
        # With the weights found, everything is counted.
        guesses = _guesses(data.train, data.test, order, data.size)
        found[name] = float(-np.log(weights @ guesses).mean())
    return found


def _guesses(counted: Ints, judged: Ints, order: int, size: int) -> NDArray[np.float64]:
    """Give what each context length says of each character that was to come, (order + 1, N)."""
    places = np.arange(order - 1, len(judged))
    rows = [np.full(len(places), 1 / size)]
    for looked_at in range(order):
        counts = np.bincount(_codes(counted, looked_at, size), minlength=size ** (looked_at + 1))
        sums = counts.reshape(-1, size).sum(1).repeat(size)
        codes = _codes(judged, looked_at, size)[places - looked_at]
        # A context that never occurred says nothing: the uniform guess.
        rows.append(np.where(sums[codes], counts[codes] / np.maximum(sums[codes], 1), 1 / size))
    return np.array(rows)


def _codes(ids: Ints, looked_at: int, size: int) -> Ints:
    """Give each stretch of `looked_at` + 1 characters a number."""
    count = len(ids) - looked_at
    return sum(
        (ids[i : i + count] * size ** (looked_at - i) for i in range(looked_at + 1)),
        np.zeros(count, np.int64),
    )


def _fit(guesses: NDArray[np.float64], rounds: int = 30) -> NDArray[np.float64]:
    """Find the weights of the mixture by expectation and maximization."""
    weights = np.full(len(guesses), 1 / len(guesses))
    for _ in range(rounds):
        shares = weights[:, None] * guesses
        weights = (shares / shares.sum(0)).mean(1)
    return weights
