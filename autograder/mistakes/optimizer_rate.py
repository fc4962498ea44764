"""Known wrong schedules of the learning rate (ids LR...)."""

from __future__ import annotations

import math

from autograder.mistakes.registry import Family, Function

wrong = Family("learning_rate_at")


def _rising(step: int, peak: float, warmup: int) -> float:
    return peak * (step + 1) / warmup


def _wave(done: float, peak: float, floor: float) -> float:
    return floor + (peak - floor) * (1 + math.cos(math.pi * done)) / 2


def _share(step: int, warmup: int, total: int) -> float:
    return min(1.0, (step - warmup) / (total - warmup))


def _wrong_rise(id: str, name: str, sentence: str, rise: Function) -> None:
    """Register a wrong warm-up, ``rise(step, peak, warmup, floor)``, with a right cosine."""

    def learning_rate_at(step, peak, warmup_steps, total_steps, floor):
        if step < warmup_steps:
            return rise(step, peak, warmup_steps, floor)
        return _wave(_share(step, warmup_steps, total_steps), peak, floor)

    wrong(id, name, sentence)(learning_rate_at)


def _wrong_fall(id: str, name: str, sentence: str, fall: Function) -> None:
    """Register a wrong fall, ``fall(share done, peak, floor)``, with a right warm-up and end."""

    def learning_rate_at(step, peak, warmup_steps, total_steps, floor):
        if step < warmup_steps:
            return _rising(step, peak, warmup_steps)
        return fall(_share(step, warmup_steps, total_steps), peak, floor)

    wrong(id, name, sentence)(learning_rate_at)


def _wrong_share(id: str, name: str, sentence: str, share: Function) -> None:
    """Register a wrong share done, ``share(step, warmup, total)``, with the right wave."""

    def learning_rate_at(step, peak, warmup_steps, total_steps, floor):
        if step < warmup_steps:
            return _rising(step, peak, warmup_steps)
        return _wave(share(step, warmup_steps, total_steps), peak, floor)

    wrong(id, name, sentence)(learning_rate_at)


_wrong_rise(
    "LR1", "warm-up from 0",
    "Your warm-up begins at 0, so the first step does nothing. Here step 0 has the rate "
    "peak / warmup_steps: multiply by step + 1.",
    lambda step, peak, warmup, floor: peak * step / warmup,
)  # fmt: skip
_wrong_rise(
    "LR2", "warm-up divided by one step too many",
    "You divide by warmup_steps + 1, so the warm-up ends below the peak. Here the last step of "
    "the warm-up has the rate peak: divide by warmup_steps.",
    lambda step, peak, warmup, floor: peak * (step + 1) / (warmup + 1),
)  # fmt: skip
_wrong_rise(
    "LR3", "warm-up from the floor",
    "Your warm-up rises from floor to peak. It rises in proportion to step + 1; floor is where "
    "the cosine ends.",
    lambda step, peak, warmup, floor: floor + (peak - floor) * (step + 1) / warmup,
)  # fmt: skip
_wrong_rise(
    "LR4", "no warm-up",
    "Your first steps already have the rate peak. For the first warmup_steps steps it is "
    "peak * (step + 1) / warmup_steps.",
    lambda step, peak, warmup, floor: peak,
)  # fmt: skip
_wrong_rise(
    "LR5", "warm-up in whole numbers",
    "Your warm-up divides whole numbers with //, which gives 0 until the end. Use /.",
    lambda step, peak, warmup, floor: peak * ((step + 1) // warmup),
)  # fmt: skip
_wrong_rise(
    "LR6", "warm-up along a cosine",
    "Your warm-up follows a cosine wave. It is a straight line: peak * (step + 1) / warmup_steps.",
    lambda step, peak, warmup, floor: _wave(1 - (step + 1) / warmup, peak, 0.0),
)  # fmt: skip
_wrong_rise(
    "LR7", "warm-up backwards",
    "Your rate falls during the warm-up. It rises, in proportion to step + 1.",
    lambda step, peak, warmup, floor: peak * (warmup - step) / warmup,
)  # fmt: skip

_wrong_share(
    "LR8", "warm-up counted as part of the cosine",
    "Your cosine began at step 0, so the rate jumps down where the warm-up ends. The share done "
    "counts from there: (step - warmup_steps) / (total_steps - warmup_steps).",
    lambda step, warmup, total: min(1.0, step / total),
)  # fmt: skip
_wrong_share(
    "LR9", "share done divided by all steps",
    "You divide step - warmup_steps by total_steps, so the floor is not reached in time. Only "
    "total_steps - warmup_steps are left after the warm-up.",
    lambda step, warmup, total: min(1.0, (step - warmup) / total),
)  # fmt: skip
_wrong_share(
    "LR10", "total_steps counted from the end of the warm-up",
    "Your cosine is total_steps long, and ends at warmup_steps + total_steps with a rate that is "
    "cut off before. total_steps includes the warm-up.",
    lambda step, warmup, total: (step - warmup) / total if step < total else 1.0,
)  # fmt: skip
_wrong_share(
    "LR11", "the wave goes on",
    "After total_steps your rate rises again with the wave. From total_steps on it is floor: "
    "stop the share done at 1.",
    lambda step, warmup, total: (step - warmup) / (total - warmup),
)  # fmt: skip
_wrong_share(
    "LR12", "one step too early",
    "Your cosine ends at total_steps - 1. At total_steps, and not before, the rate is floor: "
    "divide by total_steps - warmup_steps.",
    lambda step, warmup, total: min(1.0, (step - warmup) / (total - warmup - 1)),
)  # fmt: skip
_wrong_share(
    "LR13", "the wave one step ahead",
    "Your cosine counts one step too many. At step warmup_steps the share done is 0 and the rate "
    "is peak.",
    lambda step, warmup, total: min(1.0, (step + 1 - warmup) / (total - warmup)),
)  # fmt: skip
_wrong_share(
    "LR14", "begins anew at the end",
    "After total_steps your rate jumps back to the peak. From there on it is floor.",
    lambda step, warmup, total: ((step - warmup) / (total - warmup)) % 1.0
    if step > total else (step - warmup) / (total - warmup),
)  # fmt: skip

_wrong_fall(
    "LR15", "a straight line instead of the cosine",
    "Your rate falls along a straight line. The cosine wave is flat at both ends: "
    "(1 + cos(pi * s)) / 2.",
    lambda s, peak, floor: peak + (floor - peak) * s,
)  # fmt: skip
_wrong_fall(
    "LR16", "pi left out",
    "You took the cosine of the share done itself, so only a third of the way down is made. Half "
    "a wave is cos(pi * s).",
    lambda s, peak, floor: floor + (peak - floor) * (1 + math.cos(s)) / 2,
)  # fmt: skip
_wrong_fall(
    "LR17", "a whole wave",
    "You took cos(2 * pi * s), a whole wave: the rate is back at the peak in the end. Half a "
    "wave is cos(pi * s).",
    lambda s, peak, floor: _wave(2 * s, peak, floor),
)  # fmt: skip
_wrong_fall(
    "LR18", "a quarter of a wave",
    "You used cos(pi / 2 * s). It falls from 1 to 0, but slowly at first and steeply in the end. "
    "Here it is (1 + cos(pi * s)) / 2, flat at both ends.",
    lambda s, peak, floor: floor + (peak - floor) * math.cos(math.pi / 2 * s),
)  # fmt: skip
_wrong_fall(
    "LR19", "one half left out",
    "1 + cos(pi * s) begins at 2, so your rate begins far above the peak. Divide it by 2.",
    lambda s, peak, floor: floor + (peak - floor) * (1 + math.cos(math.pi * s)),
)  # fmt: skip
_wrong_fall(
    "LR20", "floor left out",
    "Your rate falls to 0. It falls to floor: floor + (peak - floor) * (1 + cos(pi * s)) / 2.",
    lambda s, peak, floor: _wave(s, peak, 0.0),
)  # fmt: skip
_wrong_fall(
    "LR21", "floor added on top",
    "You added floor to the whole wave, so the rate begins at peak + floor. Only peak - floor is "
    "left to the wave.",
    lambda s, peak, floor: floor + _wave(s, peak, 0.0),
)  # fmt: skip
_wrong_fall(
    "LR22", "cut off at the floor",
    "Your rate heads for 0 and is cut off at floor. The wave itself ends at floor: its height is "
    "peak - floor.",
    lambda s, peak, floor: max(floor, _wave(s, peak, 0.0)),
)  # fmt: skip
_wrong_fall(
    "LR23", "the wave upside down",
    "Your rate rises from floor to peak after the warm-up: a sign is wrong. It begins with "
    "cos(0) = 1 and falls.",
    lambda s, peak, floor: _wave(1 - s, peak, floor),
)  # fmt: skip
_wrong_fall(
    "LR24", "no fall",
    "After the warm-up your rate stays at the peak. It falls to floor along half a cosine wave.",
    lambda s, peak, floor: peak,
)  # fmt: skip
_wrong_fall(
    "LR25", "an exponential instead of the cosine",
    "Your rate falls by the same factor in every step. Here it follows half a cosine wave, flat "
    "at both ends.",
    lambda s, peak, floor: peak * (floor / peak) ** s,
)  # fmt: skip
_wrong_fall(
    "LR26", "degrees",
    "You gave the cosine an angle in degrees. math.cos and np.cos take radians: half a wave is "
    "cos(pi * s).",
    lambda s, peak, floor: floor + (peak - floor) * (1 + math.cos(180 * s)) / 2,
)  # fmt: skip
_wrong_fall(
    "LR30", "a factor instead of a rate",
    "Your cosine runs from 1 to floor, as a factor. The function returns the rate itself: "
    "floor + (peak - floor) * (1 + cos(pi * s)) / 2.",
    lambda s, peak, floor: _wave(s, 1.0, floor),
)  # fmt: skip


@wrong(
    "LR27", "warm-up one step too long",
    "Your warm-up includes step warmup_steps, whose rate then is larger than the peak. It covers "
    "steps 0 to warmup_steps - 1: ask for step < warmup_steps.",
)  # fmt: skip
def _too_long(step, peak, warmup_steps, total_steps, floor):
    if 0 < step <= warmup_steps or step < warmup_steps:
        return _rising(step, peak, warmup_steps)
    return _wave(_share(step, warmup_steps, total_steps), peak, floor)


@wrong(
    "LR28", "no warm-up divides by zero",
    "Your function divides by warmup_steps even if it is 0. Without a warm-up step 0 has the rate "
    "peak: ask whether step < warmup_steps before you divide.",
)  # fmt: skip
def _divides_by_zero(step, peak, warmup_steps, total_steps, floor):
    rising = _rising(step, peak, warmup_steps)
    return rising if step < warmup_steps else _wave(
        _share(step, warmup_steps, total_steps), peak, floor
    )  # fmt: skip


@wrong(
    "LR29", "0 after the end",
    "After total_steps your rate is 0. From there on it is floor.",
)  # fmt: skip
def _nothing_left(step, peak, warmup_steps, total_steps, floor):
    if step < warmup_steps:
        return _rising(step, peak, warmup_steps)
    if step > total_steps:
        return 0.0
    return _wave(_share(step, warmup_steps, total_steps), peak, floor)
