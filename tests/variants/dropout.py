"""Right dropouts as people really write them."""

import numpy as np


def at_least_p(x, p, training, rng):
    if not training:
        return x, None
    mask = rng.random(x.shape) >= p
    return x * mask / (1 - p), mask


def below_keep(x, p, training, rng):
    keep = 1 - p
    mask = rng.random(size=x.shape) < keep
    out = x * mask.astype(x.dtype) / keep if training else x.copy()
    return out, {"mask": mask, "keep": keep}


def scale_inside_mask(x, p, training, rng):
    mask = ((rng.random(x.shape) > p) / (1.0 - p)).astype(x.dtype)
    return (x * mask if training else x), mask


def binomial(x, p, training, rng):
    mask = rng.binomial(1, 1 - p, size=x.shape) if training else np.ones(x.shape)
    out = x * mask / (1 - p) if training else x * mask
    return out.astype(x.dtype), mask


def choice(x, p, training, rng):
    if not training:
        return np.array(x), ()
    mask = rng.choice([0.0, 1.0], size=x.shape, p=[p, 1 - p])
    return np.asarray(mask * x / (1 - p), dtype=x.dtype), mask


def where(x, p, training, rng):
    if not training or p == 0:
        return x, None
    dropped = rng.random(x.shape) < p
    return np.where(dropped, 0, x / (1 - p)).astype(x.dtype), dropped


def zeros_assigned(x, p, training, rng):
    out = x.copy()
    if training:
        out[rng.random(x.shape) < p] = 0
        out /= 1 - p
    return out, None


def multiplied_by_one(x, p, training, rng):
    mask = (rng.uniform(0, 1, x.shape) >= p) / (1 - p) if training else 1.0
    return np.multiply(x, mask, dtype=x.dtype), mask


def drawn_in_float32(x, p, training, rng):
    x = x.astype(np.float32)
    keep = rng.random(x.shape, dtype=np.float32) >= np.float32(p)
    return (np.where(keep, x * np.float32(1 / (1 - p)), np.float32(0)) if training else x), keep


def python_loop(x, p, training, rng):
    out = np.zeros_like(x)
    for index in np.ndindex(x.shape):
        if not training or rng.random() >= p:
            out[index] = x[index] / (1 - p if training else 1)
    return out, None


def drawn_flat_in_inference_too(x, p, training, rng):
    keep = (rng.random(x.size) >= p).reshape(x.shape)
    return (np.where(keep, x / (1 - p), 0 * x) if training else x), keep


def prints_and_warns(x, p, training, rng):
    print("dropping", p)
    np.log(np.zeros(1))
    return at_least_p(x, p, training, rng)


def _mask_and_p(x, p, training, rng):
    if not training:
        return x, (None, 0.0)
    mask = rng.random(x.shape) >= p
    return x * mask / (1 - p), (mask, p)


def _dictionary(x, p, training, rng):
    mask = (rng.random(x.shape) >= p) / (1 - p) if training else np.ones(x.shape)
    return x * mask, {"mask": mask}


def _closure(x, p, training, rng):
    scale = 1 / (1 - p)
    keep = rng.binomial(1, 1 - p, x.shape)
    if not training:
        return x.copy(), lambda dout: dout
    return x * keep * scale, lambda dout: dout * keep * scale


def _state_of_rng(x, p, training, rng):
    generator = type(rng.bit_generator)
    state = rng.bit_generator.state
    keep = rng.random(x.shape) >= p
    return np.where(keep, x / (1 - p), 0) if training else x, (generator, state, p, training)


def _packed_bits(x, p, training, rng):
    if not training or p == 0.0:
        return x, None
    keep = rng.random(x.shape) >= p
    return np.where(keep, x / (1 - p), 0), (np.packbits(keep), p)


class _Layer:
    def forward(self, x, p, training, rng):
        self.mask = (rng.random(x.shape) < 1 - p) / (1 - p) if training else 1
        return x * self.mask


def _object(x, p, training, rng):
    layer = _Layer()
    return layer.forward(x, p, training, rng), layer


def mask_and_p(dout, cache):
    mask, p = cache
    return dout if mask is None else dout * mask / (1 - p)


def where_of_mask(dout, cache):
    mask, p = cache
    return dout.copy() if mask is None else np.where(mask, dout / (1 - p), 0.0)


def scaled_mask(dout, cache):
    return dout * cache["mask"]


def in_place(dout, cache):
    dout *= cache["mask"]
    return dout


def consumes_its_cache(dout, cache):
    return cache.pop("mask") * dout


def in_float32(dout, cache):
    return (dout * cache["mask"]).astype(np.float32)


def closure(dout, cache):
    return cache(dout)


def mask_drawn_again(dout, cache):
    generator, state, p, training = cache
    if not training:
        return dout
    bits = generator()
    bits.state = state
    return np.where(np.random.Generator(bits).random(dout.shape) >= p, dout / (1 - p), 0)


def packed_bits(dout, cache):
    if cache is None:
        return dout
    bits, p = cache
    keep = np.unpackbits(bits, count=dout.size).reshape(dout.shape)
    return dout * keep / (1 - p)


def layer_object(dout, cache):
    return dout * cache.mask


VARIANTS = {
    "dropout_forward": [
        (at_least_p,),
        (below_keep,),
        (scale_inside_mask,),
        (binomial,),
        (choice,),
        (where,),
        (zeros_assigned,),
        (multiplied_by_one,),
        (drawn_in_float32,),
        (python_loop,),
        (drawn_flat_in_inference_too,),
        (prints_and_warns,),
    ],
    "dropout_backward": [
        (_mask_and_p, mask_and_p),
        (_mask_and_p, where_of_mask),
        (_dictionary, scaled_mask),
        (_dictionary, in_place),
        (_dictionary, consumes_its_cache),
        (_dictionary, in_float32),
        (_closure, closure),
        (_state_of_rng, mask_drawn_again),
        (_packed_bits, packed_bits),
        (_object, layer_object),
    ],
}
