"""What a known wrong implementation is, and where all of them are kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Function = Callable[..., Any]


@dataclass(frozen=True)
class Mistake:
    """One known wrong implementation of an exercise function.

    Attributes
    ----------
    id : str
        Stable id such as ``"LF1"``; reports and records use it.
    function : str
        The exercise function that it gets wrong.
    name : str
        The mistake in a few words.
    sentence : str
        What a student reads: what they did, what is right, and why.
    equivalent : frozenset of str
        Ids of mistakes that give the same results on every admissible input.
    """

    id: str
    function: str
    name: str
    sentence: str
    equivalent: frozenset[str]
    _make: Callable[[], tuple[Function, ...]] = field(repr=False)

    def functions(self) -> tuple[Function, ...]:
        """Give the functions that a check of `function` takes, with fresh state."""
        return self._make()


@dataclass(frozen=True)
class Family:
    """The mistakes of one exercise function: how bare formulas become student functions.

    Attributes
    ----------
    function : str
        The exercise function.
    adapt : callable
        Turns a bare formula into a function with the exercise's signature.
    partners : tuple of callable
        Right functions that the check needs besides, such as the forward pass.
    """

    function: str
    adapt: Callable[[Function], Function] = lambda formula: formula
    partners: tuple[Function, ...] = ()

    def __call__(
        self,
        id: str,
        name: str,
        sentence: str,
        *,
        equivalent: tuple[str, ...] = (),
        factory: bool = False,
    ) -> Callable[[Function], Function]:
        """Register the decorated formula; with `factory` it is called to make a fresh one."""

        def register(formula: Function) -> Function:
            def make() -> tuple[Function, ...]:
                fresh = formula() if factory else formula
                return (*self.partners, self.adapt(fresh))

            _add(Mistake(id, self.function, name, sentence, frozenset(equivalent), make))
            return formula

        return register


_MISTAKES: dict[str, Mistake] = {}


def _add(mistake: Mistake) -> None:
    if mistake.id in _MISTAKES:
        raise ValueError(f"mistake {mistake.id} is registered twice; ids are unique")
    _MISTAKES[mistake.id] = mistake


def registered() -> dict[str, Mistake]:
    """Give every mistake registered so far by id, in the order of registration."""
    return dict(_MISTAKES)
