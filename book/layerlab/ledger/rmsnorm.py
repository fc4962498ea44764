"""Claims about RMSNorm, and about what norms cost."""

import numpy as np

from layerlab.ledger.claim import Claim, Numbers, about, below, between, near
from layerlab.ledger.formulas import Floats, rms
from layerlab.ledger.layernorm import EVEN, FOUR, VECTOR, _backward
from layerlab.normalize import normalize

# A batch of 8 x 8,192 tokens of width 4,096 in 16-bit numbers on an H100.
TOKENS, WIDTH, BYTES = 8 * 8192, 4096, 2
VECTOR_SPEED, MATRIX_SPEED, BANDWIDTH = 67e12, 989e12, 3.35e12
LAYER_OPERATIONS, RMS_OPERATIONS = 8, 5


def _four() -> Floats:
    return np.array([np.mean(FOUR**2), rms(FOUR), *normalize(FOUR, center=False)])


def _even() -> Floats:
    return np.array([rms(EVEN), *normalize(EVEN, center=False)])


def _moved() -> Floats:
    return normalize(EVEN + 100, center=False)


def _no_mean() -> Numbers:
    error, largest_sum, _ = _backward("rmsnorm")
    return error, largest_sum


def _arithmetic() -> Floats:
    """Microseconds for the arithmetic of LayerNorm and RMSNorm."""
    return 1e6 * TOKENS * WIDTH * np.array([LAYER_OPERATIONS, RMS_OPERATIONS]) / VECTOR_SPEED


def _passes() -> Floats:
    """Milliseconds for four, three and two passes through memory."""
    return 1e3 * TOKENS * WIDTH * BYTES * np.array([4, 3, 2]) / BANDWIDTH


def _product() -> float:
    """Milliseconds for the product with one square matrix."""
    return 1e3 * 2 * TOKENS * WIDTH**2 / MATRIX_SPEED


def _bound() -> Floats:
    """Memory time over arithmetic time: fused LayerNorm and RMSNorm, then in separate steps."""
    layer, root = 1e-3 * _arithmetic()
    four, three, two = _passes()
    return np.array([two / layer, two / root, four / layer, three / root])


ROWS = (
    Claim(
        "14",
        "notes",
        "Mean square, root and RMSNorm of (1, 2, 3, 4).",
        "7.5; 2.74; (0.37, 0.73, 1.10, 1.46)",
        "holds",
        _four,
        near(7.5, 2.74, 0.37, 0.73, 1.10, 1.46, within=5e-3),
        "{:.1f}; {:.4f}; " + VECTOR,
    ),
    Claim(
        "16",
        "post",
        "Root mean square and RMSNorm of (2, 4, 6, 8).",
        "√30 = 5.48; (0.365, 0.730, 1.095, 1.461)",
        "holds",
        _even,
        near(5.48, within=5e-3) + near(0.365, 0.730, 1.095, 1.461, within=5e-4),
        "{:.4f}; " + VECTOR,
    ),
    Claim(
        "17b",
        "post",
        "RMSNorm squeezes (102, 104, 106, 108) toward ones.",
        "(0.971, 0.990, 1.009, 1.028)",
        "holds",
        _moved,
        near(0.971, 0.990, 1.009, 1.028, within=5e-4),
        VECTOR,
    ),
    Claim(
        "18",
        "post",
        "RMSNorm's dx has no mean term.",
        "a formula",
        "holds",
        _no_mean,
        below(1e-7) + between(0.1, 100),
        "differs from finite differences by {:.0e}; the largest sum of a row is {:.1f}, not 0",
    ),
    Claim(
        "37",
        "post",
        "Arithmetic of a norm over 8 × 8,192 tokens of width 4,096 on an H100.",
        "LayerNorm 32 µs, RMSNorm 20 µs",
        "holds",
        _arithmetic,
        near(32, 20, within=0.5),
        "{:.2f} µs, {:.2f} µs",
    ),
    Claim(
        "38",
        "post",
        "Four, three and two passes of these numbers through memory.",
        "0.64, 0.48 and 0.32 ms",
        "holds",
        _passes,
        near(0.64, 0.48, 0.32, within=5e-3),
        "{:.3f}, {:.3f} and {:.3f} ms",
    ),
    Claim(
        "39",
        "post",
        "One product with a 4,096 × 4,096 matrix.",
        "2.22 ms",
        "holds",
        _product,
        near(2.22, within=5e-3),
        "{:.3f} ms",
    ),
    Claim(
        "40",
        "post",
        "Norms are bound by memory by a factor of ten to twenty.",
        "10 to 20",
        "corrected",
        _bound,
        about(10, 16, 20, 24, share=1e-3),
        "fused {:.1f} (LayerNorm) and {:.1f} (RMSNorm), in separate steps {:.1f} and {:.1f}",
        refutes=between(9.9, 20.1, 4),
        remark="10 to 16 fused, 20 to 24 in separate steps. RMSNorm is the more memory-bound one.",
    ),
    Claim(
        "L3",
        "notes",
        "RMSNorm saves 7 % to 64 % of the running time without a loss of quality.",
        "7 % to 64 %",
        "literature",
        remark="Of whole models, on the machines of 2019.",
        cites=("zhang2019",),
    ),
    Claim(
        "L4",
        "notes",
        "LLaMA has RMSNorm before every sub-layer.",
        "a fact about a model",
        "literature",
        cites=("touvron2023",),
    ),
)
