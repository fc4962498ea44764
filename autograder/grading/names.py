"""What a cell binds, reads and does, read from its syntax and never by running it."""

from __future__ import annotations

import ast
import builtins
import re
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

_DEFINES = re.compile(r"^(?:async\s+)?(?:def|class)\s+(\w+)", re.MULTILINE)
_ASSIGNS = re.compile(r"^(\w+)\s*(?::[^=\n]+)?=(?!=)", re.MULTILINE)
# Of a text of a student's; answers are shorter by far.
MAX_TEXT = 10**6
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)

# Reading one of these looks at the process itself, which is not the student's when a test runs
# on our side, or would run a student's text as code there.
REFLECTION = frozenset({
    "get_ipython", "globals", "locals", "vars", "dir", "eval", "exec", "compile", "__import__",
    "input", "breakpoint", "In", "Out", "_",
})  # fmt: skip
# Modules that look into functions, patch the interpreter, start programs or run stored code.
PROCESS_MODULES = frozenset({
    "IPython", "__main__", "builtins", "code", "codeop", "ctypes", "dill", "cloudpickle", "dis",
    "gc", "importlib", "inspect", "joblib", "marshal", "mock", "multiprocessing", "pickle",
    "runpy", "shelve", "subprocess", "threading",
})  # fmt: skip
PROCESS_CALLS = frozenset({"system", "popen", "mock", "patch"})
INSIDES = frozenset({
    "__code__", "__globals__", "__closure__", "__dict__", "__wrapped__", "__defaults__",
    "__builtins__",
})  # fmt: skip


@dataclass(frozen=True)
class Names:
    """The names of one cell.

    Attributes
    ----------
    parsed : bool
        Whether the cell is plain Python; one with magics or a top-level await is not.
    defines, assigns : frozenset of str
        Bound at the top level by ``def`` or ``class``, and in any other way but an import.
    imports : mapping of str to str
        Name to the statement that imports it.
    stars : tuple of str
        Modules of ``from module import *``.
    reads, deletes : frozenset of str
        Read anywhere in the cell; deleted at its top level.
    looks_inside : str or None
        What in the cell needs the process or the insides of the objects that it tests.
    """

    parsed: bool = True
    defines: frozenset[str] = frozenset()
    assigns: frozenset[str] = frozenset()
    imports: Mapping[str, str] = field(default_factory=dict)
    stars: tuple[str, ...] = ()
    reads: frozenset[str] = frozenset()
    deletes: frozenset[str] = frozenset()
    looks_inside: str | None = None

    @property
    def binds(self) -> frozenset[str]:
        """All that the cell binds except its imports."""
        return self.defines | self.assigns


@lru_cache(maxsize=2048)
def names_of(source: str) -> Names:
    """Read the names of a cell of the master; one that is not plain Python has none."""
    return read_names(source)


def read_names(source: str, longest: int = MAX_TEXT) -> Names:
    """Read the names of any cell; one that is too long or not plain Python has none."""
    if len(source) > longest:
        return Names(parsed=False)
    try:
        with warnings.catch_warnings():
            # A backslash in a student's text is no matter of the grader's.
            warnings.simplefilter("ignore")
            return _names_in(ast.parse(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Names(parsed=False)


def _names_in(tree: ast.Module) -> Names:
    top = list(_top_level(tree))
    named = [node for node in top if isinstance(node, ast.Name)]
    stored = {node.id for node in named if isinstance(node.ctx, ast.Store)}
    caught = {node.name for node in top if isinstance(node, ast.ExceptHandler) and node.name}
    statements = [node for node in top if isinstance(node, ast.Import | ast.ImportFrom)]
    return Names(
        defines=frozenset(n.name for n in top if isinstance(n, _SCOPES[:3])),
        assigns=frozenset(stored | caught | _declared_global(tree)),
        imports={name: text for node in statements for name, text in _imported(node)},
        stars=tuple(
            node.module or "" for node in statements
            if isinstance(node, ast.ImportFrom) and any(a.name == "*" for a in node.names)
        ),
        reads=frozenset(
            n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)
        ),
        deletes=frozenset(node.id for node in named if isinstance(node.ctx, ast.Del)),
        looks_inside=_looks_inside(tree),
    )  # fmt: skip


def defined_in(source: str) -> frozenset[str]:
    """List the functions and classes of a cell by its text alone, broken Python included."""
    return frozenset(_DEFINES.findall(source[:MAX_TEXT]))


def bound_in(source: str) -> frozenset[str]:
    """List what a cell defines or assigns at the beginning of a line, by its text alone."""
    return defined_in(source) | frozenset(_ASSIGNS.findall(source[:MAX_TEXT]))


def is_builtin(name: str) -> bool:
    """Tell whether Python knows the name without any binding."""
    return hasattr(builtins, name)


def _top_level(node: ast.AST) -> Iterator[ast.AST]:
    """Walk what runs in the cell's own scope, bodies of functions and classes left out."""
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, _SCOPES + _COMPREHENSIONS):
            yield from _top_level(child)


def _declared_global(tree: ast.AST) -> set[str]:
    return {name for node in ast.walk(tree) if isinstance(node, ast.Global) for name in node.names}


def _imported(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    for alias in node.names:
        if alias.name == "*":
            continue
        suffix = f" as {alias.asname}" if alias.asname else ""
        if isinstance(node, ast.Import):
            yield alias.asname or alias.name.split(".")[0], f"import {alias.name}{suffix}"
        else:
            module = "." * node.level + (node.module or "")
            yield alias.asname or alias.name, f"from {module} import {alias.name}{suffix}"


def _looks_inside(tree: ast.AST) -> str | None:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in REFLECTION:
            return node.id
        if isinstance(node, ast.Attribute) and node.attr in INSIDES | PROCESS_CALLS:
            return node.attr
        if isinstance(node, ast.Import | ast.ImportFrom):
            module = getattr(node, "module", None)
            modules = [module or ""] if module else [alias.name for alias in node.names]
            modules += [alias.name for alias in node.names]
            for name in modules:
                if PROCESS_MODULES & set(name.split(".")):
                    return name
    return None
