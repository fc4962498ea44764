"""Show the exercise notebooks as pages of the book.

The released notebooks live in ``exercises/<layer>/<layer>.ipynb``, outside the book. For every page
``exercises/<layer>`` in ``_toc.yml`` this extension writes ``book/exercises/<layer>.ipynb`` (an
ignored folder) just before Sphinx looks for pages: the notebook as it is released, not run, with a
line under its title that says what it is worth and where to download it, with the modules that the
exercise comes with. The downloads are the released files themselves, so that the book never holds a
second version.
"""

import copy
import json
import os
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

PAGES = "exercises"

# A released notebook holds none of these. If one does, the release is broken and must not be shown.
NEVER_PUBLIC = ("### BEGIN SOLUTION", "### BEGIN HIDDEN TESTS", "autograder")


def bring_exercises(app: Sphinx) -> None:
    """Write the page of every exercise that the table of contents names."""
    released = Path(app.srcdir, app.config.exercises_folder).resolve()
    target = Path(app.srcdir, PAGES)
    target.mkdir(exist_ok=True)
    layers = exercises_in_toc(app.config.external_site_map)
    for stale in {path.stem for path in target.glob("*.ipynb")} - set(layers):
        (target / f"{stale}.ipynb").unlink()
    for layer in layers:
        source = released / layer / f"{layer}.ipynb"
        files = [source, *released_modules(source.parent)]
        links = [Path(os.path.relpath(path, target)).as_posix() for path in files]
        page = exercise_page(
            read_release(source, layer), layer, links, app.config.exercise_launch_url
        )
        write_if_changed(target / f"{layer}.ipynb", json.dumps(page, indent=1) + "\n")


def exercises_in_toc(site_map: Any) -> list[str]:
    """Names of the layers whose exercise pages are in the table of contents."""
    return [name.removeprefix(f"{PAGES}/") for name in site_map if name.startswith(f"{PAGES}/")]


def read_release(source: Path, layer: str) -> dict[str, Any]:
    """Read a released notebook, or stop the build with a sentence that says what to do."""
    if not source.is_file():
        raise ExtensionError(
            f"exercise_pages: _toc.yml lists {PAGES}/{layer}, but {source} does not exist. "
            f"Run `make release` to write it, or take the line out of _toc.yml."
        )
    text = read_public(source)
    try:
        notebook = json.loads(text)
        notebook["cells"][0]["source"]
    except (ValueError, KeyError, IndexError, TypeError) as problem:
        raise ExtensionError(
            f"exercise_pages: {source} is not a notebook with cells ({problem!r}). "
            f"Run `make release` to write it again."
        ) from problem
    return dict(notebook)


def released_modules(folder: Path) -> list[Path]:
    """List the modules that lie beside a released notebook, or stop the build if one leaks."""
    modules = sorted(folder.glob("*.py"))
    for path in modules:
        read_public(path)
    return modules


def read_public(path: Path) -> str:
    """Read a released file, or stop the build if it holds what no student may see."""
    text = path.read_text(encoding="utf-8")
    for word in NEVER_PUBLIC:
        if word in text:
            raise ExtensionError(
                f"exercise_pages: {path} contains {word!r}, which no released notebook may. "
                f"Run `make release` and look at what it reports."
            )
    return text


def exercise_page(
    notebook: dict[str, Any], layer: str, links: list[str], launch_url: str
) -> dict[str, Any]:
    """Copy a released notebook with the header line under its title and all outputs removed.

    `links` lead to the notebook and to the modules beside it.
    """
    page = copy.deepcopy(notebook)
    first = page["cells"][0]
    title, _, rest = "".join(first["source"]).partition("\n")
    if first["cell_type"] != "markdown" or not title.startswith("# "):
        raise ExtensionError(
            f"exercise_pages: the first cell of {layer}.ipynb must be text that begins with a "
            f"title ('# ...'); it begins with {title!r}."
        )
    # The chapter has the same title; tabs and search results must tell them apart.
    title = f"# Exercise: {title.removeprefix('# ')}"
    first["source"] = f"{title}\n\n{header(notebook, layer, links, launch_url)}\n{rest}"
    for cell in page["cells"]:
        if cell["cell_type"] == "code":
            cell.update(outputs=[], execution_count=None)
    return page


def header(notebook: dict[str, Any], layer: str, links: list[str], launch_url: str) -> str:
    """Write the line under the title: worth, downloads, and where to open it."""
    first, *beside = links
    parts = [f"**{points(notebook):g} points.**", f"{{download}}`Download the notebook <{first}>`"]
    if beside:
        modules = [f"{{download}}`{Path(link).name} <{link}>`" for link in beside]
        parts.append(f"To lie beside it: {', '.join(modules)}")
    if launch_url:
        parts.append(f"[Open it online]({launch_url.replace('{layer}', layer)})")
    return (
        ":::{div} exercise-header\n" + " · ".join(parts) + "\n\n"
        "This page shows the notebook as you receive it. "
        "Write your answers in the notebook, and hand that in.\n:::\n"
    )


def points(notebook: dict[str, Any]) -> float:
    """Sum of the points of the graded cells."""
    marks = [cell["metadata"].get("nbgrader", {}) for cell in notebook["cells"]]
    return float(sum(mark.get("points", 0) for mark in marks if mark.get("grade")))


def write_if_changed(path: Path, text: str) -> None:
    """Write a file, or leave it alone so that Sphinx need not read the page again."""
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.add_config_value("exercises_folder", "../exercises", "env")
    app.add_config_value("exercise_launch_url", "", "env")
    app.connect("builder-inited", bring_exercises)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
