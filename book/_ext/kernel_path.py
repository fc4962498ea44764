"""Let the pages import `layerlab` whether or not it is installed."""

import os
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

BOOK = Path(__file__).resolve().parent.parent


def put_book_on_path(app: Sphinx) -> None:
    """Put the folder of `layerlab` first on the path that the kernels inherit."""
    paths = [str(BOOK), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(paths))


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("builder-inited", put_book_on_path)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
