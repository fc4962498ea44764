"""The compiled loops of the fast tiny GPT: rows of features, several steps in one pass.

Arrays hold one row per position of the batch, R = B * T, in float32. A norm is 0 for LayerNorm, 1
for RMSNorm, 2 for none; its unused parameters may be anything of length D.
"""

import math

import numpy as np

from layerlab.jit import compiled
from layerlab.tinygpt.configuration import EPS

# In float32 all of them: a single float64 would turn a whole loop into float64.
_EPS = np.float32(EPS)
_HALF, _ONE, _TWO = np.float32(0.5), np.float32(1.0), np.float32(2.0)
_SCALE, _CUBE = np.float32(math.sqrt(2 / math.pi)), np.float32(0.044715)
_CUBE3 = np.float32(3 * 0.044715)
# tanh is 1 to seven digits from here on.
_LIMIT = np.float32(9.0)
# Lambert's continued fraction x / (1 + x^2 / (3 + x^2 / (5 + ...))) cut off after seven levels.
_P0, _P1, _P2 = np.float32(135135.0), np.float32(17325.0), np.float32(378.0)
_Q1, _Q2, _Q3 = np.float32(62370.0), np.float32(3150.0), np.float32(28.0)


@compiled
def fast_tanh(x):  # type: ignore[no-untyped-def]
    """Compute tanh to 3e-7, without a call that would keep a loop from using vectors.

    ``tanh(x) = 2 t / (1 + t**2)`` with ``t = tanh(x / 2)``, and t from Lambert's fraction.
    """
    if math.isnan(x):
        return x
    y = _HALF * min(max(x, -_LIMIT), _LIMIT)
    z = y * y
    over = y * (_P0 + z * (_P1 + z * (_P2 + z)))
    under = _P0 + z * (_Q1 + z * (_Q2 + z * _Q3))
    return _TWO * over * under / (under * under + over * over)


@compiled
def embed(ids, tokens, positions, x):  # type: ignore[no-untyped-def]
    """Write the sum of a character's row and its position's, ids of shape (B, T)."""
    length = ids.shape[1]
    for r in range(ids.size):
        token, place = ids[r // length, r % length], r % length
        for j in range(x.shape[1]):
            x[r, j] = tokens[token, j] + positions[place, j]


@compiled
def embed_backward(ids, dx, dtokens, dpositions):  # type: ignore[no-untyped-def]
    """Add up the gradients of each character's row and of each position's."""
    length = ids.shape[1]
    dtokens[:] = 0
    dpositions[:] = 0
    for r in range(ids.size):
        token, place = ids[r // length, r % length], r % length
        for j in range(dx.shape[1]):
            dtokens[token, j] += dx[r, j]
            dpositions[place, j] += dx[r, j]


@compiled
def normalize(x, gamma, beta, norm, out, xhat, rstds):  # type: ignore[no-untyped-def]
    """Apply the norm to each row; keep the normalized rows and 1 / their size."""
    features = x.shape[1]
    for r in range(x.shape[0]):
        if norm == 2:
            for j in range(features):
                out[r, j] = x[r, j]
            continue
        mean = np.float32(0.0)
        if norm == 0:
            for j in range(features):
                mean += x[r, j]
            mean /= np.float32(features)
        squares = np.float32(0.0)
        for j in range(features):
            squares += (x[r, j] - mean) * (x[r, j] - mean)
        rstd = _ONE / np.float32(math.sqrt(squares / np.float32(features) + _EPS))
        rstds[r] = rstd
        for j in range(features):
            xhat[r, j] = (x[r, j] - mean) * rstd
        if norm == 0:
            for j in range(features):
                out[r, j] = xhat[r, j] * gamma[j] + beta[j]
        else:
            for j in range(features):
                out[r, j] = xhat[r, j] * gamma[j]


@compiled
def add_rows(x, rows, bias):  # type: ignore[no-untyped-def]
    """Add a layer's product and its bias to the residual stream x."""
    for r in range(x.shape[0]):
        for j in range(x.shape[1]):
            x[r, j] += rows[r, j] + bias[j]


@compiled
def normalize_backward(  # type: ignore[no-untyped-def]
    dout, xhat, rstds, gamma, norm, add, dx, dgamma, dbeta, dbias
):
    """Send dout through the norm and put it into dx, or `add` it there.

    dbias gets the column sums of dx, the gradient of the bias that was added to the stream before
    this norm.
    """
    features = dx.shape[1]
    n = np.float32(features)
    dgamma[:] = 0
    dbeta[:] = 0
    dbias[:] = 0
    for r in range(dx.shape[0]):
        mean = along = np.float32(0.0)
        rstd = _ONE
        if norm != 2:
            rstd = rstds[r]
            for j in range(features):
                along += dout[r, j] * gamma[j] * xhat[r, j]
            along /= n
            for j in range(features):
                dgamma[j] += dout[r, j] * xhat[r, j]
        if norm == 0:
            for j in range(features):
                mean += dout[r, j] * gamma[j]
            mean /= n
            for j in range(features):
                dbeta[j] += dout[r, j]
        if not add:
            for j in range(features):
                dx[r, j] = 0
        if norm == 2:
            for j in range(features):
                dx[r, j] += dout[r, j]
        else:
            for j in range(features):
                dx[r, j] += (dout[r, j] * gamma[j] - mean - xhat[r, j] * along) * rstd
        for j in range(features):
            dbias[j] += dx[r, j]


@compiled
def gelu_forward(z, bias, out, tanhs):  # type: ignore[no-untyped-def]
    """Add the bias to z, in place, and apply GELU in its tanh form."""
    for r in range(z.shape[0]):
        for j in range(z.shape[1]):
            value = z[r, j] + bias[j]
            tanh = fast_tanh(_SCALE * (value + _CUBE * value * value * value))
            z[r, j], tanhs[r, j] = value, tanh
            out[r, j] = _HALF * value * (_ONE + tanh)


@compiled
def gelu_backward(dout, z, tanhs, dbias):  # type: ignore[no-untyped-def]
    """Multiply dout by the slope of GELU, in place; dbias gets the column sums."""
    dbias[:] = 0
    for r in range(z.shape[0]):
        for j in range(z.shape[1]):
            value, tanh = z[r, j], tanhs[r, j]
            inner = _SCALE * (_ONE + _CUBE3 * value * value)
            slope = _HALF * (_ONE + tanh) + _HALF * value * (_ONE - tanh * tanh) * inner
            dout[r, j] *= slope
            dbias[j] += dout[r, j]
