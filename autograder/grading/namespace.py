"""The names that a test cell sees: the course's own, and proxies of the student's."""

from __future__ import annotations

import builtins
import contextlib
import importlib
import io
from collections.abc import Callable
from typing import Any

from autograder.grading.names import is_builtin
from autograder.grading.plan import Owner, Plan, Scope
from autograder.grading.source import compiled
from autograder.sandbox import Handle

# A test may use these without any import in the master: the student's cells make the import.
# Only the usual name gives the module, so that a submission cannot choose what a test calls.
USUAL_MODULES = {
    "np": "numpy", "numpy": "numpy", "math": "math", "random": "random", "re": "re",
    "string": "string", "itertools": "itertools", "functools": "functools", "json": "json",
    "collections": "collections", "statistics": "statistics", "fractions": "fractions",
}  # fmt: skip
_NOWHERE: Scope = Scope({}, {})


class Namespace(dict[str, Any]):
    """The global names of the test cells of one submission.

    A name that is not there yet is found when a cell first reads it: imported, made by a helper
    cell of the course, or looked up in the student's process. The latter are forgotten before
    the next cell, since the student's cells may bind them anew.

    Parameters
    ----------
    plan : Plan
        Whose each name is.
    lookup : callable
        ``lookup(name)`` gives the student's value, or raises KeyError.
    """

    def __init__(self, plan: Plan, lookup: Callable[[str], Any]) -> None:
        super().__init__(__name__="__main__", __builtins__=builtins, __doc__=None)
        self._plan = plan
        self._lookup = lookup
        self._scope = _NOWHERE
        self._fetched: dict[str, Any] = {}
        self._helped: set[int] = set()

    def enter(self, place: int) -> None:
        """Get ready for the test cell at a place of the master."""
        self._scope = self._plan.scopes[place]
        for name, value in self._fetched.items():
            if self.get(name) is value:
                del self[name]
        self._fetched = {}
        for name, owner in self._scope.owners.items():
            if owner is Owner.STUDENT:
                self.pop(name, None)

    def __missing__(self, name: str) -> Any:
        """Find a name; a KeyError sends Python on to its builtins."""
        if name.startswith("__"):
            raise KeyError(name)
        owner = self._scope.owners.get(name)
        if owner is Owner.STUDENT:
            return self._fetch(name)
        if owner is Owner.HELPER and self._help(name):
            return self[name]
        if name in self._plan.imports:
            return self._import(name)
        if (found := self._from_stars(name)) is not None:
            return found
        if is_builtin(name):
            raise KeyError(name)
        return self._fetch(name)

    def _fetch(self, name: str) -> Any:
        try:
            value = self._lookup(name)
        except KeyError:
            raise NameError(f"name {name!r} is not defined") from None
        if isinstance(value, Handle) and value.kind == "module":
            module = USUAL_MODULES.get(name)
            if module is not None and module == value.info:
                value = importlib.import_module(module)
        self[name] = self._fetched[name] = value
        return value

    def _help(self, name: str) -> bool:
        """Run the course's cell that defines a name, unless it ran; tell whether it is there."""
        place = self._scope.helpers[name]
        if place not in self._helped:
            self._helped.add(place)
            body, last = compiled(self._plan.sources[place])
            # What stands before an error in the cell is defined, as in a kernel.
            with contextlib.suppress(Exception), contextlib.redirect_stdout(io.StringIO()):
                for code in (body, last):
                    if code is not None:
                        exec(code, self)
        return name in self

    def _import(self, name: str) -> Any:
        scratch: dict[str, Any] = {}
        exec(self._plan.imports[name], scratch)
        self[name] = scratch[name]
        return scratch[name]

    def _from_stars(self, name: str) -> Any:
        for module in self._plan.stars:
            with contextlib.suppress(ImportError):
                found = getattr(importlib.import_module(module), name, None)
                if found is not None:
                    self[name] = found
                    return found
        return None
