"""The modules beside the tiny GPT's exercise: every gradient, the optimizer, training, writing."""

import numpy as np
import pytest
import tinygpt_support as support
from layerlab import numerical_gradient, relative_error
from tinygpt_support import CharacterData, Tensor, TinyGPT, with_gradient

RNG = np.random.default_rng(0)
TEXT = "the quick brown fox jumps over the lazy dog; " * 30
MASK = ~np.tri(4, dtype=bool)


def normal(*shape):
    return np.random.default_rng(sum(shape)).normal(size=shape)


# Operation -> the function, and the arrays it is differentiated by.
OPERATIONS = {
    "add": (lambda a, b: a + b, (normal(2, 3, 4), normal(3, 1))),
    "add a number": (lambda a: 2 + a + 1.5, (normal(3),)),
    "add an array": (lambda a: np.arange(3.0) + a, (normal(2, 3),)),
    "subtract": (lambda a, b: a - b, (normal(4), normal(3, 4))),
    "subtract from a number": (lambda a: 1 - a, (normal(4),)),
    "multiply": (lambda a, b: a * b, (normal(2, 1, 4), normal(3, 4))),
    "multiply by itself": (lambda a: a * a * a, (normal(5),)),
    "divide": (lambda a, b: a / b, (normal(3, 4), normal(1, 4) ** 2 + 1)),
    "divide a number": (lambda a: 2 / a, (normal(4) ** 2 + 1,)),
    "power": (lambda a: a**-1.5, (normal(4) ** 2 + 1,)),
    "matmul": (lambda a, b: a @ b, (normal(5, 3), normal(3, 2))),
    "matmul, one matrix for all": (lambda a, b: a @ b, (normal(2, 3, 5, 3), normal(3, 2))),
    "matmul, a matrix each": (lambda a, b: a @ b, (normal(2, 4, 3), normal(2, 3, 5))),
    "matmul, broadcast": (lambda a, b: a @ b, (normal(2, 1, 4, 3), normal(5, 3, 2))),
    "sum": (lambda a: a.sum(), (normal(3, 4),)),
    "sum over an axis": (lambda a: a.sum(1), (normal(3, 4, 2),)),
    "sum over two axes": (lambda a: a.sum((0, 2), keepdims=True), (normal(3, 4, 2),)),
    "mean": (lambda a: a.mean(), (normal(3, 4),)),
    "mean over an axis": (lambda a: a.mean(-1), (normal(3, 4),)),
    "reshape": (lambda a: a.reshape(4, -1), (normal(2, 6),)),
    "transpose": (lambda a: a.transpose(2, 0, 1), (normal(2, 3, 4),)),
    "transpose, reversed": (lambda a: a.transpose(), (normal(2, 3, 4),)),
    "rows, some twice": (lambda a: a[np.array([[2, 0], [2, 2]])], (normal(4, 3),)),
    "pairs of indices": (lambda a: a[np.array([0, 1, 1]), np.array([2, 0, 0])], (normal(2, 3),)),
    "a slice": (lambda a: a[..., 1:3], (normal(2, 4),)),
    "exp": (lambda a: a.exp(), (normal(3, 4),)),
    "log": (lambda a: a.log(), (normal(3, 4) ** 2 + 0.5,)),
    "tanh": (lambda a: a.tanh(), (normal(3, 4),)),
    "relu": (lambda a: a.relu(), (normal(3, 4),)),
    "masked fill": (lambda a: a.masked_fill(MASK, -2.0), (normal(2, 4, 4),)),
    "softmax": (lambda a: a.softmax(), (normal(2, 3, 4),)),
    "causal softmax": (lambda a: a.masked_fill(MASK, -np.inf).softmax(), (normal(2, 4, 4),)),
    "gelu": (support.gelu, (normal(3, 4),)),
    "layernorm": (support.layernorm, (normal(2, 3, 5), normal(5), normal(5))),
    "cross-entropy": (
        lambda a: support.cross_entropy(a, np.array([[0, 2], [3, 0]])),
        (normal(2, 2, 4),),
    ),
    "attention": (
        lambda x, qkv: support.attention(x, qkv, heads=2),
        (normal(2, 3, 4), normal(2, 3, 12)),
    ),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_gradient_agrees_with_central_differences(name):
    function, arrays = OPERATIONS[name]
    tensors = [Tensor(array) for array in arrays]
    out = function(*tensors)
    dout = np.random.default_rng(1).normal(size=out.shape)
    (out * dout).sum().backward()
    for i, tensor in enumerate(tensors):

        def values(x, i=i):
            given = [Tensor(x if j == i else array) for j, array in enumerate(arrays)]
            return function(*given).data

        if tensor.grad is None:  # attention takes only the shape of its first argument
            assert (name, i) == ("attention", 0)
            continue
        assert tensor.grad.shape == tensor.shape
        expected = numerical_gradient(values, arrays[i].copy(), dout)
        assert relative_error(tensor.grad, expected) < 1e-8


def test_a_tensor_used_twice_gets_the_sum_of_both_gradients():
    x = Tensor(np.array([2.0, 3.0]))
    y = x * x
    (y + y * x).sum().backward()
    np.testing.assert_allclose(x.grad, 2 * x.data + 3 * x.data**2)
    y.sum().backward()
    np.testing.assert_allclose(x.grad, 4 * x.data + 3 * x.data**2)


def test_a_long_chain_is_no_problem():
    x = Tensor(np.array(1.0))
    y = x
    for _ in range(5_000):
        y = y * 1.0
    y.backward()
    assert x.grad == 1


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda: Tensor([1, 2]), "floats; got dtype int64"),
        (lambda: Tensor([1.0, 2.0]).backward(), "single number.*shape \\(2,\\)"),
        (lambda: TinyGPT(5, RNG, width=10, heads=4), "multiple of the number of heads"),
        (lambda: TinyGPT(5, RNG, context=4)(np.zeros((1, 5), int)), "T <= 4; got \\(1, 5\\)"),
        (lambda: support.generate(None, CharacterData(TEXT), "", 3, RNG), "at least one character"),
    ],
)
def test_errors_say_the_rule(wrong, words):
    with pytest.raises((TypeError, ValueError), match=words):
        wrong()


def tiny(**changes):
    settings = {"context": 6, "width": 8, "blocks": 2, "dtype": np.float64} | changes
    return TinyGPT(5, np.random.default_rng(0), **settings)


def test_the_whole_model_has_right_gradients():
    model = tiny()
    ids, targets = np.random.default_rng(2).integers(0, 5, (2, 3, 6))
    rng = np.random.default_rng(3)
    # Gains and biases away from their start of 1 and 0.
    for tensor in model.params.values():
        tensor.data += rng.normal(0, 0.1, tensor.shape)
    support.cross_entropy(model(ids), targets).backward()
    for name, tensor in model.params.items():
        direction = rng.normal(size=tensor.shape)
        values, slopes = tensor.data, []
        for step in (1e-5, -1e-5):
            tensor.data = values + step * direction
            slopes.append(float(support.cross_entropy(model(ids), targets).data))
        tensor.data = values
        slope = (slopes[0] - slopes[1]) / 2e-5
        assert (tensor.grad * direction).sum() == pytest.approx(slope, rel=1e-6, abs=1e-9), name


def test_no_position_sees_what_comes_after_it():
    model, ids = tiny(), np.array([[0, 1, 2, 3, 4, 0]])
    changed = np.array([[0, 1, 2, 4, 3, 1]])
    before, after = model(ids).data[0], model(changed).data[0]
    np.testing.assert_array_equal(before[:3], after[:3])
    assert np.abs(before[3:] - after[3:]).min() > 0


def test_passes_of_ones_own_take_part():
    def forward(x):
        return x**2, x

    def own(x):
        return with_gradient(forward, lambda dout, cache: dout * 2 * cache, x)

    def loss_forward(logits, targets):
        return (logits * targets).sum(), targets

    x = Tensor(normal(3, 4))
    with_gradient(loss_forward, lambda cache: cache, own(x) * 3, normal(3, 4)).backward()
    np.testing.assert_allclose(x.grad, 6 * x.data * normal(3, 4))


def test_configuration_of_the_book():
    params = TinyGPT(65, RNG).params
    assert sum(tensor.data.size for tensor in params.values()) == 110_529
    assert {tensor.data.dtype for tensor in params.values()} == {np.dtype(np.float32)}
    plain = TinyGPT(65, RNG, biased=False)
    assert set(plain.block(1)) == {
        "gamma1", "beta1", "w_qkv", "w_out", "gamma2", "beta2", "w1", "w2",
    }  # fmt: skip


def test_adamw_follows_its_formula():
    start = {"w": normal(3, 2), "b": normal(3)}
    params = {name: Tensor(value.copy()) for name, value in start.items()}
    optimizer = support.AdamW(params, decay=0.1)
    for t in (1, 2, 3):
        for name, tensor in params.items():
            tensor.grad = t * start[name]
        optimizer.step(0.01)
    for name, tensor in params.items():
        expected, m, v = start[name], 0.0, 0.0
        for t in (1, 2, 3):
            g = t * start[name]
            m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
            move = m / (1 - 0.9**t) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
            expected = expected - 0.01 * (move + (0.1 * expected if name == "w" else 0))
        np.testing.assert_allclose(tensor.data, expected, rtol=1e-12)
        assert tensor.grad is None


def test_rate_rises_then_falls_along_a_cosine():
    rates = [support.scheduled_rate(step, 1_100) for step in range(1_100)]
    assert rates[0] == pytest.approx(1e-5)
    assert max(rates) == rates[99] == pytest.approx(1e-3)
    assert rates[600] == pytest.approx((1e-3 + 1e-4) / 2)
    assert rates[-1] == pytest.approx(1e-4, rel=1e-3)


def test_training_learns_and_writes(capsys):
    data = CharacterData(TEXT, context=8, stride=4)
    model = TinyGPT(data.size, np.random.default_rng(0), context=8, width=16)
    losses = support.train(model, data, 120, batch=8, peak=1e-2, reports=2)
    assert losses[0] > 2.5
    assert support.evaluate(model, data) < 0.7
    assert {tensor.data.dtype for tensor in model.params.values()} == {np.dtype(np.float32)}
    assert "step 120 of 120" in capsys.readouterr().out.splitlines()[-1]
    written = support.generate(model, data, "the qui", 20, np.random.default_rng(0), 0.1)
    assert written.startswith("the quick brown fox")
    with pytest.raises(FloatingPointError, match="smaller peak"), np.errstate(all="ignore"):
        support.train(model, data, 200, peak=1e30, reports=0)
