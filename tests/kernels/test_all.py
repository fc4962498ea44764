"""What holds for every kernel: inputs untouched, threads, preallocation, NaN and infinity."""

import numpy as np
import pytest
from layerlab import jit

from autograder.kernels.batchnorm import batchnorm_backward, batchnorm_forward
from autograder.kernels.dropout import dropout_backward, dropout_forward
from autograder.kernels.embedding import embedding_backward, embedding_forward
from autograder.kernels.layernorm import layernorm_backward, layernorm_forward
from autograder.kernels.rmsnorm import rmsnorm_backward, rmsnorm_forward
from autograder.kernels.tinygpt import gelu_backward, gelu_forward

ROWS, FEATURES = 900, 257
IDS = np.random.default_rng(9).integers(0, 40, (3, 300))


def layernorm(x, dout, gamma, out=None, dx=None):
    out, cache = layernorm_forward(x, gamma, gamma, out=out)
    return out, *layernorm_backward(dout, cache, out=dx)


def rmsnorm(x, dout, gamma, out=None, dx=None):
    out, cache = rmsnorm_forward(x, gamma, out=out)
    return out, *rmsnorm_backward(dout, cache, out=dx)


def batchnorm(x, dout, gamma, out=None, dx=None):
    out, cache, *running = batchnorm_forward(x, gamma, gamma, gamma, np.abs(gamma), True, out=out)
    return out, *batchnorm_backward(dout, cache, out=dx), *running


def dropout(x, dout, gamma, out=None, dx=None):
    out, cache = dropout_forward(x, 0.3, True, np.random.default_rng(0), out=out)
    return out, dropout_backward(dout, cache, out=dx)


def embedding(x, dout, gamma, out=None, dx=None):
    out = embedding_forward(IDS, x, out=out)
    return out, embedding_backward(dout.reshape(*IDS.shape, -1), IDS, len(x), out=dx)


def gelu(x, dout, gamma, out=None, dx=None):
    out, cache = gelu_forward(x, out=out)
    return out, gelu_backward(dout, cache, out=dx)


LAYERS = [layernorm, rmsnorm, batchnorm, dropout, embedding, gelu]
each_layer = pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: layer.__name__)
each_dtype = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def inputs(dtype):
    rng = np.random.default_rng(4)
    x, dout = rng.standard_normal((2, ROWS, FEATURES)).astype(dtype)
    return x, dout, rng.standard_normal(FEATURES).astype(dtype)


@each_layer
@each_dtype
def test_threads_do_not_change_a_bit(layer, dtype, monkeypatch):
    arrays = inputs(dtype)
    assert arrays[0].size > jit.PARALLEL_FROM
    parallel = layer(*arrays)
    monkeypatch.setattr(jit, "PARALLEL_FROM", np.inf)
    for got, expected in zip(parallel, layer(*arrays)):
        np.testing.assert_array_equal(got, expected)


@each_layer
def test_inputs_stay_as_they_were(layer):
    arrays = inputs(np.float64)
    before = [array.copy() for array in arrays]
    layer(*arrays)
    for array, kept in zip(arrays, before):
        np.testing.assert_array_equal(array, kept)


@each_layer
def test_results_go_where_they_are_told(layer):
    arrays = inputs(np.float32)
    expected = layer(*arrays)
    places = [np.full_like(expected[0], np.nan), np.full_like(expected[1], np.nan)]
    got = layer(*arrays, *places)
    for place, result, want in zip(places, got, expected):
        assert result is place
        np.testing.assert_array_equal(result, want)


@pytest.mark.parametrize("layer", [layernorm, rmsnorm], ids=lambda layer: layer.__name__)
@each_dtype
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_diverged_row_shows_and_leaves_the_others_alone(layer, dtype, bad):
    """The compiler flags must not assume that NaN and infinity do not occur."""
    x, dout, gamma = inputs(dtype)
    expected = layer(x, dout, gamma)
    x[7, 5] = bad
    out, dx, dgamma, *_ = layer(x, dout, gamma)
    assert np.isnan(out[7, 5])
    assert np.isnan(dx[7]).all()
    assert np.isnan(dgamma[5])
    for got, want in zip((out, dx), expected):
        np.testing.assert_array_equal(np.delete(got, 7, axis=0), np.delete(want, 7, axis=0))


@each_layer
@each_dtype
def test_not_finite_gradients_come_through(layer, dtype):
    x, dout, gamma = inputs(dtype)
    dout[:, 3] = np.inf
    dx = layer(x, dout, gamma)[1]
    assert not np.isfinite(dx[:, 3]).all()
    assert not np.isnan(layer(x, np.zeros_like(dout), gamma)[1]).any()
