"""What an answer says beside its value, read with distrust."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograder.sandbox.errors import CallFailed, ProtocolError, call_failed
from autograder.sandbox.values import read_generator_state


def read_failure(failure: Any) -> CallFailed:
    """Make the exception that an answer reports."""
    if type(failure) is not list or [type(part) for part in failure] != [str, str, str]:
        raise ProtocolError("an exception is not made of three texts")
    name, builtin, text = failure
    return call_failed(name, text, builtin)


def _argument(place: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if type(place) is int and 0 <= place < len(args):
        return args[place]
    if type(place) is str and place in kwargs:
        return kwargs[place]
    raise ProtocolError("an answer names an argument that was not given")


def changed_places(places: Any, count: int, kwargs: dict[str, Any]) -> tuple[int | str, ...]:
    """Read which arguments an answer reports as changed."""
    if type(places) is not list or len(places) > count + len(kwargs):
        raise ProtocolError("the changed arguments are no short list")
    for place in places:
        _argument(place, (None,) * count, kwargs)
    return tuple(dict.fromkeys(places))


def generator_states(
    states: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> list[tuple[np.random.Generator, dict[str, Any]]]:
    """Read the states that an answer reports for the generators among the arguments."""
    if type(states) is not list or len(states) > len(args) + len(kwargs):
        raise ProtocolError("the generators are no short list")
    result = []
    for pair in states:
        if type(pair) is not list or len(pair) != 2:
            raise ProtocolError("a generator's state has no place")
        generator = _argument(pair[0], args, kwargs)
        if type(generator) is not np.random.Generator:
            raise ProtocolError("a state came for an argument that is no generator")
        result.append((generator, read_generator_state(pair[1])))
    return result
