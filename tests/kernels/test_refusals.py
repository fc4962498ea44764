"""Bad input is refused in words that name the function, the argument, the rule and what came."""

import re

import numpy as np
import pytest

from autograder.kernels.batchnorm import batchnorm_backward, batchnorm_forward
from autograder.kernels.dropout import dropout_backward, dropout_forward
from autograder.kernels.embedding import embedding_backward, embedding_forward
from autograder.kernels.initialization import gpt2_init, gpt2_residual, he_normal
from autograder.kernels.layernorm import layernorm_backward, layernorm_forward
from autograder.kernels.rmsnorm import rmsnorm_backward, rmsnorm_forward

RNG = np.random.default_rng(0)
X, V, TABLE = np.ones((2, 3)), np.ones(3), np.ones((5, 2))
LAYERNORM = layernorm_forward(X, V, V)[1]
RMSNORM = rmsnorm_forward(X, V)[1]
BATCHNORM = batchnorm_forward(X, V, V, V, V, True)[1]
MASK = dropout_forward(X, 0.5, True, RNG)[1]
INTS = np.ones((2, 3), int)
HALF = X.astype(np.float16)

REFUSED = [
    (lambda: layernorm_forward([[1.0]], V, V), "x must be a NumPy array; got list"),
    (lambda: layernorm_forward(INTS, V, V), "x must have dtype float32 or float64; got int64"),
    (lambda: layernorm_forward(HALF, V, V), "x must have dtype float32 or float64; got float16"),
    (lambda: layernorm_forward(np.float64(1), V, V), "x must be a NumPy array; got float64"),
    (lambda: layernorm_forward(np.array(1.0), V, V), "D >= 1; got shape ()"),
    (lambda: layernorm_forward(np.ones((4, 0)), V, V), "D >= 1; got shape (4, 0)"),
    (lambda: layernorm_forward(X, np.ones(4), V), "gamma must have shape (D,) = (3,)", "got (4,)"),
    (lambda: layernorm_forward(X, np.ones(()), V), "gamma must have shape (D,)", "got ()"),
    (lambda: layernorm_forward(X, V, X), "beta must have shape (D,) = (3,)", "got (2, 3)"),
    (
        lambda: layernorm_forward(X, V, V.astype(np.float32)),
        "beta must have the dtype of x, float64; got float32",
    ),
    (lambda: layernorm_forward(X, V, V, -1.0), "eps must be a finite number of 0 or more; got -1"),
    (lambda: layernorm_forward(X, V, V, np.nan), "eps must be a finite number", "got nan"),
    (lambda: layernorm_forward(X, V, V, "1"), "eps must be a number; got str"),
    (
        lambda: layernorm_forward(X, V, V, out=np.ones((3, 2))),
        "out must be a writable C-contiguous",
        "(3, 2)",
    ),
    (lambda: layernorm_forward(X, V, V, out=X), "out must not overlap x"),
    (lambda: layernorm_backward(X.T, LAYERNORM), "dout must have the shape of x", "got (3, 2)"),
    (lambda: layernorm_backward(INTS, LAYERNORM), "dout must have dtype", "got int64"),
    (lambda: layernorm_backward(X, X), "cache must be what layernorm_forward ret", "got ndarray"),
    (lambda: layernorm_backward(X, RMSNORM), "cache must be", "got tuple of 3"),
    (lambda: rmsnorm_backward(X, None), "cache must be what rmsnorm_forward", "got NoneType"),
    (lambda: dropout_backward(X, LAYERNORM), "cache must be what dropout_forward", "tuple of 4"),
    (lambda: rmsnorm_forward(X, np.ones(2)), "gamma must have shape (D,) = (3,)", "got (2,)"),
    (lambda: rmsnorm_forward(np.ones((0,)), V), "D >= 1; got shape (0,)"),
    (
        lambda: rmsnorm_backward(X.astype(np.float32), RMSNORM),
        "dout must have the dtype of x, float64; got float32",
    ),
    (lambda: batchnorm_forward(X, V, V, V, V, 1), "training must be True or False; got int"),
    (
        lambda: batchnorm_forward(X[:1], V, V, V, V, True),
        "x must hold at least 2 vectors in training; got 1",
        "training=False",
    ),
    (lambda: batchnorm_forward(V, V, V, V, V, True), "at least 2 vectors in training; got 1"),
    (lambda: batchnorm_forward(X[:0], V, V, V, V, True), "at least 2 vectors", "got 0"),
    (
        lambda: batchnorm_forward(X, V, V, V, -V, False),
        "running_var must be >= 0; got -1.0",
        "swapped?",
    ),
    (
        lambda: batchnorm_forward(X, V, V, np.ones(2), V, False),
        "running_mean must have shape (D,) = (3,)",
        "got (2,)",
    ),
    (
        lambda: batchnorm_forward(X, V, V, V, V, True, 1.5),
        "momentum must be in [0, 1]; got 1.5",
        "weight of the new value",
    ),
    (lambda: batchnorm_forward(X, V, V, V, V, True, np.nan), "in [0, 1]; got nan"),
    (lambda: batchnorm_forward(X, V, V, V, V, True, eps=-1), "eps must be a finite number"),
    (lambda: batchnorm_backward(X.T, BATCHNORM), "dout must have the shape of x", "got (3, 2)"),
    (lambda: batchnorm_backward(X, None), "cache must come from training=True", "got None"),
    (lambda: batchnorm_backward(X, RMSNORM), "what batchnorm_forward", "got tuple of 3"),
    (lambda: embedding_forward(np.array([0, -1]), TABLE), "0 .. V - 1 = 4", "ids[1] = -1"),
    (lambda: embedding_forward(np.array([[0], [5]]), TABLE), "0 .. V - 1 = 4", "ids[1][0] = 5"),
    (lambda: embedding_forward(np.array(2**63, np.uint64), TABLE), "ids = 9223372036854775808"),
    (lambda: embedding_forward(np.array([0.0]), TABLE), "ids must have an integer", "float64"),
    (lambda: embedding_forward(np.array([True]), TABLE), "ids must have an integer", "got bool"),
    (lambda: embedding_forward([0], TABLE), "ids must be a NumPy array", "got list"),
    (lambda: embedding_forward(np.array([0]), V), "table must have 2 axes; got 1, shape (3,)"),
    (lambda: embedding_forward(np.array([], int), np.ones((0, 0))), "D >= 1; got shape (0, 0)"),
    (lambda: embedding_backward(X, np.array([0, 1]), 1), "0 .. V - 1 = 0", "ids[1] = 1"),
    (lambda: embedding_backward(X, np.array([0]), 4), "dout must have shape", "(1, 3); got (2, 3)"),
    (lambda: embedding_backward(X, np.array([0, 1]), 0), "vocab_size must be at least 1; got 0"),
    (lambda: embedding_backward(X, np.array([0, 1]), 2.0), "vocab_size must be an integer; got fl"),
    (lambda: dropout_forward(X, 1.0, True, RNG), "p must be in [0, 1); got 1.0", "zeroing"),
    (lambda: dropout_forward(X, -0.1, True, RNG), "p must be in [0, 1); got -0.1"),
    (lambda: dropout_forward(X, np.nan, True, RNG), "p must be in [0, 1); got nan"),
    (lambda: dropout_forward(X, "half", True, RNG), "p must be a number; got str"),
    (lambda: dropout_forward(X, 0.5, 1, RNG), "training must be True or False; got int"),
    (lambda: dropout_forward(X, 0.5, True, 0), "rng must be a np.random.Generator; got int"),
    (lambda: dropout_forward(X, 0.5, True, np.random), "np.random.Generator; got module"),
    (lambda: dropout_backward(X.T, MASK), "dout must have the shape of x, (2, 3); got (3, 2)"),
    (lambda: he_normal(0, 4, RNG), "fan_in must be at least 1; got 0"),
    (lambda: he_normal(4, 2.5, RNG), "fan_out must be an integer; got float"),
    (lambda: he_normal(4, True, RNG), "fan_out must be an integer; got bool"),
    (lambda: he_normal(4, 4, None), "rng must be a np.random.Generator; got NoneType"),
    (lambda: he_normal(4, 4, RNG, dtype=int), "dtype must be float32 or float64; got int64"),
    (lambda: gpt2_residual(4, 4, 0, RNG), "n_layer must be at least 1; got 0"),
    (lambda: gpt2_init([], 2, RNG), "shapes must be a dict of names and shapes; got list"),
    (lambda: gpt2_init({"h.gain": (4,)}, 2, RNG), "must end in .weight", "'h.gain'"),
    (lambda: gpt2_init({"w.weight": (4, 0)}, 2, RNG), "shapes['w.weight']", "at least 1; got 0"),
    (lambda: gpt2_init({"w.bias": 4}, 2, RNG), "shapes['w.bias'] must be a tuple", "got int"),
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
