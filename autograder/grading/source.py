"""Turn the source of a test cell into code, once per master and process."""

from __future__ import annotations

import ast
from functools import lru_cache
from types import CodeType

FILE_NAME = "<test cell>"


@lru_cache(maxsize=1024)
def compiled(source: str) -> tuple[CodeType | None, CodeType | None]:
    """Compile a cell as IPython would run it: its statements, then the value that it shows.

    Returns
    -------
    body : code or None
        Everything but a last expression.
    last : code or None
        The last expression, if the cell shows its value.

    Raises
    ------
    SyntaxError
        The cell is not plain Python.
    """
    tree = ast.parse(source, FILE_NAME)
    last = None
    if tree.body and isinstance(tree.body[-1], ast.Expr) and not source.rstrip().endswith(";"):
        expression = tree.body.pop()
        assert isinstance(expression, ast.Expr)
        last = compile(ast.Expression(expression.value), FILE_NAME, "eval")
    body = compile(tree, FILE_NAME, "exec") if tree.body else None
    return body, last
