"""Claims about checking gradients by finite differences."""

from collections.abc import Callable
from functools import cache

import numpy as np

from layerlab.gradient_check import relative_error
from layerlab.ledger.claim import Claim, Numbers, below, between, exactly
from layerlab.ledger.formulas import Floats, hat, hat_backward
from layerlab.ledger.small_checks import SmallNet, by_entry, dead_share, usual_errors


def _usual(norm: str) -> Callable[[], Numbers]:
    """Median error of the usual check, and how many of 100 networks it refuses at 1e-6."""

    def compute() -> Numbers:
        errors = usual_errors(norm)
        return float(np.median(errors)), 100 * float(np.mean(errors > 1e-6))

    return compute


def _refused() -> Floats:
    """Percent of right networks that the usual check refuses, by norm."""
    norms = ("none", "layernorm", "rmsnorm", "batchnorm")
    return np.array([100 * np.mean(usual_errors(norm) > 1e-6) for norm in norms])


def _dead() -> Floats:
    return 100 * np.array([dead_share(norm) for norm in ("none", "layernorm", "rmsnorm")])


def _zero_gradient() -> Numbers:
    """Largest gradient of BatchNorm's bias in front of it, and its error entry by entry."""
    net = SmallNet("batchnorm", 0, biased=False)
    exact, measured = net.gradients()[1], net.measured(1e-6)[1]
    return float(np.abs(exact).max()), by_entry(exact, measured), relative_error(exact, measured)


def _recommended() -> Floats:
    """Worst error by tensor over 30 networks with random biases, step 1e-5, for each norm."""
    worst = []
    for norm in ("none", "layernorm", "rmsnorm", "batchnorm"):
        nets = [SmallNet(norm, seed, biased=True) for seed in range(30)]
        errors = [max(map(relative_error, net.gradients(), net.measured(1e-5))) for net in nets]
        worst.append(max(errors))
    return np.array(worst)


def slopes(x: Floats, dout: Floats, step: float, norm: str, central: bool = True) -> Floats:
    """Gradient of ``sum(hat(x) * dout)`` by differences, in the precision of `x`.

    Parameters
    ----------
    x, dout : ndarray of float32 or float64, shape (N, D)
        Input and upstream gradient.
    step : float
        Finite-difference step.
    norm : str
        As for `hat`.
    central : bool
        Whether to step to both sides.

    Returns
    -------
    ndarray, shape of `x`
    """
    moves = np.eye(x.size, dtype=x.dtype).reshape(x.size, *x.shape) * x.dtype.type(step)
    above = (hat(x + moves, norm) * dout).sum((-2, -1))
    below_ = (hat(x - moves if central else x[None], norm) * dout).sum((-2, -1))
    return np.asarray((above - below_) / x.dtype.type(2 * step if central else step)).reshape(
        x.shape
    )


@cache
def step_error(step: float, central: bool = True, single: bool = False) -> float:
    """Median error over ten random inputs of shape (4, 8), LayerNorm, against the formula."""
    errors = []
    for seed in range(10):
        x, dout = np.random.default_rng(seed).normal(size=(2, 4, 8))
        exact = hat_backward(dout, x, "layernorm")
        if single:
            x, dout = x.astype(np.float32), dout.astype(np.float32)
        errors.append(relative_error(slopes(x, dout, step, "layernorm", central), exact))
    return float(np.median(errors))


def _alone(norm: str) -> Callable[[], Numbers]:
    """Smallest, largest and median error of the backward pass of one norm, entry by entry."""

    def compute() -> Numbers:
        errors = []
        for seed in range(60):
            x, dout = np.random.default_rng(seed).normal(size=(2, 4, 8))
            errors.append(by_entry(hat_backward(dout, x, norm), slopes(x, dout, 1e-6, norm)))
        return min(errors), max(errors), float(np.median(errors))

    return compute


def _central() -> Floats:
    return np.array([step_error(step) for step in (1e-2, 1e-4, 1e-5, 1e-6, 1e-10)])


def _forward() -> Floats:
    return np.array([step_error(step, central=False) for step in (1e-5, 1e-7, 1e-9)])


def _single() -> Floats:
    return np.array([step_error(step, single=True) for step in (1e-2, 1e-5, 1e-8)])


LUCK = "The largest of many relative errors is a matter of luck; see row 1b-6."
MEDIAN = "median {:.0e} over 60 networks; {:.0f} of 100 above 1e-6"
SPREAD = "from {:.0e} to {:.0e}, median {:.0e}"

ROWS = (
    Claim(
        "1b-1", "post", "Largest relative error of a right 5-7-7-4 network without a norm.",
        "3.8 · 10⁻⁸", "holds if", _usual("none"), between(1e-8, 5e-7) + between(3, 40), MEDIAN,
        remark=LUCK,
    ),
    Claim(
        "1b-2", "post", "The same with LayerNorm.", "6.7 · 10⁻⁸", "holds if", _usual("layernorm"),
        between(1e-8, 5e-7) + between(3, 40), MEDIAN, remark=LUCK,
    ),
    Claim(
        "1b-3", "post", "The same with RMSNorm.", "4.9 · 10⁻⁷", "holds if", _usual("rmsnorm"),
        between(1e-8, 1e-6) + between(5, 50), MEDIAN, remark=LUCK,
    ),
    Claim(
        "1b-4", "post", "The backward pass of LayerNorm alone.", "1.9 · 10⁻⁹", "holds if",
        _alone("layernorm"),
        between(1e-10, 1e-8) + between(1e-8, 1e-4) + between(1e-9, 1e-7), SPREAD, remark=LUCK,
    ),
    Claim(
        "1b-5", "post", "The backward pass of RMSNorm alone.", "2.4 · 10⁻¹⁰", "holds if",
        _alone("rmsnorm"),
        between(1e-11, 5e-9) + between(3e-9, 1e-4) + between(3e-10, 5e-8), SPREAD, remark=LUCK,
    ),
    Claim(
        "1b-6",
        "post",
        "A right backward pass stays below 1e-6, entry by entry with step 1e-6.",
        "0 refused",
        "corrected",
        _refused,
        between(3, 40, 2) + between(5, 50) + between(90, 100),
        "refused of 100 right networks: {:.0f} (no norm), {:.0f} (LayerNorm), {:.0f} (RMSNorm), "
        "{:.0f} (BatchNorm)",
        refutes=exactly(0, 0, 0, 0),
        remark="Divide by the largest entry of each tensor, and draw biases at random (row 1b-9).",
    ),
    Claim(
        "1b-7",
        "course",
        "One cause: a gradient that is exactly 0, such as that of a bias in front of BatchNorm.",
        "gradient 0, error near 1",
        "holds",
        _zero_gradient,
        below(1e-13) + between(0.5, 1) + below(1e-6),
        "gradient {:.0e}; error by entry {:.1f}, by tensor {:.0e}",
    ),
    Claim(
        "1b-8",
        "course",
        "The other: with zero biases an example can lose a whole hidden layer, and the next sums "
        "are exactly 0, on the kink of ReLU.",
        "some networks; with LayerNorm none",
        "holds",
        _dead,
        between(2, 15) + exactly(0) + between(2, 25),
        "{:.1f} (no norm), {:.1f} (LayerNorm), {:.1f} (RMSNorm) of 100 networks",
    ),
    Claim(
        "1b-9",
        "course",
        "Step 1e-5, random biases and gains, error by tensor: right code passes at 1e-6.",
        "below 10⁻⁸",
        "holds",
        _recommended,
        below(1e-7, 4),
        "worst of 30 networks each: {:.0e} (no norm), {:.0e} (LayerNorm), {:.0e} (RMSNorm), "
        "{:.0e} (BatchNorm)",
    ),
    Claim(
        "1b-10",
        "course",
        "Central differences in float64 with steps 1e-2, 1e-4, 1e-5, 1e-6, 1e-10.",
        "10⁻⁵, 10⁻⁹, 6 · 10⁻¹¹, 5 · 10⁻¹⁰, 6 · 10⁻⁶",
        "holds",
        _central,
        between(1e-6, 1e-4) + between(1e-10, 1e-8) + between(1e-11, 3e-10)
        + between(1e-10, 3e-9) + between(1e-6, 3e-5),
        "{:.0e}, {:.0e}, {:.0e}, {:.0e}, {:.0e}",
        remark="Truncation falls with the step, rounding grows; 1e-5 is between them.",
    ),
    Claim(
        "1b-11",
        "course",
        "Forward differences with steps 1e-5, 1e-7, 1e-9.",
        "2 · 10⁻⁶, 2.5 · 10⁻⁸, more",
        "holds",
        _forward,
        between(3e-7, 1e-5) + between(3e-9, 2e-7) + between(1e-7, 1e-4),
        "{:.0e}, {:.0e}, {:.0e}",
        remark="At their best 400 times as far off as central ones.",
    ),
    Claim(
        "1b-12",
        "course",
        "Central differences in float32 with steps 1e-2, 1e-5, 1e-8.",
        "3 · 10⁻⁵, 3 · 10⁻², garbage",
        "holds",
        _single,
        between(3e-6, 3e-4) + between(3e-3, 0.3) + between(0.5, 1e9),
        "{:.0e}, {:.0e}, {:.0e}",
        remark="Check gradients in float64.",
    ),
)  # fmt: skip
