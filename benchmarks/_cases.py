"""What is timed, how many bytes it has to move, and what it is to reach."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder.kernels.batchnorm import batchnorm_backward, batchnorm_forward
from autograder.kernels.dropout import dropout_backward, dropout_forward
from autograder.kernels.embedding import embedding_backward, embedding_forward
from autograder.kernels.layernorm import layernorm_backward, layernorm_forward
from autograder.kernels.rmsnorm import rmsnorm_backward, rmsnorm_forward
from benchmarks import _rivals as rivals
from benchmarks._timing import Times

VOCAB_SIZE = 50_257
P = 0.1

# At most so many times the floor, and at least so many times as fast as NumPy.
FLOOR_LIMIT = {
    "layernorm_forward": 1.3,
    "rmsnorm_forward": 1.3,
    "layernorm_backward": 2.0,
    "rmsnorm_backward": 2.0,
}
NUMPY_FACTOR = {"embedding_backward": 4.0}


@dataclass
class Case:
    """A kernel and its rivals."""

    name: str
    bytes: int
    contenders: dict[str, Callable[[], Any]]

    def missed(self, times: Times, floor: float) -> list[str]:
        """Say what was not reached, with `floor` in units of the copy's time."""
        missed = []
        limit, factor = FLOOR_LIMIT.get(self.name, np.inf), NUMPY_FACTOR.get(self.name, 0)
        if (reached := times.ratio("ours", "copy") / floor) > limit:
            missed.append(f"{reached:.2f} times the floor, allowed {limit}")
        if (reached := times.ratio("NumPy", "ours")) < factor:
            missed.append(f"{reached:.1f} times as fast as NumPy, wanted {factor}")
        for ours in ("ours", "ours new") if "PyTorch" in times else ():
            if (reached := times.ratio(ours, "PyTorch")) > 1:
                missed.append(f"{ours} takes {reached:.2f} of PyTorch's time")
        return missed


def arrays(rows: int, features: int, dtype: type) -> tuple[np.ndarray, ...]:
    """Draw x, dout, gamma, beta, ids and table."""
    rng = np.random.default_rng(0)
    shapes = [(rows, features), (rows, features), (features,), (features,), (VOCAB_SIZE, features)]
    x, dout, gamma, beta, table = (rng.standard_normal(shape, dtype=dtype) for shape in shapes)
    return x, dout, gamma, beta, rng.integers(0, VOCAB_SIZE, rows), table


def cases(x, dout, gamma, beta, ids, table) -> Iterator[Case]:
    """Give the cases, after comparing each kernel with NumPy."""
    layernorm = layernorm_forward(x, gamma, beta)[1]
    rmsnorm = rmsnorm_forward(x, gamma)[1]
    running = np.zeros_like(gamma), np.ones_like(gamma)
    batchnorm = batchnorm_forward(x, gamma, beta, *running, True)[1]
    rng = np.random.default_rng
    dropout = dropout_forward(x, P, True, rng(0))[1]
    size, table_size = x.nbytes, table.nbytes
    listed: list[tuple[str, int, Callable[..., Any], Callable[[], Any]]] = [
        (
            "layernorm_forward",
            2 * size,
            lambda out: layernorm_forward(x, gamma, beta, out=out),
            lambda: rivals.layernorm_forward(x, gamma, beta),
        ),
        (
            "layernorm_backward",
            3 * size,
            lambda out: layernorm_backward(dout, layernorm, out=out),
            lambda: rivals.layernorm_backward(dout, x, gamma),
        ),
        (
            "rmsnorm_forward",
            2 * size,
            lambda out: rmsnorm_forward(x, gamma, out=out),
            lambda: rivals.rmsnorm_forward(x, gamma),
        ),
        (
            "rmsnorm_backward",
            3 * size,
            lambda out: rmsnorm_backward(dout, rmsnorm, out=out),
            lambda: rivals.rmsnorm_backward(dout, x, gamma),
        ),
        (
            # Read for the statistics of the batch, which come first, and again to normalize.
            "batchnorm_forward",
            3 * size,
            lambda out: batchnorm_forward(x, gamma, beta, *running, True, out=out),
            lambda: rivals.batchnorm_forward(x, gamma, beta),
        ),
        (
            "batchnorm_in_use",
            2 * size,
            lambda out: batchnorm_forward(x, gamma, beta, *running, False, out=out),
            lambda: rivals.batchnorm_in_use(x, gamma, beta, *running),
        ),
        (
            "batchnorm_backward",
            5 * size,
            lambda out: batchnorm_backward(dout, batchnorm, out=out),
            lambda: rivals.batchnorm_backward(dout, x, gamma),
        ),
        (
            "dropout_forward",
            2 * size + x.size,
            lambda out: dropout_forward(x, P, True, rng(0), out=out),
            lambda: rivals.dropout_forward(x, P, rng(0)),
        ),
        (
            "dropout_backward",
            2 * size + x.size,
            lambda out: dropout_backward(dout, dropout, out=out),
            lambda: rivals.dropout_backward(dout, dropout[0], P),
        ),
        (
            "embedding_forward",
            2 * size,
            lambda out: embedding_forward(ids, table, out=out),
            lambda: table[ids],
        ),
        (
            # Zeros over the whole table, then a row of dout read and a row of the table changed.
            "embedding_backward",
            table_size + 3 * size,
            lambda out: embedding_backward(dout, ids, VOCAB_SIZE, out=out),
            lambda: rivals.embedding_backward(dout, ids, VOCAB_SIZE),
        ),
    ]
    pytorch = rivals.in_pytorch(x, dout, gamma, beta, ids, table)
    for name, moved, ours, in_numpy in listed:
        place = np.empty_like(table if name == "embedding_backward" else x)
        compare(name, ours(place), in_numpy())
        contenders = {
            "ours": lambda ours=ours, place=place: ours(place),
            "ours new": lambda ours=ours: ours(None),
            "NumPy": in_numpy,
        }
        if name in pytorch:
            contenders["PyTorch"] = pytorch[name]
        yield Case(name, moved, contenders)


def compare(name: str, got: Any, expected: Any) -> None:
    """Stop unless the kernel's first result is that of NumPy: a wrong one could be fast."""
    got, expected = (
        result[0] if isinstance(result, tuple) else result for result in (got, expected)
    )
    atol = 1e-3 if got.dtype == np.float32 else 1e-9
    np.testing.assert_allclose(got, expected, rtol=0, atol=atol, err_msg=name)
