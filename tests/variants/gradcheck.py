"""Right gradient checks as people really write them."""

import numpy as np


def in_place(function, x, dout, step=1e-5):
    x = np.asarray(x, dtype=np.float64)
    dx = np.empty(x.shape)
    entries = np.nditer(x, flags=["multi_index"])
    for _ in entries:
        index = entries.multi_index
        old = x[index]
        x[index] = old + step
        above = np.sum(function(x) * dout)
        x[index] = old - step
        below = np.sum(function(x) * dout)
        x[index] = old
        dx[index] = (above - below) / (2 * step)
    return dx


def with_unit_vectors(function, x, dout, step=1e-5):
    slopes = []
    for i in range(x.size):
        unit = np.zeros(x.size)
        unit[i] = step
        unit = unit.reshape(x.shape)
        slopes.append(np.vdot(function(x + unit) - function(x - unit), dout) / (2 * step))
    return np.array(slopes).reshape(x.shape)


def two_copies_each(function, x, dout, step=1e-5):
    dx = np.zeros(np.shape(x))
    for index, value in np.ndenumerate(x):
        above, below = x.astype(float), x.astype(float)
        above[index], below[index] = value + step, value - step
        dx[index] = ((function(above) - function(below)) * dout).sum() / step / 2
    return dx


def flat_loop(function, x, dout, step=1e-5):
    moved = np.array(x, dtype=float)
    flat, dx = moved.reshape(-1), np.zeros(moved.size)
    function(moved)
    for i in range(flat.size):
        old = flat[i]
        losses = []
        for sign in (1, -1):
            flat[i] = old + sign * step
            losses.append(float(np.sum(function(moved) * dout)))
        flat[i] = old
        dx[i] = (losses[0] - losses[1]) / (2 * step)
    return dx.reshape(moved.shape)


def prints_and_gives_float32(function, x, dout, step=1e-5):
    print("asked for", x.size, "slopes")
    return two_copies_each(function, x, dout, step).astype(np.float32)


def as_numpy_number(analytic, numeric):
    scale = np.abs(numeric).max()
    worst = np.abs(analytic - numeric).max()
    return worst if scale < 1e-7 else worst / scale


def by_infinity_norm(analytic, numeric):
    scale = np.linalg.norm(numeric.ravel(), np.inf)
    worst = np.linalg.norm((numeric - analytic).ravel(), ord=np.inf)
    return float(worst / scale) if scale >= 1e-7 else float(worst)


def conditional_divisor(analytic, numeric):
    size = max(numeric.max(), -numeric.min())
    return np.array(abs(analytic - numeric).max() / (1 if size < 1e-7 else size))


def python_loop(analytic, numeric):
    worst = scale = 0.0
    for a, n in zip(analytic.ravel().tolist(), numeric.ravel().tolist()):
        worst, scale = max(worst, abs(a - n)), max(scale, abs(n))
    return worst / scale if scale >= 1e-7 else worst


def _checker(name, numeric, error, draw):
    def check(forward, backward, x, rng, step=1e-5):
        out, cache = forward(x)
        dout = draw(rng, out)
        dx = backward(dout, cache)
        return error(dx, numeric(lambda at: forward(at)[0], x, dout, step))

    check.__name__ = name
    return check


def _normal(rng, out):
    return rng.normal(size=out.shape)


# The order of calls, and which copy of x they see, are free.
COMPOSED = [
    _checker("composed", two_copies_each, as_numpy_number, _normal),
    _checker(
        "moves_x_itself", in_place, by_infinity_norm, lambda rng, out: rng.normal(0, 1, out.shape)
    ),
    _checker(
        "standard_normal",
        flat_loop,
        conditional_divisor,
        lambda rng, out: rng.standard_normal(out.shape),
    ),
    _checker(
        "error_in_float32",
        with_unit_vectors,
        lambda a, n: np.float32(python_loop(a, n)),
        _normal,
    ),
]


def measures_first(forward, backward, x, rng, step=1e-5):
    dout = rng.normal(size=forward(x.copy())[0].shape)
    numeric = two_copies_each(lambda at: forward(at)[0], x, dout, step)
    return by_infinity_norm(backward(dout.copy(), forward(x)[1]), numeric)


def reuses_nothing(forward, backward, x, rng, step=1e-5):
    out, cache = forward(x)
    dout = np.zeros_like(out)
    for index in np.ndindex(out.shape):
        dout[index] = rng.normal()
    numeric = np.zeros_like(x)
    for index in np.ndindex(x.shape):
        pair = []
        for h in (step, -step):
            moved = x.copy()
            moved[index] += h
            pair.append(np.sum(forward(moved)[0] * dout))
        numeric[index] = (pair[0] - pair[1]) / (2 * step)
    return as_numpy_number(backward(dout, cache), numeric)


VARIANTS = {
    "numerical_gradient": [
        (in_place,),
        (with_unit_vectors,),
        (two_copies_each,),
        (flat_loop,),
        (prints_and_gives_float32,),
    ],
    "gradient_error": [
        (as_numpy_number,),
        (by_infinity_norm,),
        (conditional_divisor,),
        (python_loop,),
    ],
    "gradcheck": [
        *((check,) for check in COMPOSED),
        (measures_first,),
        (reuses_nothing,),
    ],
}
