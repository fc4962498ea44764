"""Evaluate the expressions of a question.

They come from the book's own source, like its code cells, so nothing is guarded against. The names
are few so that a question can be read without looking elsewhere: NumPy's arithmetic on arrays, and
the names that ``given`` assigns.
"""

import ast
from typing import Any

import numpy as np

_FUNCTIONS = (
    "abs", "arange", "array", "cumsum", "dot", "exp", "log", "max", "mean", "min", "ones", "outer",
    "pi", "prod", "sqrt", "std", "sum", "tanh", "var", "where", "zeros",
)  # fmt: skip


def namespace(given: str) -> dict[str, Any]:
    """Names for the expressions: some of NumPy's, and the assignments of ``given``."""
    names = {name: getattr(np, name) for name in _FUNCTIONS}
    for statement in filter(None, map(str.strip, given.split(";"))):
        name, equals, value = statement.partition("=")
        if not equals or not name.strip().isidentifier():
            raise ValueError(f"given must be assignments, 'x = [1, 2]; n = 3'; got {statement!r}")
        names[name.strip()] = _value(value, names)
    return names


def evaluate(source: str, names: dict[str, Any]) -> list[float]:
    """Value of an expression as a list of finite numbers."""
    value = np.asarray(_value(source, names), dtype=float)
    if value.ndim > 1 or not value.size or not np.isfinite(value).all():
        raise ValueError(f"{source} must be a finite number or a vector of them; got {value}")
    return [float(entry) for entry in value.ravel()]


def _value(source: str, names: dict[str, Any]) -> Any:
    with np.errstate(all="raise"):
        tree = _Lists().visit(ast.parse(source.strip(), mode="eval"))
        code = compile(ast.fix_missing_locations(tree), source, "eval")
        return eval(code, {"__builtins__": {}, "_array": np.array}, names)


class _Lists(ast.NodeTransformer):
    """Turn each outermost list into an array, so that ``[1, 2] * 3`` means what readers think."""

    def visit_List(self, node: ast.List) -> ast.AST:
        return ast.Call(ast.Name("_array", ast.Load()), [node], [])
