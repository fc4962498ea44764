"""The pieces of a tiny GPT against their definitions in NumPy, slopes, and PyTorch."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from layerlab import gradient_check, jit

from autograder.kernels.layernorm import layernorm_forward
from autograder.kernels.tinygpt import (
    cross_entropy_backward,
    cross_entropy_forward,
    gelu_backward,
    gelu_forward,
)
from autograder.kernels.tinygpt_attention import (
    block_forward,
    causal_attention,
    causal_mask,
    embed_sum,
)
from autograder.kernels.tinygpt_sampling import next_token
from tests.strategies import activations

TOLERANCE = {np.dtype(np.float32): 1e-5, np.dtype(np.float64): 1e-12}
RNG = np.random.default_rng
X, IDS = np.ones((2, 3)), np.zeros((1, 3), int)


def softmax(scores):
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def attention(x, w_qkv, w_out, n_head):
    """Head by head and with a mask, where the kernel never computes what is masked."""
    features = x.shape[-1]
    q, k, v = np.split(x @ w_qkv, 3, axis=-1)
    heads = []
    for part in np.split(np.arange(features), n_head):
        scores = q[..., part] @ k[..., part].swapaxes(1, 2) / np.sqrt(len(part))
        hidden = np.triu(np.ones(scores.shape[1:], bool), 1)
        heads.append(softmax(np.where(hidden, -np.inf, scores)) @ v[..., part])
    return np.concatenate(heads, axis=-1) @ w_out


def block_parameters(rng, features, inner):
    shapes = {
        "gamma1": (features,), "beta1": (features,), "w_qkv": (features, 3 * features),
        "w_out": (features, features), "gamma2": (features,), "beta2": (features,),
        "w1": (features, inner), "w2": (inner, features),
    }  # fmt: skip
    return {name: rng.standard_normal(shape) for name, shape in shapes.items()}


def gelu(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


@given(activations(count=2))
def test_gelu_follows_the_definition_and_its_slope(arrays):
    x, dout = arrays
    out, cache = gelu_forward(x)
    dx = gelu_backward(dout, cache)
    wide, step = x.astype(np.float64), 1e-5
    slope = (gelu(wide + step) - gelu(wide - step)) / (2 * step)
    assert out.dtype == dx.dtype == x.dtype.type
    assert out.shape == dx.shape == x.shape
    scale = 1 + np.abs(wide).max(initial=0)
    tolerance = TOLERANCE[np.dtype(x.dtype.type)]
    np.testing.assert_allclose(out, gelu(wide), rtol=0, atol=tolerance * scale)
    # Central differences lose digits to rounding in proportion to the size of what they subtract.
    atol = 1e-9 * scale + tolerance
    size = 1 + np.abs(dout).max(initial=0)
    np.testing.assert_allclose(dx, dout * slope, rtol=0, atol=atol * size)


def test_gelu_far_out_is_the_line_or_nothing():
    x = np.array([-1e200, -50.0, 50.0, 1e200])
    out, cache = gelu_forward(x)
    np.testing.assert_array_equal(out, [0, 0, 50, 1e200])
    np.testing.assert_array_equal(gelu_backward(np.ones(4), cache), [0, 0, 1, 1])
    bad = np.array([np.nan, 1.0])
    assert np.isnan(gelu_forward(bad)[0][0])
    assert np.isnan(gelu_backward(np.ones(2), gelu_forward(bad)[1])[0])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(5,), (1, 3), (6, 4), (2, 3, 7)])
def test_cross_entropy_follows_the_definition(shape, dtype):
    rng = RNG(1)
    logits = (3 * rng.standard_normal(shape)).astype(dtype)
    targets = rng.integers(0, shape[-1], shape[:-1])
    loss, cache = cross_entropy_forward(logits, np.asarray(targets))
    dlogits = cross_entropy_backward(cache)
    probabilities = softmax(logits.astype(np.float64))
    hot = np.eye(shape[-1])[targets]
    count = max(1, np.size(targets))
    assert isinstance(loss, float)
    assert dlogits.dtype == dtype
    assert loss == pytest.approx(-np.log(probabilities[hot > 0]).mean(), abs=1e-12)
    np.testing.assert_allclose(dlogits, (probabilities - hot) / count, rtol=0, atol=1e-7)


def test_cross_entropy_has_the_slope_it_claims():
    rng = RNG(2)
    logits, targets = rng.standard_normal((2, 3, 5)), rng.integers(0, 5, (2, 3))
    dlogits = cross_entropy_backward(cross_entropy_forward(logits, targets)[1])
    gradient_check(lambda z: np.array(cross_entropy_forward(z, targets)[0]), logits, np.array(1.0),
                   dlogits, limit=1e-8)  # fmt: skip


@pytest.mark.parametrize("gap", [60.0, 1e3, 1e30])
@pytest.mark.parametrize("base", [-1e3, 0.0, 1e3])
def test_a_confident_wrong_answer_costs_its_gap(gap, base):
    """Neither overflow nor a clipped probability: the loss is the gap, and has a gradient."""
    logits = np.array([[base, base + gap]])
    loss, cache = cross_entropy_forward(logits, np.array([0]))
    assert loss == pytest.approx(gap, rel=1e-12)
    np.testing.assert_allclose(cross_entropy_backward(cache), [[-1, 1]], atol=1e-12)


@pytest.mark.parametrize("length", [1, 2, 7])
def test_the_mask_is_the_lower_triangle(length):
    mask = causal_mask(length)
    assert mask.dtype == bool
    np.testing.assert_array_equal(mask, np.tril(np.ones((length, length), bool)))


def test_tokens_and_positions_add_up():
    rng = RNG(3)
    tokens, positions = rng.standard_normal((9, 4)), rng.standard_normal((6, 4))
    ids = rng.integers(0, 9, (5, 3))
    np.testing.assert_array_equal(embed_sum(ids, tokens, positions), tokens[ids] + positions[:3])


@given(st.integers(1, 3), st.integers(1, 6), st.integers(1, 3), st.integers(1, 4))
def test_attention_follows_the_definition(batch, length, n_head, size):
    rng, features = RNG(4), n_head * size
    x, w_qkv = rng.standard_normal((batch, length, features)), rng.standard_normal(features * 3)
    w_qkv = w_qkv * rng.standard_normal((features, 1))
    w_out = rng.standard_normal((features, features))
    expected = attention(x, w_qkv, w_out, n_head)
    np.testing.assert_allclose(causal_attention(x, w_qkv, w_out, n_head), expected, atol=1e-10)
    narrow = [value.astype(np.float32) for value in (x, w_qkv, w_out)]
    out = causal_attention(*narrow, n_head)
    assert out.dtype == np.float32
    np.testing.assert_allclose(out, expected, atol=1e-3 * (1 + np.abs(expected).max()))


def test_threads_do_not_change_a_bit(monkeypatch):
    x, w_qkv, w_out = (RNG(5).standard_normal(s) for s in ((4, 40, 32), (32, 96), (32, 32)))
    assert x.size * 40 > 200_000
    parallel = causal_attention(x, w_qkv, w_out, 4)
    monkeypatch.setattr(jit, "PARALLEL_FROM", np.inf)
    np.testing.assert_array_equal(parallel, causal_attention(x, w_qkv, w_out, 4))


def test_the_future_changes_nothing_and_large_scores_stay_finite():
    rng = RNG(6)
    x, w_qkv, w_out = (rng.standard_normal(s) for s in ((2, 5, 4), (4, 12), (4, 4)))
    changed = x.copy()
    changed[:, 3:] += 100
    before, after = (causal_attention(value, w_qkv, w_out, 2) for value in (x, changed))
    np.testing.assert_array_equal(before[:, :3], after[:, :3])
    assert not np.allclose(before[:, 3:], after[:, 3:])
    assert np.isfinite(causal_attention(1e4 * x, w_qkv, w_out, 2)).all()


def test_the_block_is_two_residual_steps_with_the_norms_in_front():
    rng = RNG(7)
    params, x = block_parameters(rng, 6, 10), rng.standard_normal((2, 4, 6))
    first, _ = layernorm_forward(x, params["gamma1"], params["beta1"])
    middle = x + attention(first, params["w_qkv"], params["w_out"], 3)
    second, _ = layernorm_forward(middle, params["gamma2"], params["beta2"])
    expected = middle + gelu(second @ params["w1"]) @ params["w2"]
    np.testing.assert_allclose(block_forward(x, params, 3), expected, atol=1e-10)


def test_tokens_are_drawn_as_often_as_the_softmax_says():
    logits, count = np.array([1.0, 1001.0, 1000.0, 999.5]), 20_000
    for temperature in (0.5, 1.0, 3.0):
        rng = RNG(8)
        drawn = [next_token(logits, temperature, rng) for _ in range(count)]
        shares = np.bincount(drawn, minlength=4) / count
        expected = softmax(logits / temperature)
        allowed = 5 * np.sqrt(expected * (1 - expected) / count) + 1e-12
        assert (np.abs(shares - expected) <= allowed).all(), (temperature, shares)
    assert [next_token(logits, 0, RNG(i)) for i in range(5)] == [1] * 5


def test_the_blocks_of_pytorch_agree():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed: an extra oracle only")
    functional, rng = torch.nn.functional, RNG(9)
    x = rng.standard_normal((3, 7, 12))
    tx = torch.from_numpy(x).requires_grad_()
    tout = functional.gelu(tx, approximate="tanh")
    out, cache = gelu_forward(x)
    np.testing.assert_allclose(out, tout.detach().numpy(), atol=1e-14)
    (grad,) = torch.autograd.grad(tout.sum(), tx)
    np.testing.assert_allclose(gelu_backward(np.ones_like(x), cache), grad.numpy(), atol=1e-14)
    targets = rng.integers(0, 12, (3, 7))
    tloss = functional.cross_entropy(tx.reshape(-1, 12), torch.from_numpy(targets.reshape(-1)))
    loss, cache = cross_entropy_forward(x, targets)
    assert loss == pytest.approx(tloss.item(), abs=1e-13)
    (grad,) = torch.autograd.grad(tloss, tx)
    np.testing.assert_allclose(cross_entropy_backward(cache), grad.numpy(), atol=1e-14)
    w_qkv, w_out = rng.standard_normal((12, 36)), rng.standard_normal((12, 12))
    parts = torch.from_numpy(x @ w_qkv).split(12, dim=-1)
    q, k, v = (part.reshape(3, 7, 4, 3).transpose(1, 2) for part in parts)
    seen = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    expected = seen.transpose(1, 2).reshape(3, 7, 12).numpy() @ w_out
    np.testing.assert_allclose(causal_attention(x, w_qkv, w_out, 4), expected, atol=1e-11)


@pytest.mark.parametrize(
    ("refused", "words"),
    [
        (lambda: gelu_forward([1.0]), "gelu_forward(x): x must be a NumPy array; got list"),
        (lambda: gelu_backward(X, (X.T,)), "dout must have the shape of x, (3, 2); got (2, 3)"),
        (lambda: gelu_backward(X, X), "cache must be what gelu_forward returned second"),
        (lambda: cross_entropy_backward((X,)), "cache must be what cross_entropy_forward returned"),
        (lambda: cross_entropy_forward(X, np.array([0, 3])), "targets must lie in 0 .. V - 1 = 2"),
        (lambda: cross_entropy_forward(X, np.array([0.0, 1])), "targets must have an integer"),
        (lambda: cross_entropy_forward(X, np.array([0])), "one entry for each position"),
        (lambda: causal_mask(0), "length must be at least 1; got 0"),
        (lambda: embed_sum(IDS[0], X, X), "ids must have shape (B, T); got (3,)"),
        (lambda: embed_sum(IDS, X, X), "C at least T = 3; got (2, 3). Shorten ids"),
        (lambda: causal_attention(X, X, X, 1), "x must have 3 axes"),
        (lambda: causal_attention(X[None], X, X, 2), "n_head must divide D = 3; got 2"),
        (lambda: causal_attention(X[None], X, X, 1), "w_qkv must have shape (3, 9); got (2, 3)"),
        (lambda: block_forward(X[None], {"gamma1": X}, 1), "params must hold beta1; it has"),
        (lambda: next_token(X[0], -1.0, RNG(0)), "temperature must be a finite number of 0 or"),
        (lambda: next_token(X[0], 1.0, 0), "rng must be a np.random.Generator; got int"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_refusal_names_argument_and_rule(refused, words):
    with pytest.raises((TypeError, ValueError)) as caught:
        refused()
    assert words in str(caught.value)
