"""What is asked of a block of the tiny GPT, and of the draw of its next token."""

from __future__ import annotations

import numpy as np

from autograder.checks.compare import Observation, Within, distance
from autograder.checks.core import Check, Functions, Observe, Property
from autograder.checks.inputs import Array, Rng
from autograder.checks.observe import RefusedError, array, call, unpack
from autograder.checks.tinygpt_loss import number
from autograder.kernels.tinygpt import gelu_forward
from autograder.kernels.tinygpt_attention import block_forward, causal_attention
from autograder.kernels.tinygpt_sampling import next_token

FEATURES, INNER, HEADS = 6, 10, 2
SHAPE = (2, 4, FEATURES)
DRAWS = 250
# Standard errors that a frequency may be off, and what is added for rare tokens, whose frequencies
# are far from normal (Bernstein's inequality): by chance in one of some million draws.
ERRORS = 5.0
RARE = ERRORS**2 / 6 / DRAWS
LOGITS = np.array([2.0, 1.5, 0.0, -1.5])
TEMPERATURES = (0.25, 4.0)
SIZES = (3, 8, 12, 20)

Params = dict[str, Array]


def _draw(rng: Rng, *zero: str) -> tuple[Array, Params]:
    """Draw x and parameters that hide nothing: uneven rows, gains on both sides of 0."""

    def vector(length: int) -> Array:
        return rng.uniform(0.5, 1.5, length) * rng.choice([-1.0, 1.0], length)

    def matrix(rows: int, columns: int) -> Array:
        return rng.standard_normal((rows, columns)) / np.sqrt(rows)

    params = {
        "gamma1": vector(FEATURES), "beta1": vector(FEATURES),
        "w_qkv": 1.5 * matrix(FEATURES, 3 * FEATURES), "w_out": matrix(FEATURES, FEATURES),
        "gamma2": vector(FEATURES), "beta2": vector(FEATURES),
        "w1": matrix(FEATURES, INNER), "w2": matrix(INNER, FEATURES),
    }  # fmt: skip
    for name in zero:
        params[name] = np.zeros_like(params[name])
    return 2 * rng.standard_normal(SHAPE) + 0.7, params


def _block(*zero: str) -> Observe:
    def observe(functions: Functions, rng: Rng) -> Observation:
        x, params = _draw(rng, *zero)
        return {"out": array(call(functions[-1], x, params, HEADS), "out")}

    return observe


def _untouched(functions: Functions, rng: Rng) -> Observation:
    x, params = _draw(rng)
    kept = {"x": x.copy(), **{name: value.copy() for name, value in params.items()}}
    call(functions[-1], x, params, HEADS)
    # Behind a process boundary the function works on copies and reports what it changed.
    changed = bool(getattr(functions[-1], "changed", ()))
    now = {"x": x, **params}
    same = kept.keys() == now.keys() and all(np.array_equal(kept[k], now[k]) for k in kept)
    return {"x and params unchanged": same and not changed}


def _blame_parts(functions: Functions, rng: Rng) -> str | None:
    """Say which of the functions that a block is made of is not right yet."""
    x, params = _draw(rng)
    given = x, params["w_qkv"], params["w_out"], HEADS
    try:
        attended = array(call(functions[0], *given), "out")
        activated = array(unpack(call(functions[1], x), ("out", "cache"))[0], "out")
    except RefusedError:
        return "The block is made of causal_attention and gelu_forward: write these first."
    wrong = [
        name
        for name, seen, right in (
            ("causal_attention", attended, causal_attention(*given)),
            ("gelu_forward", activated, gelu_forward(x)[0]),
        )
        if distance(seen, right) > 1e-3
    ]
    if wrong:
        return f"The block is made of {wrong[0]}, which is not right yet. Mend that first."
    return None


def _token(functions: Functions, logits: Array, temperature: float, rng: Rng) -> float:
    token = float(number(call(functions[0], logits.copy(), temperature, rng)))
    if not (token.is_integer() and 0 <= token < len(logits)):
        raise RefusedError(f"returned {token:g}; a whole number from 0 to {len(logits) - 1} is due")
    return token


def _likeliest(functions: Functions, rng: Rng) -> Observation:
    seen = {}
    for size in SIZES:
        # So even that a draw would hardly find the likeliest every time.
        logits = rng.permutation(np.arange(size) / 10 - 0.5)
        token = _token(functions, logits, 0, np.random.default_rng(size))
        seen[f"lead of the token over the largest of {size}"] = float(
            logits[int(token)] - logits.max()
        )
    return seen


def _frequencies(functions: Functions, rng: Rng) -> Observation:
    seen = {}
    for temperature in TEMPERATURES:
        draws = np.random.default_rng(int(rng.integers(2**32)))
        tokens = [_token(functions, LOGITS, temperature, draws) for _ in range(DRAWS)]
        for token, share in enumerate(np.bincount(np.array(tokens, np.int64), minlength=4) / DRAWS):
            seen[f"share of token {token} at temperature {temperature}"] = float(share)
    return seen


def _by_chance() -> dict[str, Within]:
    expected = {}
    for temperature in TEMPERATURES:
        weights = np.exp(LOGITS / temperature)
        for token, share in enumerate(weights / weights.sum()):
            error = float(np.sqrt(share * (1 - share) / DRAWS))
            name = f"share of token {token} at temperature {temperature}"
            expected[name] = Within(float(share), ERRORS * error + RARE)
    return expected


def _from_rng(functions: Functions, rng: Rng) -> Observation:
    seed, even = int(rng.integers(2**32)), np.zeros(50)

    def tokens() -> list[float]:
        draws = np.random.default_rng(seed)
        return [_token(functions, even, 1.0, draws) for _ in range(6)]

    first = tokens()
    return {
        "same tokens from the same seed": first == tokens(),
        "a new token in the next call": len(set(first)) > 1,
    }


def _large(functions: Functions, rng: Rng) -> Observation:
    seen = {}
    for place, offset in ((1, 5e3), (2, -5e3)):
        logits = np.full(4, offset)
        logits[place] += 80
        token = _token(functions, logits, 0.5, np.random.default_rng(place))
        seen[f"token of logits near {offset:g}"] = int(token)
    return seen


_WHOLE = "the whole block"
BLOCK = Check(
    "block_forward",
    "tinygpt",
    (
        Property(_WHOLE, 0.4, _block(), f"x {SHAPE}, n_head = {HEADS}"),
        Property("the attention half", 0.25, _block("w2"), "w2 zero"),
        Property("the feed-forward half", 0.25, _block("w_out"), "w_out zero"),
        Property(
            "x and params left alone", 0.1, _untouched, f"x {SHAPE}",
            expected={"x and params unchanged": True}, needs=_WHOLE,
        ),
    ),
    (causal_attention, gelu_forward, block_forward),
    on_failure=_blame_parts,
)  # fmt: skip

_SHARES = "as often as the softmax says"
NEXT = Check(
    "next_token",
    "tinygpt",
    (
        Property(
            "temperature 0", 0.25, _likeliest, f"logits of {SIZES[0]} to {SIZES[-1]} tokens"
        ),
        Property(
            "randomness comes from rng", 0.2, _from_rng, "50 equal logits, temperature 1",
            expected={"same tokens from the same seed": True, "a new token in the next call": True},
        ),
        Property(
            "large logits", 0.2, _large, "logits near 5,000 and -5,000, one 80 above the rest"
        ),
        # Last, as it takes longest: most known mistakes differ before.
        Property(
            _SHARES, 0.35, _frequencies, f"{DRAWS} calls for each temperature, 0.25 and 4",
            expected=_by_chance(), noise=4 * ERRORS / 100,
        ),
    ),
    (next_token,),
)  # fmt: skip
