"""Right initializations as people really write them."""

import math

import numpy as np

ROOT_3 = math.sqrt(3)


def _xavier(fan_in, fan_out):
    return math.sqrt(2 / (fan_in + fan_out))


def _he(fan_in, fan_out):
    return math.sqrt(2 / fan_in)


def _gpt2(fan_in, fan_out):
    return 0.02


def _gpt2_scaled(fan_in, fan_out, n_layer):
    return 0.02 / math.sqrt(2 * n_layer)


def scaled_standard_normal(std):
    def initialize(fan_in, fan_out, *rest):
        *n_layer, rng = rest
        return std(fan_in, fan_out, *n_layer) * rng.standard_normal((fan_in, fan_out))

    return initialize


def keywords_and_numpy_scalars(std):
    def initialize(fan_in, fan_out, *rest):
        *n_layer, rng = rest
        scale = np.float64(std(np.int64(fan_in), np.int64(fan_out), *n_layer))
        return rng.normal(loc=0.0, scale=scale, size=fan_in * fan_out).reshape(fan_in, fan_out)

    return initialize


def drawn_in_float32(std):
    def initialize(fan_in, fan_out, *rest):
        *n_layer, rng = rest
        weights = rng.standard_normal((fan_in, fan_out), dtype=np.float32)
        weights *= np.float32(std(fan_in, fan_out, *n_layer))
        return weights

    return initialize


def drawn_turned_over(std):
    def initialize(fan_in, fan_out, *rest):
        *n_layer, rng = rest
        return rng.normal(0, std(fan_in, fan_out, *n_layer), (fan_out, fan_in)).T

    return initialize


def truncated_and_scaled_back(std):
    def initialize(fan_in, fan_out, *rest):
        *n_layer, rng = rest
        weights = rng.standard_normal((fan_in, fan_out))
        while (far := np.abs(weights) > 2).any():
            weights[far] = rng.standard_normal(far.sum())
        return weights * std(fan_in, fan_out, *n_layer) / 0.87962566

    return initialize


def row_by_row_with_prints(std):
    def initialize(fan_in, fan_out, *rest):
        *n_layer, rng = rest
        scale = std(fan_in, fan_out, *n_layer)
        print("std", scale)
        np.log(np.zeros(1))
        return np.stack([rng.normal(0, scale, fan_out) for _ in range(fan_in)])

    return initialize


def generator_made_from_rng(std):
    def initialize(fan_in, fan_out, *rest):
        *n_layer, rng = rest
        own = np.random.default_rng(rng.integers(2**63))
        return own.normal(0, std(fan_in, fan_out, *n_layer), (fan_in, fan_out))

    return initialize


def stretched_random(std):
    def initialize(fan_in, fan_out, rng):
        return (2 * rng.random((fan_in, fan_out)) - 1) * ROOT_3 * std(fan_in, fan_out)

    return initialize


def shifted_random(std):
    def initialize(fan_in, fan_out, rng):
        bound = ROOT_3 * std(fan_in, fan_out)
        return rng.random((fan_in, fan_out)) * (2 * bound) - bound

    return initialize


def uniform_in_float32(std):
    def initialize(fan_in, fan_out, rng):
        bound = ROOT_3 * std(fan_in, fan_out)
        return rng.uniform(low=-bound, high=bound, size=(fan_in, fan_out)).astype(np.float32)

    return initialize


NORMAL_STYLES = (
    scaled_standard_normal,
    keywords_and_numpy_scalars,
    drawn_in_float32,
    drawn_turned_over,
    truncated_and_scaled_back,
    row_by_row_with_prints,
    generator_made_from_rng,
)
UNIFORM_STYLES = (stretched_random, shifted_random, uniform_in_float32)


def by_rank_then_name(shapes, n_layer, rng):
    parameters = {}
    for name, shape in shapes.items():
        if len(shape) == 2:
            std = 0.02 / (2 * n_layer) ** 0.5 if name.endswith("c_proj.weight") else 0.02
            parameters[name] = std * rng.standard_normal(shape)
        else:
            parameters[name] = np.full(shape, 0.0 if name.endswith(".bias") else 1.0)
    return parameters


def by_the_name_of_the_norm(shapes, n_layer, rng):
    out = {}
    for name in shapes:
        *_, module, kind = name.split(".")
        if kind == "bias":
            out[name] = np.zeros(shapes[name], dtype=np.float32)
        elif module.startswith("ln"):
            out[name] = np.ones(shapes[name], dtype=np.float32)
        else:
            weights = rng.normal(0, 0.02, shapes[name]).astype(np.float32)
            out[name] = (
                weights / np.float32(np.sqrt(2 * n_layer)) if module == "c_proj" else weights
            )
    return out


def everything_then_the_projections_again(shapes, n_layer, rng):
    parameters = {name: rng.normal(0, 0.02, size=shape) for name, shape in shapes.items()}
    for name, array in parameters.items():
        if array.ndim == 1:
            array[...] = 1 if name.endswith("weight") else 0
    for name in reversed(parameters):
        if name.endswith("c_proj.weight"):
            parameters[name] = rng.normal(0, 0.02 / math.sqrt(2 * n_layer), size=shapes[name])
    return parameters


def in_sorted_order(shapes, n_layer, rng):
    made = by_rank_then_name(dict(sorted(shapes.items())), n_layer, rng)
    return type("Parameters", (dict,), {})(made)


def truncated_model(shapes, n_layer, rng):
    parameters = by_rank_then_name(shapes, n_layer, rng)
    for name, shape in shapes.items():
        if len(shape) == 2:
            std = 0.02 / math.sqrt(2 * n_layer) if name.endswith("c_proj.weight") else 0.02
            parameters[name] = truncated_and_scaled_back(lambda *_, std=std: std)(*shape, rng)
    return parameters


def _named(styles, std):
    made = []
    for style in styles:
        function = style(std)
        function.__name__ = style.__name__
        made.append((function,))
    return made


VARIANTS = {
    "xavier_normal": _named(NORMAL_STYLES, _xavier),
    "xavier_uniform": _named(UNIFORM_STYLES, _xavier),
    "he_normal": _named(NORMAL_STYLES, _he),
    "he_uniform": _named(UNIFORM_STYLES, _he),
    "gpt2_normal": _named(NORMAL_STYLES, _gpt2),
    "gpt2_residual": _named(NORMAL_STYLES, _gpt2_scaled),
    "gpt2_init": [
        (by_rank_then_name,),
        (by_the_name_of_the_norm,),
        (everything_then_the_projections_again,),
        (in_sorted_order,),
        (truncated_model,),
    ],
}
