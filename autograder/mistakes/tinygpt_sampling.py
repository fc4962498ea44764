"""Known wrong draws of the next token (ids TG120 to TG132, TG138, TG139)."""

from __future__ import annotations

import numpy as np

from autograder.mistakes.registry import Family

token = Family("next_token")


def _softmax(logits):
    weights = np.exp(logits - logits.max())
    return weights / weights.sum()


def _draw(p, rng):
    return int(np.searchsorted(np.cumsum(p), rng.random() * p.sum(), side="right"))


@token(
    "TG120", "always the likeliest",
    "You always take the likeliest token. Only at temperature 0 is that right; above it, draw from "
    "the softmax.",
)  # fmt: skip
def argmax(logits, temperature, rng):
    return int(np.argmax(logits))


@token(
    "TG121", "temperature multiplied",
    "You multiplied the logits by the temperature. Divide by it: a high temperature makes the "
    "choice more even.",
)  # fmt: skip
def multiplied(logits, temperature, rng):
    return _draw(_softmax(logits * temperature), rng)


@token(
    "TG122", "temperature multiplied, 0 set apart",
    "You multiplied the logits by the temperature. Divide by it, except at 0: a high temperature "
    "makes the choice more even.",
)  # fmt: skip
def multiplied_above_0(logits, temperature, rng):
    return argmax(logits, 0, rng) if temperature == 0 else multiplied(logits, temperature, rng)


@token(
    "TG123", "temperature ignored",
    "Your temperature changes nothing. Divide the logits by it before the softmax.",
)  # fmt: skip
def ignored(logits, temperature, rng):
    return argmax(logits, 0, rng) if temperature == 0 else _draw(_softmax(logits), rng)


@token(
    "TG124", "temperature ignored, 0 too",
    "Your function does not look at the temperature. Divide the logits by it, and take the "
    "likeliest token at 0.",
)  # fmt: skip
def ignored_at_0(logits, temperature, rng):
    return _draw(_softmax(logits), rng)


@token(
    "TG125", "temperature on the probabilities",
    "You divided the probabilities by the temperature and made them add up to 1 again, which "
    "changes nothing. Divide the logits, before the softmax.",
    equivalent=("TG123",),
)  # fmt: skip
def on_probabilities(logits, temperature, rng):
    if temperature == 0:
        return int(np.argmax(logits))
    p = _softmax(logits) / temperature
    return _draw(p / p.sum(), rng)


@token(
    "TG126", "division by 0",
    "At temperature 0 you divide by 0. Take the likeliest token there.",
)  # fmt: skip
def divides_by_0(logits, temperature, rng):
    p = _softmax(logits / temperature)
    return int(rng.choice(len(p), p=p))


@token(
    "TG127", "every token alike",
    "You draw every token with the same probability. The softmax of the logits says how often "
    "each is due.",
)  # fmt: skip
def uniform(logits, temperature, rng):
    return argmax(logits, 0, rng) if temperature == 0 else int(rng.integers(len(logits)))


def _fixed(id, seed):
    @token(
        id, f"same draw every time, seed {seed}",
        "Your function makes a generator of its own with a fixed seed, so it gives the same token "
        "every time. Draw from the rng that it is given.",
    )  # fmt: skip
    def formula(logits, temperature, rng):
        if temperature == 0:
            return int(np.argmax(logits))
        return _draw(_softmax(logits / temperature), np.random.default_rng(seed))


_fixed("TG128", 0)
_fixed("TG132", 42)


@token(
    "TG129", "rng not used",
    "You draw from another source than rng, so nobody can repeat your text. Draw from the rng "
    "that the function is given.",
    factory=True,
)  # fmt: skip
def own_source():
    own = np.random.default_rng()

    def formula(logits, temperature, rng):
        if temperature == 0:
            return int(np.argmax(logits))
        return _draw(_softmax(logits / temperature), own)

    return formula


@token(
    "TG130", "exponentials overflow",
    "Your exponentials overflow for large logits. Subtract the largest logit first.",
)  # fmt: skip
def overflowing(logits, temperature, rng):
    if temperature == 0:
        return int(np.argmax(logits))
    weights = np.exp(logits / temperature)
    return int(rng.choice(len(logits), p=weights / weights.sum()))


@token(
    "TG131", "tokens counted from 1",
    "Your tokens are one too large. The first token is 0.",
)  # fmt: skip
def from_one(logits, temperature, rng):
    if temperature == 0:
        return int(np.argmax(logits)) + 1
    return _draw(_softmax(logits / temperature), rng) + 1


@token(
    "TG138", "division by 0, and exponentials overflow",
    "At temperature 0 you divide by 0: take the likeliest token there. And your exponentials "
    "overflow for large logits: subtract the largest first.",
)  # fmt: skip
def bare_softmax(logits, temperature, rng):
    weights = np.exp(logits / temperature)
    return int(rng.choice(len(logits), p=weights / weights.sum()))


@token(
    "TG139", "division by 0, overflow, and another source of randomness",
    "At temperature 0 you divide by 0, your exponentials overflow for large logits, and you do "
    "not draw from the rng that the function is given.",
    factory=True,
)  # fmt: skip
def bare_softmax_of_its_own():
    own = np.random.default_rng()
    return lambda logits, temperature, rng: bare_softmax(logits, temperature, own)
