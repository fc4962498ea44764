"""Right optimizers and schedules as people really write them."""

import math
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

import numpy as np


def loop_with_a_new_dict(params, grads, learning_rate):
    new = {}
    for name in params:
        new[name] = params[name] - learning_rate * grads[name]
    return new


def by_items_of_grads(params, grads, learning_rate):
    return {
        key: np.subtract(params[key], np.multiply(g, learning_rate)) for key, g in grads.items()
    }


def copies_then_in_place(params, grads, learning_rate):
    new = {name: value.copy() for name, value in params.items()}
    for name, g in grads.items():
        new[name] -= learning_rate * g
    return new


def in_float32(params, grads, learning_rate):
    return OrderedDict(
        (k, np.float32(p) - np.float32(learning_rate) * np.float32(grads[k]))
        for k, p in params.items()
    )


def new_arrays_in_the_old_dict(params, grads, learning_rate):
    for name in params:
        params[name] = params[name] - learning_rate * grads[name]
    return params


def entry_by_entry(params, grads, learning_rate):
    new = {}
    for name, p in params.items():
        new[name] = np.zeros(p.shape)
        for index in np.ndindex(p.shape):
            new[name][index] = p[index] - learning_rate * grads[name][index]
    return new


def state_in_a_dict(params, grads, state, learning_rate, beta1=0.9, beta2=0.999, eps=1e-8):
    if state is None:
        state = {"t": 0, "m": {}, "v": {}}
        for name, p in params.items():
            state["m"][name] = np.zeros_like(p)
            state["v"][name] = np.zeros_like(p)
    state["t"] += 1
    new = {}
    for name, g in grads.items():
        state["m"][name] = beta1 * state["m"][name] + (1 - beta1) * g
        state["v"][name] = beta2 * state["v"][name] + (1 - beta2) * g**2
        m_hat = state["m"][name] / (1 - beta1 ** state["t"])
        v_hat = state["v"][name] / (1 - beta2 ** state["t"])
        new[name] = params[name] - learning_rate * m_hat / (np.sqrt(v_hat) + eps)
    return new, state


def moments_updated_in_place(params, grads, state, learning_rate, beta1=0.9, beta2=0.999, eps=1e-8):
    t, m, v = state or (
        0,
        {k: 0 * p for k, p in params.items()},
        {k: 0 * p for k, p in params.items()},
    )
    t, new = t + 1, dict(params)
    for k, g in grads.items():
        m[k] *= beta1
        m[k] += (1 - beta1) * g
        v[k] += (1 - beta2) * (g * g - v[k])
        new[k] = new[k] - learning_rate * (m[k] / (1 - beta1**t)) / (
            (v[k] / (1 - beta2**t)) ** 0.5 + eps
        )
    return new, [t, m, v]


def correction_folded_into_the_rate(
    params, grads, state, learning_rate, beta1=0.9, beta2=0.999, eps=1e-8
):
    state = dict(state or {})
    t = state["t"] = state.get("t", 0) + 1
    c1, c2 = 1 - beta1**t, 1 - beta2**t
    new = {}
    for name, p in params.items():
        m, v = state.get(name, (0.0, 0.0))
        m, v = beta1 * m + (1 - beta1) * grads[name], beta2 * v + (1 - beta2) * grads[name] ** 2
        state[name] = (m, v)
        new[name] = p - learning_rate * np.sqrt(c2) / c1 * m / (np.sqrt(v) + eps * np.sqrt(c2))
    return new, state


@dataclass
class Memory:
    t: int = 0
    m: dict = field(default_factory=dict)
    v: dict = field(default_factory=dict)


def state_is_an_object(params, grads, state, learning_rate, beta1=0.9, beta2=0.999, eps=1e-8):
    state = state if state is not None else Memory()
    state.t += 1
    new = {}
    for k, g in grads.items():
        m = state.m[k] = beta1 * state.m.get(k, 0) + (1 - beta1) * g
        v = state.v[k] = beta2 * state.v.get(k, 0) + (1 - beta2) * np.square(g)
        new[k] = params[k] - learning_rate * m / (1 - beta1**state.t) / (
            np.sqrt(v / (1 - beta2**state.t)) + eps
        )
    return new, state


def running_products_of_the_betas(
    params, grads, state, learning_rate, beta1=0.9, beta2=0.999, eps=1e-8
):
    left1, left2, moments = (1.0, 1.0, {}) if state is None else state
    left1, left2 = left1 * beta1, left2 * beta2
    new, after = {}, {}
    for k, p in params.items():
        m, v = moments.get(k, np.zeros((2, *p.shape)))
        m, v = m + (1 - beta1) * (grads[k] - m), v + (1 - beta2) * (grads[k] ** 2 - v)
        after[k] = np.stack([m, v])
        new[k] = p - learning_rate * (m / (1 - left1)) / (eps + np.sqrt(v / (1 - left2)))
    return new, (left1, left2, after)


def everything_in_float32(params, grads, state, learning_rate, beta1=0.9, beta2=0.999, eps=1e-8):
    params = {k: p.astype(np.float32) for k, p in params.items()}
    grads = {k: g.astype(np.float32) for k, g in grads.items()}
    return state_in_a_dict(params, grads, state, learning_rate, beta1, beta2, eps)


def one_flat_vector(params, grads, state, learning_rate, beta1=0.9, beta2=0.999, eps=1e-8):
    print("step")
    np.log(np.zeros(1))
    p, g = (np.concatenate([d[k].ravel() for k in params]) for d in (params, grads))
    made, state = state_in_a_dict({"": p}, {"": g}, state, learning_rate, beta1, beta2, eps)
    new, start = {}, 0
    for k, old in params.items():
        new[k] = made[""][start : start + old.size].reshape(old.shape)
        start += old.size
    return new, state


def one_adam_for_each_array(params, grads, state, learning_rate, *rest, **others):
    state = dict.fromkeys(params) if state is None else state
    new = {}
    for k in params:
        made, state[k] = state_is_an_object(
            {k: params[k]}, {k: grads[k]}, state[k], learning_rate, *rest, **others
        )
        new |= made
    return new, state


def adam_then_decay(adam: Any):
    def adamw(params, grads, state, learning_rate, weight_decay, *rest, **others):
        new, state = adam(dict(params), grads, state, learning_rate, *rest, **others)
        for name, p in params.items():
            if p.ndim >= 2:
                new[name] = new[name] - learning_rate * weight_decay * p
        return new, state

    return adamw


def shrunk_before_the_step(
    params, grads, state, learning_rate, weight_decay, beta1=0.9, beta2=0.999, eps=1e-8
):
    shrunk = {
        name: p * (1 - learning_rate * weight_decay) if len(p.shape) > 1 else p
        for name, p in params.items()
    }
    return correction_folded_into_the_rate(shrunk, grads, state, learning_rate, beta1, beta2, eps)


def decay_beside_the_fraction(
    params, grads, state, learning_rate, weight_decay, beta1=0.9, beta2=0.999, eps=1e-8
):
    state = {"t": 0} if state is None else state
    t = state["t"] = state["t"] + 1
    new = {}
    for k, p in params.items():
        m, v = state.get(k, (np.zeros(p.shape), np.zeros(p.shape)))
        m, v = beta1 * m + (1 - beta1) * grads[k], beta2 * v + (1 - beta2) * grads[k] ** 2
        state[k] = [m, v]
        u = (m / (1 - beta1**t)) / (np.sqrt(v / (1 - beta2**t)) + eps)
        decays = weight_decay if p.ndim != 1 and p.ndim != 0 else 0.0
        new[k] = p - learning_rate * (u + decays * p)
    return new, state


def half_a_wave(step, peak, warmup_steps, total_steps, floor):
    if step < warmup_steps:
        return peak * (step + 1) / warmup_steps
    if step >= total_steps:
        return floor
    share = (step - warmup_steps) / (total_steps - warmup_steps)
    return floor + 0.5 * (peak - floor) * (1 + np.cos(np.pi * share))


def cosine_of_half_the_angle(step, peak, warmup_steps, total_steps, floor):
    if step < warmup_steps:
        return (step + 1) * (peak / warmup_steps)
    share = np.clip((step - warmup_steps) / (total_steps - warmup_steps), 0, 1)
    weight = np.cos(np.pi * share / 2) ** 2
    return weight * peak + (1 - weight) * floor


def as_an_array_of_one(step, peak, warmup_steps, total_steps, floor):
    return np.array(half_a_wave(step, peak, warmup_steps, total_steps, floor))


def in_single_precision(step, peak, warmup_steps, total_steps, floor):
    return np.float32(half_a_wave(step, peak, warmup_steps, total_steps, floor))


def by_the_middle(step, peak, warmup_steps, total_steps, floor):
    middle, height = (peak + floor) / 2, (peak - floor) / 2
    if step in range(warmup_steps):
        return peak - peak * (warmup_steps - 1 - step) / warmup_steps
    step = min(step, total_steps)
    angle = math.pi * (total_steps - step) / (total_steps - warmup_steps)
    return middle - height * math.cos(angle)


ADAMS = (
    state_in_a_dict,
    moments_updated_in_place,
    correction_folded_into_the_rate,
    state_is_an_object,
    running_products_of_the_betas,
    everything_in_float32,
    one_flat_vector,
    one_adam_for_each_array,
)


def _decaying(adam):
    function = adam_then_decay(adam)
    function.__name__ = f"{adam.__name__}_then_decay"
    return function


VARIANTS = {
    "sgd_step": [
        (loop_with_a_new_dict,),
        (by_items_of_grads,),
        (copies_then_in_place,),
        (in_float32,),
        (new_arrays_in_the_old_dict,),
        (entry_by_entry,),
    ],
    "adam_step": [(adam,) for adam in ADAMS],
    "adamw_step": [
        *((_decaying(adam),) for adam in ADAMS),
        (shrunk_before_the_step,),
        (decay_beside_the_fraction,),
    ],
    "learning_rate_at": [
        (half_a_wave,),
        (cosine_of_half_the_angle,),
        (as_an_array_of_one,),
        (in_single_precision,),
        (by_the_middle,),
    ],
}
