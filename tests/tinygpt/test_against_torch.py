"""PyTorch computes the same loss and the same gradients, with layers of its own."""

import numpy as np
import pytest
from layerlab.tinygpt import Configuration, Parameters, PlainGPT

torch = pytest.importorskip("torch")


def test_loss_and_gradients_are_those_of_pytorch():
    from benchmarks._torch_gpt import forward

    config = Configuration(vocabulary=11, context=6, width=12, heads=3, blocks=3, batch=2)
    params = Parameters.drawn(config)
    # Gains and biases away from 1 and 0.
    params.flat += np.random.default_rng(1).normal(0, 0.1, params.flat.shape)
    ids, targets = np.random.default_rng(2).integers(0, 11, (2, 2, 6))
    model = PlainGPT(config, params)
    leaves = {name: torch.tensor(view, requires_grad=True) for name, view in params.views.items()}
    logits = forward(leaves, torch.from_numpy(ids), config)
    loss = torch.nn.functional.cross_entropy(
        logits.reshape(-1, 11), torch.from_numpy(targets).reshape(-1)
    )
    loss.backward()
    assert model.loss_and_gradient(ids, targets) == pytest.approx(loss.item(), rel=1e-5)
    for name, leaf in leaves.items():
        expected = leaf.grad.numpy()
        off = np.abs(model.grads.views[name] - expected).max() / np.abs(expected).max()
        assert off < 2e-5, name
