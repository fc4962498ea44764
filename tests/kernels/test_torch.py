"""The kernels against PyTorch, an implementation that shares nothing with ours."""

import numpy as np
import pytest

from autograder.kernels.batchnorm import batchnorm_backward, batchnorm_forward
from autograder.kernels.embedding import embedding_backward, embedding_forward
from autograder.kernels.layernorm import layernorm_backward, layernorm_forward
from autograder.kernels.rmsnorm import rmsnorm_backward, rmsnorm_forward

torch = pytest.importorskip("torch", reason="PyTorch is not installed: an extra oracle only")
F = torch.nn.functional

DTYPES = [(np.float32, 2e-5), (np.float64, 1e-12)]


def leaves(*arrays):
    return [torch.from_numpy(array.copy()).requires_grad_() for array in arrays]


@pytest.mark.parametrize(("dtype", "atol"), DTYPES)
@pytest.mark.parametrize("shape", [(96,), (5, 96), (2, 130, 300)])
def test_normalizations(shape, dtype, atol):
    rng = np.random.default_rng(0)
    x, dout = (rng.standard_normal(shape).astype(dtype) for _ in range(2))
    gamma, beta = rng.standard_normal((2, shape[-1])).astype(dtype)
    tx, tgamma, tbeta = leaves(x, gamma, beta)
    for kernel, backward, expected, inputs in (
        (layernorm_forward, layernorm_backward, F.layer_norm, (tx, tgamma, tbeta)),
        (rmsnorm_forward, rmsnorm_backward, F.rms_norm, (tx, tgamma)),
    ):
        out, cache = kernel(*(x, gamma, beta)[: len(inputs)], eps=1e-5)
        tout = expected(inputs[0], shape[-1:], *inputs[1:], eps=1e-5)
        np.testing.assert_allclose(out, tout.detach().numpy(), rtol=0, atol=atol)
        gradients = torch.autograd.grad(tout, inputs, torch.from_numpy(dout))
        for got, want in zip(backward(dout, cache), gradients):
            scale = max(1.0, float(want.abs().max()))
            np.testing.assert_allclose(got, want.numpy(), rtol=0, atol=atol * scale)


@pytest.mark.parametrize(("dtype", "atol"), DTYPES)
@pytest.mark.parametrize("shape", [(5, 96), (2, 130, 30)])
def test_batchnorm(shape, dtype, atol):
    """Three steps of training, so that running values move from running values; then use."""
    rng = np.random.default_rng(0)
    gamma, beta, mean = rng.standard_normal((3, shape[-1])).astype(dtype)
    var = rng.uniform(0.5, 2, shape[-1]).astype(dtype)
    tmean, tvar = (torch.from_numpy(part.copy()) for part in (mean, var))
    for step, training in enumerate((True, True, True, False)):
        x, dout = (rng.standard_normal(shape).astype(dtype) + step for _ in range(2))
        inputs = leaves(x.reshape(-1, shape[-1]), gamma, beta)
        tout = F.batch_norm(inputs[0], tmean, tvar, *inputs[1:], training, momentum=0.2)
        out, cache, mean, var = batchnorm_forward(x, gamma, beta, mean, var, training, 0.2)
        results = [(out, tout.detach()), (mean, tmean), (var, tvar)]
        if training:
            upstream = torch.from_numpy(dout.reshape(tout.shape))
            gradients = torch.autograd.grad(tout, inputs, upstream)
            results += zip(batchnorm_backward(dout, cache), gradients)
        for got, want in results:
            scale = max(1.0, float(want.abs().max()))
            want = want.numpy().reshape(got.shape)
            np.testing.assert_allclose(got, want, rtol=0, atol=atol * scale)


@pytest.mark.parametrize(("dtype", "atol"), DTYPES)
def test_embedding(dtype, atol):
    rng = np.random.default_rng(0)
    ids, table = rng.integers(0, 50, (8, 40)), rng.standard_normal((50, 300)).astype(dtype)
    dout = rng.standard_normal((8, 40, 300)).astype(dtype)
    (ttable,) = leaves(table)
    tout = F.embedding(torch.from_numpy(ids), ttable)
    np.testing.assert_array_equal(embedding_forward(ids, table), tout.detach().numpy())
    (want,) = torch.autograd.grad(tout, ttable, torch.from_numpy(dout))
    np.testing.assert_allclose(embedding_backward(dout, ids, 50), want.numpy(), rtol=0, atol=atol)
