"""The benchmark compares results before it times them, and reports what was not reached."""

import numpy as np
import pytest

from benchmarks import _cases, _timing, kernels
from benchmarks._timing import Times


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(_cases, "VOCAB_SIZE", 100)
    monkeypatch.setattr(_timing, "ROUNDS", 2)
    monkeypatch.setattr(kernels, "SIZES", [(40, 16)])


def test_every_kernel_has_a_line_at_each_size_and_dtype(small, capsys):
    kernels.main([])
    printed = capsys.readouterr().out
    for dtype in ("float32", "float64"):
        assert f"40 x 16 {dtype}   copy " in printed
    for layer in ("layernorm", "rmsnorm", "batchnorm", "dropout", "embedding"):
        assert printed.count(f"\n{layer}_forward ") == printed.count(f"\n{layer}_backward ") == 2


def test_a_wrong_kernel_is_not_timed(small, monkeypatch):
    monkeypatch.setattr(_cases, "rmsnorm_forward", lambda x, gamma, **_: (x * gamma, (x, gamma, 1)))
    with pytest.raises(AssertionError, match="rmsnorm_forward"):
        list(_cases.cases(*_cases.arrays(40, 16, np.float64)))


def test_what_was_not_reached_is_named_with_its_figure():
    times = Times(
        {
            "copy": [1.0, 2.0, 1.0],
            "ours": [1.2, 3.2, 1.5],
            "ours new": [2.0, 4.0, 2.0],
            "PyTorch": [1.6, 3.6, 1.6],
            "NumPy": [3.6, 9.6, 4.5],
        }
    )
    case = _cases.Case("layernorm_forward", 2, {})
    assert case.missed(times, floor=1.0) == [
        "1.50 times the floor, allowed 1.3",
        "ours new takes 1.25 of PyTorch's time",
    ]
    assert _cases.Case("embedding_backward", 2, {}).missed(times, floor=1.0)[0] == (
        "3.0 times as fast as NumPy, wanted 4.0"
    )
