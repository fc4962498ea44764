"""Claims about LayerNorm."""

from functools import cache

import numpy as np

from layerlab.gradient_check import numerical_gradient, relative_error
from layerlab.ledger.claim import Claim, Numbers, about, below, between, exactly, near
from layerlab.ledger.formulas import EPS, Floats, hat_backward
from layerlab.normalize import normalize

FOUR = np.array([1.0, 2.0, 3.0, 4.0])
EVEN = np.array([2.0, 4.0, 6.0, 8.0])


def _statistics() -> Numbers:
    return FOUR.mean(), FOUR.var()


def _hat() -> Floats:
    return normalize(FOUR)


def _scaled() -> Floats:
    return 2 * normalize(FOUR) + 1


def _times_ten() -> Numbers:
    """Largest difference between the normalized vectors of x and 10 x, for eps 0 and 1e-5."""
    by_eps = (np.abs(normalize(10 * FOUR, eps) - normalize(FOUR, eps)).max() for eps in (0.0, EPS))
    exact, usual = by_eps
    return float(exact), float(usual)


def _mean_and_variance() -> Numbers:
    x_hat = normalize(FOUR)
    small = normalize(1e-3 * FOUR)
    return abs(float(x_hat.mean())), float(x_hat.var()), float(small.var())


def _convention() -> Floats:
    """Variance over D and eps in the root, against both slips, on (1, 2, 3, 4)."""
    centred = FOUR - FOUR.mean()
    right = centred / np.sqrt((centred**2).sum() / 4 + EPS)
    unbiased = centred / np.sqrt((centred**2).sum() / 3 + EPS)
    found = normalize(FOUR)
    return np.array([np.abs(found - right).max(), np.abs(found - unbiased).max()])


@cache
def _backward(norm: str) -> tuple[float, float, float]:
    """Error against finite differences, largest sum of a row of dx, largest product with x_hat."""
    rng = np.random.default_rng(3)
    x, dout, gamma = rng.normal(size=(6, 16)), rng.normal(size=(6, 16)), rng.normal(size=16)
    center = norm == "layernorm"
    dx = hat_backward(gamma * dout, x, norm)
    measured = numerical_gradient(lambda v: gamma * normalize(v, EPS, center), x, dout)
    along = (dx * normalize(x, EPS, center)).sum(-1)
    return relative_error(dx, measured), np.abs(dx.sum(-1)).max(), np.abs(along).max()


def _along() -> Numbers:
    rng = np.random.default_rng(3)
    x, dout = rng.normal(size=(6, 16)), rng.normal(size=(6, 16))
    exact = hat_backward(dout, x, "layernorm", 0.0) * normalize(x, 0.0)
    return float(np.abs(exact.sum(-1)).max()), _backward("layernorm")[2]


def _even() -> Floats:
    return np.array([EVEN.mean(), EVEN.var(), *normalize(EVEN)])


def _moved() -> float:
    return float(np.abs(normalize(EVEN + 100) - normalize(EVEN)).max())


def _one_dimensional_gain() -> Numbers:
    """Distinct gain gradients for an input of shape (D,): by the rule, and right."""
    rng = np.random.default_rng(0)
    x, dout = rng.normal(size=8), rng.normal(size=8)
    products = dout * normalize(x)
    by_rule = np.full(8, products.sum(axis=None))
    return float(len(np.unique(by_rule))), float(len(np.unique(products)))


def _leading_axes() -> Numbers:
    """Count the axes of a gain gradient for input (2, 3, 8): with sum(0), and right."""
    rng = np.random.default_rng(0)
    products = rng.normal(size=(2, 3, 8)) * normalize(rng.normal(size=(2, 3, 8)))
    return float(products.sum(0).ndim), float(products.sum((0, 1)).ndim)


PRINTED = (-1.34, -0.45, 0.45, 1.34)
VECTOR = "({:.6f}, {:.6f}, {:.6f}, {:.6f})"

ROWS = (
    Claim(
        "5",
        "notes",
        "Mean and variance of (1, 2, 3, 4).",
        "2.5 and 1.25",
        "holds",
        _statistics,
        exactly(2.5, 1.25),
        "{} and {}",
    ),
    Claim(
        "6",
        "notes",
        "(1, 2, 3, 4), normalized.",
        "(−1.34, −0.45, 0.45, 1.34)",
        "holds",
        _hat,
        near(*PRINTED, within=5e-3),
        VECTOR,
    ),
    Claim(
        "7",
        "notes",
        "The same with gain 2 and shift 1.",
        "(−1.68, 0.11, 1.89, 3.68)",
        "holds",
        _scaled,
        near(-1.68, 0.11, 1.89, 3.68, within=5e-3),
        VECTOR,
    ),
    Claim(
        "8",
        "notes",
        "(10, 20, 30, 40) gives exactly the same normalized vector.",
        "difference 0",
        "corrected",
        _times_ten,
        below(1e-15) + about(5.3e-6, share=0.02),
        "{:.0e} with eps 0, {:.1e} with eps 1e-5",
        refutes=exactly(0, 0),
        remark="Exact only without eps. Never compare with `==`.",
    ),
    Claim(
        "9",
        "notes",
        "The normalized vector has mean 0 and variance 1.",
        "0 and 1",
        "holds if",
        _mean_and_variance,
        below(1e-15) + near(0.999992, within=1e-6) + about(1 / 9, share=0.01),
        "mean {:.0e}, variance {:.6f}; for the vector times 0.001, variance {:.3f}",
        refutes=near(0, 1, 1, within=1e-4),
        remark="The variance is var / (var + eps): 1 only where var is large against eps.",
    ),
    Claim(
        "10",
        "notes",
        "PyTorch's convention: the variance divides by D, and eps is added inside the root.",
        "by definition",
        "holds",
        _convention,
        below(1e-15) + near(0.18, within=0.005),
        "our norm differs from it by {:.0e}; one that divides by D − 1 differs by {:.2f}",
    ),
    Claim(
        "11",
        "notes, post",
        "dx = (g − mean(g) − x̂ · mean(g x̂)) / s.",
        "a formula",
        "holds",
        lambda: _backward("layernorm")[0],
        below(1e-7),
        "differs from finite differences by {:.0e}",
    ),
    Claim(
        "12",
        "notes",
        "The entries of dx add up to 0.",
        "0",
        "holds",
        lambda: _backward("layernorm")[1],
        below(1e-10),
        "{:.0e}",
    ),
    Claim(
        "13",
        "post",
        "The backward pass removes the component along x̂.",
        "0",
        "holds if",
        _along,
        below(1e-13) + between(1e-6, 1e-3),
        "{:.0e} with eps 0, {:.0e} with eps 1e-5",
        refutes=below(1e-10, 2),
        remark="Exact only without eps; otherwise small.",
    ),
    Claim(
        "15",
        "post",
        "Mean, variance and normalized values of (2, 4, 6, 8).",
        "5; 5; (−1.342, −0.447, 0.447, 1.342)",
        "holds",
        _even,
        exactly(5, 5) + near(-1.342, -0.447, 0.447, 1.342, within=5e-4),
        "{:.0f}; {:.0f}; " + VECTOR,
    ),
    Claim(
        "17a",
        "post",
        "LayerNorm does not notice that 100 was added to every feature of (2, 4, 6, 8).",
        "unchanged",
        "holds",
        _moved,
        exactly(0),
        "difference {:.0f}",
    ),
    Claim(
        "47",
        "gpt",
        "Sum the gain gradient over `tuple(range(ndim - 1))`, or over `None` for a vector.",
        "a rule for every input",
        "corrected",
        _one_dimensional_gain,
        exactly(1, 8),
        "for a vector of 8 features: {:.0f} distinct value in the gradient, instead of {:.0f}",
        refutes=exactly(8, 8),
        remark="`axis=None` sums over the features too. For a vector sum over nothing: `axis=()`.",
    ),
    Claim(
        "48",
        "post",
        "Gain and shift gradients are `.sum(0)` of the products.",
        "a rule for every input",
        "corrected",
        _leading_axes,
        exactly(2, 1),
        "for an input with three axes the gradient has {:.0f} axes, instead of {:.0f}",
        refutes=exactly(1, 1),
        remark="Sum over all leading axes.",
    ),
    Claim(
        "L2",
        "notes",
        "LayerNorm looks at one example at a time, so training and use are the same.",
        "the paper's argument",
        "literature",
        remark="Row 17a and the tables of BatchNorm measure it.",
        cites=("ba2016",),
    ),
)
