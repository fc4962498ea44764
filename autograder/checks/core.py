"""The one procedure behind every check: observe, compare, score, name the misconception."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograder.checks.compare import Observation, distance, explain
from autograder.checks.observe import RefusedError
from autograder.checks.report import Outcome, Report, publish
from autograder.mistakes import Mistake, mistakes_of

Functions = tuple[Callable[..., Any], ...]
Observe = Callable[[Functions, np.random.Generator], Observation]

# Two implementations with the same mistake agree to rounding, in float32 too; different
# mistakes on the same inputs lie further apart than this.
MATCH_RTOL = 1e-3


@dataclass(frozen=True)
class Property:
    """One thing that a check asks of an answer.

    Attributes
    ----------
    name : str
        As the statement of the exercise lists it.
    weight : float
        Share of the points; the weights of a check add up to 1.
    observe : callable
        ``observe(functions, rng)`` draws inputs, calls, and returns named values. The same
        procedure run on the reference gives what is right.
    given : str
        The inputs in words, shown when the property is lost.
    rtol : float
        Largest distance from the reference that still counts as right.
    expected : mapping, optional
        What is right where the reference is random: `Within` statistics, flags.
    needs : str, optional
        Name of a property without which this one counts nothing.
    noise : float
        Sampling noise of the observed statistics, which the naming of a mistake allows for.
    """

    name: str
    weight: float
    observe: Observe
    given: str
    rtol: float = 1e-3
    expected: Mapping[str, Any] | None = None
    needs: str | None = None
    noise: float = 0.0


@dataclass(frozen=True)
class Check:
    """All that is asked of one exercise function, and what is right."""

    function: str
    layer: str
    properties: tuple[Property, ...]
    reference: Functions
    on_failure: Callable[[Functions, np.random.Generator], str | None] | None = None

    @property
    def takes(self) -> tuple[str, ...]:
        """Names of the student functions that the check needs, in order."""
        return tuple(function.__name__ for function in self.reference)

    def __post_init__(self) -> None:
        """Refuse weights that do not add up to the whole."""
        total = sum(prop.weight for prop in self.properties)
        if abs(total - 1.0) > 1e-9:
            raise ValueError(f"{self.function}: property weights must add up to 1; got {total}")

    def run(self, functions: Functions, points: float, seed: int | None = None) -> float:
        """Grade `functions`, publish the report, and return the score in ``[0, points]``."""
        report = self.report(functions, points, draw_seed(self.function) if seed is None else seed)
        publish(report)
        return report.score

    def report(self, functions: Functions, points: float, seed: int) -> Report:
        """Grade `functions` on the inputs that `seed` gives."""
        got = [self._observe(prop, functions, seed) for prop in self.properties]
        reasons = [self._judge(prop, seen, seed) for prop, seen in zip(self.properties, got)]
        outcomes = self._score(reasons, points)
        earned = sum(outcome.earned for outcome in outcomes)
        perfect = all(reason is None for reason in reasons)
        score = float(points) if perfect else round(float(earned), 2)
        found = None if perfect else self._name(got, reasons, seed)
        sentence = found.sentence if found else None
        if not perfect and found is None and self.on_failure is not None:
            sentence = self.on_failure(functions, self._rng(self.properties[0], seed))
        return Report(
            self.function, float(points), score, outcomes,
            found.id if found else None, found.name if found else None, sentence, seed,
        )  # fmt: skip

    def _rng(self, prop: Property, seed: int) -> np.random.Generator:
        return np.random.default_rng([seed, self.properties.index(prop)])

    def _observe(self, prop: Property, functions: Functions, seed: int) -> Observation:
        try:
            return prop.observe(functions, self._rng(prop, seed))
        except RefusedError as refused:
            return {"refused": str(refused)}

    def _judge(self, prop: Property, seen: Observation, seed: int) -> str | None:
        if "refused" in seen:
            return f"{self.function} {seen['refused']} (given {prop.given})"
        right = prop.expected
        if right is None:
            right = self._observe(prop, self.reference, seed)
        for name, expected in right.items():
            problem = explain(name, seen[name], expected, prop.rtol)
            if problem is not None:
                return f"{problem} (given {prop.given})"
        return None

    def _score(self, reasons: Sequence[str | None], points: float) -> tuple[Outcome, ...]:
        passed = {prop.name: reason is None for prop, reason in zip(self.properties, reasons)}
        outcomes = []
        for prop, reason in zip(self.properties, reasons):
            worth = round(prop.weight * points, 2)
            if reason is None and prop.needs is not None and not passed[prop.needs]:
                reason = f'counts only together with "{prop.needs}"'
            outcomes.append(Outcome(prop.name, worth, worth if reason is None else 0.0, reason))
        return tuple(outcomes)

    def _name(
        self, got: Sequence[Observation], reasons: Sequence[str | None], seed: int
    ) -> Mistake | None:
        """Find the known mistake that gives the same observations on the same inputs.

        Where none agrees in everything, one that agrees in every property that stands on its own
        will do: a second, smaller fault must not hide the first.
        """
        every = list(range(len(reasons)))
        main = [i for i in every if self.properties[i].needs is None]
        # Where points were lost the mistakes differ: most are ruled out by one look there. But one
        # that remembers earlier calls shows itself only in their order.
        tries = [sorted(every, key=lambda i: reasons[i] is None), every]
        if any(reasons[i] is not None for i in main):
            tries.append(main)
        for tried in tries:
            properties, seen = [self.properties[i] for i in tried], [got[i] for i in tried]
            if found := self._closest(properties, seen, seed):
                return found
        return None

    def _closest(
        self, properties: Sequence[Property], got: Sequence[Observation], seed: int
    ) -> Mistake | None:
        best, best_gap = None, np.inf
        for mistake in mistakes_of(self.function, self.layer):
            gap = self._gap(mistake.functions(), properties, got, seed)
            if gap < best_gap:
                best, best_gap = mistake, gap
        return best if best_gap <= 1.0 else None

    def _gap(
        self,
        functions: Functions,
        properties: Sequence[Property],
        got: Sequence[Observation],
        seed: int,
    ) -> float:
        """Largest distance between the two sets of observations, 1 being the limit of a match."""
        worst = 0.0
        for prop, seen in zip(properties, got):
            other = self._observe(prop, functions, seed)
            if seen.keys() != other.keys():
                return np.inf
            limit = max(MATCH_RTOL, prop.noise)
            for name in seen:
                worst = max(worst, _match(name, seen[name], other[name]) / limit)
            if worst > 1.0:
                return worst
        return worst


def _match(name: str, seen: Any, other: Any) -> float:
    if name == "refused":
        # "raised ValueError: ..." agrees by its type; the message varies with the code.
        return 0.0 if seen.split(":")[0] == other.split(":")[0] else np.inf
    return distance(seen, other)


_SALT: ContextVar[str] = ContextVar("salt", default="")


@contextlib.contextmanager
def seeding(salt: str) -> Iterator[None]:
    """Derive the seeds of the checks inside from `salt` too, such as a submission's digest."""
    token = _SALT.set(salt)
    try:
        yield
    finally:
        _SALT.reset(token)


def draw_seed(function: str) -> int:
    """Derive the seed of a check from the course secret, so that an appeal can repeat it."""
    secret = os.environ.get("LAYERS_COURSE_SECRET", "layers-from-scratch")
    text = f"{_SALT.get()}/{function}".encode()
    digest = hashlib.blake2b(text, key=secret.encode()[:64], digest_size=6)
    return int.from_bytes(digest.digest(), "big")
