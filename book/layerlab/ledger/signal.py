"""Claims about what a norm does to the signals of a deep network."""

import math

import numpy as np

from layerlab.ledger.claim import Claim, Numbers, about, below, between, near
from layerlab.ledger.deep_signal import WIDTH, Scales, deep_signal
from layerlab.ledger.formulas import Floats

HE = float(np.sqrt(2 / WIDTH))


def _ratio() -> float:
    """Gradient of the weights at start 0.01 over that at start 1."""
    return float(deep_signal(0.01, "layernorm")[2] / deep_signal(1.0, "layernorm")[2])


def _tops_without() -> Floats:
    return np.array([deep_signal(std, "none", 1)[0] for std in (0.01, HE, 1.0)])


def _rms() -> Floats:
    top, first, _ = deep_signal(HE, "rmsnorm", 1)
    weights = [deep_signal(std, "rmsnorm", 1)[2] for std in (0.01, 1.0)]
    return np.array([top, first, weights[0] / weights[1]])


def _invariant() -> Numbers:
    nets = Scales("layernorm"), Scales("rmsnorm")
    return (
        max(net.loss_change() for net in nets),
        nets[0].gradient_ratio(),
        nets[1].gradient_ratio(),
    )


def _whole() -> Floats:
    return np.array([Scales(norm).whole() for norm in ("layernorm", "rmsnorm")])


def _columns() -> Floats:
    return np.array([Scales(norm).columns() for norm in ("layernorm", "rmsnorm", "batchnorm")])


def _bias() -> Numbers:
    return Scales("rmsnorm").loss_change(), Scales("rmsnorm", bias=1.0).loss_change()


def _guess() -> Numbers:
    """Loss of a uniform guess among four, and He's start over 0.01, squared, for 64 inputs."""
    return math.log(4), (math.sqrt(2 / 64) / 0.01) ** 2


SHOWS = "{:.4f}, {:.4f}, {:.4g}"
# Each network's gradients differ by a tenth; their median over five does not.
SIZES = near(0.71, within=0.01) + near(0.785, within=0.02)

ROWS = (
    Claim(
        "1c-1",
        "post",
        "20 layers of 256 with LayerNorm, start 0.01: size of the last output, of the gradient "
        "at the first layer, of the gradient of its weights.",
        "0.71, 0.784, 111",
        "holds",
        lambda: deep_signal(0.01, "layernorm"),
        SIZES + about(111, share=0.03),
        SHOWS,
        remark="Median of five networks. Single ones differ by a tenth in the gradients.",
    ),
    Claim(
        "1c-2",
        "post",
        "The same with He's start, 0.0884.",
        "0.71, 0.785, 12.5",
        "holds",
        lambda: deep_signal(HE, "layernorm"),
        SIZES + about(12.5, share=0.03),
        SHOWS,
    ),
    Claim(
        "1c-3",
        "post",
        "The same with start 1.",
        "0.71, 0.785, 1.11",
        "holds",
        lambda: deep_signal(1.0, "layernorm"),
        SIZES + about(1.11, share=0.03),
        SHOWS,
    ),
    Claim(
        "1c-4",
        "post",
        "The gradient of the weights is inverse to their scale: start 0.01 against start 1.",
        "100 times",
        "holds",
        _ratio,
        about(100, share=0.01),
        "{:.2f} times",
    ),
    Claim(
        "1c-5",
        "course",
        "Without a norm the last output follows the start: 0.01, He, 1.",
        "10⁻¹⁹, 1, 10²¹",
        "holds",
        _tops_without,
        between(1e-20, 1e-18) + between(0.3, 4) + between(1e20, 1e22),
        "{:.1e}, {:.2f}, {:.1e}",
    ),
    Claim(
        "1c-6",
        "course",
        "RMSNorm does the same: last output, gradient at the first layer, ratio of the weight "
        "gradients between the starts 0.01 and 1.",
        "0.737, 0.67, 100",
        "holds",
        _rms,
        near(0.737, within=0.02) + between(0.55, 0.8) + about(100, share=0.01),
        "{:.3f}, {:.3f}, {:.2f}",
    ),
    Claim(
        "1c-7",
        "notes",
        "A norm makes the loss blind to the scale of the matrix before it, and the gradient "
        "inverse to that scale: the matrix times ten.",
        "no change; a tenth",
        "holds",
        _invariant,
        below(1e-10) + about(10, 10, share=1e-6),
        "loss changes by {:.0e}; gradients fall by {:.6f} (LayerNorm) and {:.6f} (RMSNorm)",
        remark="Up to eps, and without a bias before the norm (row 1c-11).",
        cites=("arora2019",),
    ),
    Claim(
        "1c-8",
        "notes",
        "So the gradient is at a right angle to the matrix.",
        "cosine 0",
        "holds",
        _whole,
        below(1e-10, 2),
        "{:.0e} (LayerNorm), {:.0e} (RMSNorm) for the whole matrix",
    ),
    Claim(
        "1c-9",
        "notes",
        "The gradient is at a right angle to the weights of each unit.",
        "cosine 0",
        "corrected",
        _columns,
        between(0.1, 1, 2) + below(1e-10),
        "largest cosine {:.2f} (LayerNorm), {:.2f} (RMSNorm), {:.0e} (BatchNorm)",
        refutes=below(1e-3, 3),
        remark="For single units only with BatchNorm. LayerNorm and RMSNorm compare the units "
        "with each other, so it holds for the matrix as a whole.",
    ),
    Claim(
        "1c-10",
        "notes",
        "A step of gradient descent therefore lengthens the weights: ‖W‖² grows by η²‖g‖².",
        "equality",
        "holds",
        lambda: Scales("layernorm").growth(),
        about(1, share=1e-9),
        "ratio of the two sides {:.9f}",
    ),
    Claim(
        "1c-11",
        "notes",
        "Scaling the matrix does not change the loss.",
        "no change",
        "holds if",
        _bias,
        below(1e-10) + between(1e-3, 10),
        "{:.0e} without a bias before the norm, {:.0e} with RMSNorm and a bias of 1",
        refutes=below(1e-10, 2),
        remark="The bias before the norm has to be zero.",
    ),
    Claim(
        "42",
        "post",
        "A uniform guess among four has the loss log 4; He's start over 0.01, squared, by which "
        "the effective rate differs, is about 300.",
        "1.386; 18² ≈ 300",
        "holds",
        _guess,
        near(1.386, within=5e-4) + about(312.5, share=1e-3),
        "{:.5f}; {:.1f}",
    ),
    Claim(
        "L8",
        "notes",
        "With a norm, weight decay sets the effective learning rate η/‖W‖².",
        "derived in the paper",
        "literature",
        remark="Gains and biases are exempt from decay.",
        cites=("vanlaarhoven2017",),
    ),
    Claim(
        "L9",
        "notes",
        "Norms moved from behind the residual sum to before each sub-layer, which needs less "
        "warm-up.",
        "history",
        "literature",
        remark="Post-norm in 2017, pre-norm from 2019, with a norm at the end.",
        cites=("vaswani2017", "wang2019", "radford2019", "xiong2020"),
    ),
)
