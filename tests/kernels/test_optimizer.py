"""Optimizer steps against their definition, array by array in float64, and against PyTorch."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from layerlab import jit

from autograder.kernels.learning_rate import learning_rate_at
from autograder.kernels.optimizer import adam_step, adamw_step, sgd_step
from tests.strategies import float_dtypes, generators, in_layout, layouts

SHAPES = {"gain": (7,), "weight": (4, 3), "scale": (), "stack": (2, 3, 2)}
TOLERANCE = {np.float32: 2e-6, np.float64: 1e-13}
betas = st.sampled_from([0.0, 0.5, 0.9, 0.999])


def draw(rng, shapes, size=1.0, dtype=np.float64):
    return {name: np.asarray(size * rng.standard_normal(shape), dtype)
            for name, shape in shapes.items()}  # fmt: skip


def textbook(p, slopes, rate, decay, beta1, beta2, eps):
    """Adam by its other form: moments as weighted sums over all gradients so far."""
    p = p.astype(np.float64)
    for t in range(1, len(slopes) + 1):
        ages = np.arange(t)[::-1].reshape(-1, *(1,) * p.ndim)
        g = np.stack(slopes[:t]).astype(np.float64)
        weights1, weights2 = beta1**ages, beta2**ages
        m = (weights1 * g).sum(0) / weights1.sum()
        v = (weights2 * g**2).sum(0) / weights2.sum()
        pull = decay * p if p.ndim > 1 else 0
        p = p - rate * m / (np.sqrt(v) + eps) - rate * pull
    return p


@given(
    st.dictionaries(st.sampled_from("abcdef"), hnp.array_shapes(min_dims=0, max_dims=3, max_side=4),
                    min_size=1),
    generators, float_dtypes, layouts, betas, betas,
    st.sampled_from([1e-6, 1.0, 1e3]), st.sampled_from([0.0, 0.5]),
)  # fmt: skip
def test_steps_follow_the_definition(shapes, rng, dtype, layout, beta1, beta2, size, decay):
    params = first = draw(rng, shapes, dtype=dtype)
    slopes = [draw(rng, shapes, size, dtype) for _ in range(4)]
    state = None
    for grads in slopes:
        laid_out = {k: in_layout(g, layout) if g.ndim else g for k, g in grads.items()}
        params, state = adamw_step(params, laid_out, state, 0.1, decay, beta1, beta2, 1e-6)
    assert list(params) == list(shapes)
    for name, got in params.items():
        want = textbook(first[name], [g[name] for g in slopes], 0.1, decay, beta1, beta2, 1e-6)
        assert got.dtype == dtype
        np.testing.assert_allclose(got, want, rtol=0, atol=4 * TOLERANCE[dtype])


@pytest.mark.parametrize("size", [1.0, 1e-6])
def test_all_three_agree_with_pytorch(size):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed: an extra oracle only")
    rng = np.random.default_rng(0)
    start = draw(rng, SHAPES)
    slopes = [draw(rng, SHAPES, size) for _ in range(5)]

    def trained_by_torch(make):
        leaves = {name: torch.tensor(array) for name, array in start.items()}
        optimizer = make(leaves)
        for grads in slopes:
            for name, leaf in leaves.items():
                leaf.grad = torch.tensor(grads[name])
            optimizer.step()
        return {name: leaf.numpy() for name, leaf in leaves.items()}

    def groups(leaves):
        matrices = [leaf for leaf in leaves.values() if leaf.ndim >= 2]
        others = [leaf for leaf in leaves.values() if leaf.ndim < 2]
        return [{"params": matrices, "weight_decay": 0.2}, {"params": others, "weight_decay": 0.0}]

    sgd, adam, adamw, memory, memory_w = start, start, start, None, None
    for grads in slopes:
        sgd = sgd_step(sgd, grads, 0.3)
        adam, memory = adam_step(adam, grads, memory, 0.1)
        adamw, memory_w = adamw_step(adamw, grads, memory_w, 0.1, 0.2)
    for got, want in (
        (sgd, trained_by_torch(lambda p: torch.optim.SGD(p.values(), lr=0.3))),
        (adam, trained_by_torch(lambda p: torch.optim.Adam(p.values(), lr=0.1))),
        (adamw, trained_by_torch(lambda p: torch.optim.AdamW(groups(p), lr=0.1))),
    ):
        for name, array in got.items():
            np.testing.assert_allclose(array, want[name], rtol=0, atol=1e-12, err_msg=name)


def test_nothing_given_is_changed_and_threads_change_no_bit(monkeypatch):
    rng = np.random.default_rng(1)
    params, grads = (draw(rng, {"w": (500, 300), "b": (300,)}, dtype=np.float32) for _ in range(2))
    _, state = adamw_step(params, grads, None, 0.1, 0.2)
    kept = [a.copy() for a in (*params.values(), *grads.values(), state.first, state.second)]
    monkeypatch.setattr(jit, "PARALLEL_FROM", 1)
    parallel = adamw_step(params, grads, state, 0.1, 0.2)[0]
    monkeypatch.setattr(jit, "PARALLEL_FROM", np.inf)
    for name, array in adamw_step(params, grads, state, 0.1, 0.2)[0].items():
        np.testing.assert_array_equal(parallel[name], array)
    for array, before in zip((*params.values(), *grads.values(), state.first, state.second), kept):
        np.testing.assert_array_equal(array, before)


def test_a_gradient_that_is_not_a_number_shows_where_it_is():
    params, grads = {"w": np.ones((3, 4))}, {"w": np.ones((3, 4))}
    grads["w"][1, 2] = np.nan
    new = adam_step(params, grads, None, 0.1)[0]["w"]
    assert np.isnan(new[1, 2])
    assert np.isnan(new).sum() == 1


@given(st.integers(0, 40), st.integers(1, 60), st.floats(0, 1), st.floats(0, 1))
def test_rate_rises_in_equal_steps_then_falls_to_the_floor(warmup, length, peak, share):
    floor, total = share * peak, warmup + length
    rates = np.array([learning_rate_at(step, peak, warmup, total, floor)
                      for step in range(total + 3)])  # fmt: skip
    rising, falling = rates[:warmup], rates[warmup : total + 1]
    np.testing.assert_allclose(np.diff(rising, prepend=0), peak / max(1, warmup), atol=1e-15)
    assert falling[0] == pytest.approx(peak)
    assert rates[total:] == pytest.approx(floor)
    assert (np.diff(falling) <= 1e-15).all()
    # A cosine wave is symmetric about its middle.
    np.testing.assert_allclose(falling + falling[::-1], peak + floor, atol=1e-14)


def test_rate_of_a_quarter_and_of_a_third():
    assert learning_rate_at(130, 1.0, 100, 220, 0.0) == pytest.approx((2 + 2**0.5) / 4)
    assert learning_rate_at(140, 1.0, 100, 220, 0.0) == pytest.approx(3 / 4)


W, B = {"w": np.ones((2, 3))}, {"b": np.ones(3)}
STATE = adam_step(W, W, None, 0.1)[1]
REFUSED = [
    (lambda: sgd_step([1], W, 0.1), "params must be a dict of arrays by name; got list"),
    (lambda: sgd_step(W, B, 0.1), "names of params, at least one; got ['b'] for ['w']"),
    (lambda: sgd_step({}, {}, 0.1), "at least one; got [] for []"),
    (lambda: sgd_step(W, {"w": np.ones((3, 2))}, 0.1), "shape of params['w'], (2, 3); got (3, 2)"),
    (lambda: sgd_step(W, {"w": [[1.0]]}, 0.1), "grads['w'] must be a NumPy array; got list"),
    (
        lambda: sgd_step(W | {"b": np.ones(3, np.float32)}, W | B, 0.1),
        "params['b'] must have the dtype of params['w'], float64; got float32",
    ),
    (lambda: sgd_step(W, W, -0.1), "learning_rate must be a finite number of 0 or more; got -0.1"),
    (lambda: adam_step(W, W, {}, 0.1), "state must be None at the first step", "got dict"),
    (lambda: adam_step(B, B, STATE, 0.1), "comes from {'w': (2, 3)}", "{'b': (3,)}", "with None"),
    (lambda: adam_step(W, W, None, 0.1, 1.0), "beta1 must be in [0, 1)", "got 1.0"),
    (lambda: adam_step(W, W, None, 0.1, 0.9, np.nan), "beta2 must be in [0, 1)", "got nan"),
    (lambda: adamw_step(W, W, None, 0.1, -1.0), "weight_decay must be a finite number", "-1.0"),
    (lambda: learning_rate_at(-1, 1.0, 2, 9, 0.1), "step must be at least 0; got -1"),
    (lambda: learning_rate_at(1.5, 1.0, 2, 9, 0.1), "step must be an integer; got float"),
    (lambda: learning_rate_at(1, 1.0, 9, 9, 0.1), "larger than warmup_steps, 9; got 9"),
]


@pytest.mark.parametrize(
    ("refused", "parts"),
    [pytest.param(call, parts, id=", ".join(parts)) for call, *parts in REFUSED],
)
def test_refusal_names_argument_rule_and_what_came(refused, parts):
    with pytest.raises((TypeError, ValueError)) as caught:
        refused()
    message = str(caught.value)
    assert re.match(r"[a-z0-9_]+\(.*?\): ", message), message
    for part in parts:
        assert part in message
