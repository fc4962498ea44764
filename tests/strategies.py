"""What the property tests draw: arrays of every shape, precision and layout that is allowed."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

float_dtypes = st.sampled_from([np.float32, np.float64])
leading_shapes = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=5)
features = st.integers(1, 40)
generators = st.integers(0, 2**32 - 1).map(np.random.default_rng)

LAYOUTS = {
    "C order": lambda x: x,
    "Fortran order": np.asfortranarray,
    "every second entry": lambda x: np.repeat(x, 2, axis=-1)[..., ::2],
    "reversed": lambda x: np.ascontiguousarray(x[..., ::-1])[..., ::-1],
    "read-only": lambda x: _read_only(x),
    "other byte order": lambda x: x.astype(x.dtype.newbyteorder()),
    "unaligned": lambda x: _unaligned(x),
}
layouts = st.sampled_from(sorted(LAYOUTS))


def in_layout(x, layout):
    """Return an array with the values of `x` in one of LAYOUTS."""
    laid_out = LAYOUTS[layout](x)
    np.testing.assert_array_equal(laid_out, x)
    return laid_out


@st.composite
def activations(draw, count=1):
    """Draw `count` arrays of one shape (..., D) and dtype, each in a layout of its own."""
    rng, dtype = draw(generators), draw(float_dtypes)
    shape = (*draw(leading_shapes), draw(features))
    return [
        in_layout(rng.standard_normal(shape).astype(dtype), draw(layouts)) for _ in range(count)
    ]


@st.composite
def ids_and_vocab_size(draw):
    """Draw an array of ids of any shape and integer dtype, and a vocabulary they fit in."""
    rng, vocab_size = draw(generators), draw(st.integers(1, 12))
    dtype = draw(st.sampled_from([np.int64, np.int32, np.uint8, np.int8, np.uint64]))
    ids = rng.integers(0, vocab_size, draw(leading_shapes)).astype(dtype)
    return in_layout(ids, draw(layouts)) if ids.ndim else ids, vocab_size


def _read_only(x):
    x = x.copy()
    x.flags.writeable = False
    return x


def _unaligned(x):
    data = np.empty(x.nbytes + 1, np.uint8)[1:].view(x.dtype).reshape(x.shape)
    data[...] = x
    return data
