"""Whose a name is when a test cell reads it: the course's or the student's.

Decided from the master alone. What the course imports or defines in its own cells is the
course's, whatever a submission binds to the same name; everything else is the student's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from autograder.grading.master import Master, MasterCell
from autograder.grading.names import Names, bound_in, names_of


class Owner(Enum):
    """Who binds a name last, before a given cell."""

    STUDENT = "student"
    TEST = "test"
    HELPER = "helper"


@dataclass(frozen=True)
class Scope:
    """What the names of one test cell mean.

    Attributes
    ----------
    owners : mapping of str to Owner
        By name, for every name that the master binds before the cell.
    helpers : mapping of str to int
        Place of the course's own cell that defines a name.
    """

    owners: Mapping[str, Owner]
    helpers: Mapping[str, int]


@dataclass(frozen=True)
class Plan:
    """How the test cells of one master are run.

    Attributes
    ----------
    scopes : mapping of int to Scope
        By the place of a test cell.
    imports : mapping of str to str
        Names that the master imports anywhere, and the statements that do.
    stars : tuple of str
        Modules that it imports with ``*``.
    sources : tuple of str
        Of all cells of the master.
    """

    scopes: Mapping[int, Scope]
    imports: Mapping[str, str] = field(default_factory=dict)
    stars: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()


def plan_of(master: Master, forgeable: frozenset[str]) -> Plan:
    """Read whose each name is; test cells named in `forgeable` bind names of the student's."""
    owners: dict[str, Owner] = {}
    helpers: dict[str, int] = {}
    scopes: dict[int, Scope] = {}
    imports: dict[str, str] = {}
    stars: list[str] = []
    for place, known in enumerate(master.cells):
        if known.kind != "code":
            continue
        if known.is_test:
            scopes[place] = Scope(dict(owners), dict(helpers))
        for names in _versions(known):
            imports |= names.imports
            stars += names.stars
        owner = _owner(known, forgeable)
        for name in bound_by(known):
            owners[name] = owner
            if owner is Owner.HELPER:
                helpers[name] = place
    sources = tuple(cell.source for cell in master.cells)
    return Plan(scopes, imports, tuple(dict.fromkeys(stars)), sources)


def bound_by(known: MasterCell) -> frozenset[str]:
    """List what a cell of the master binds, in its starter or in its solution."""
    bound: frozenset[str] = frozenset()
    for names in _versions(known):
        bound |= names.binds
    if known.solution and not names_of(known.source).parsed:
        bound |= bound_in(known.source)
    return bound


def student_functions(master: Master) -> frozenset[str]:
    """List the functions and classes that students write."""
    found: frozenset[str] = frozenset()
    for known in master.cells:
        if known.kind == "code" and known.solution:
            for names in _versions(known):
                found |= names.defines
    return found


def forgeable_by_syntax(master: Master) -> dict[str, str]:
    """Name the test cells that cannot run outside the student's process, with the reason."""
    mine = student_functions(master)
    plan = plan_of(master, frozenset())
    found: dict[str, str] = {}
    for place, known in enumerate(master.cells):
        if known.is_test and known.grade_id:
            reason = _needs_process(names_of(known.source), mine, plan.scopes[place])
            if reason:
                found[known.grade_id] = reason
    return with_dependencies(master, found)


def with_dependencies(master: Master, forgeable: Mapping[str, str]) -> dict[str, str]:
    """Add the test cells whose names a forgeable cell reads: they must run where it does."""
    found = dict(forgeable)
    tests = [(i, known) for i, known in enumerate(master.cells) if known.is_test]
    for place, known in reversed(tests):
        if known.grade_id not in found:
            continue
        names = names_of(known.source)
        needed = names.reads - names.binds - set(names.imports)
        for before, earlier in reversed(tests):
            if before < place and earlier.grade_id and needed & names_of(earlier.source).binds:
                found.setdefault(earlier.grade_id, f"{known.grade_id} needs what it binds")
    return found


def _needs_process(names: Names, mine: frozenset[str], scope: Scope) -> str | None:
    if not names.parsed:
        return "it is not plain Python (a magic, a shell line or a top-level await)"
    if names.looks_inside:
        return f"it uses {names.looks_inside}"
    if rebound := names.binds & mine:
        return f"it binds {', '.join(sorted(rebound))} anew"
    own = names.binds | set(names.imports)
    theirs = {name for name in names.deletes - own
              if scope.owners.get(name, Owner.STUDENT) is Owner.STUDENT}  # fmt: skip
    if theirs:
        return f"it deletes {', '.join(sorted(theirs))}"
    return None


def _owner(known: MasterCell, forgeable: frozenset[str]) -> Owner:
    if known.is_test:
        return Owner.STUDENT if known.grade_id in forgeable else Owner.TEST
    return Owner.HELPER if known.locked and not known.solution else Owner.STUDENT


def _versions(known: MasterCell) -> tuple[Names, ...]:
    sources = dict.fromkeys(s for s in (known.source, known.solved) if s is not None)
    return tuple(names_of(source) for source in sources)
