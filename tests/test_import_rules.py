"""Each room imports only what the architecture allows, read from the syntax tree."""

import ast
import re
import sys
from pathlib import Path

import jupytext
import nbformat
import pytest

ROOT = Path(__file__).parent.parent
HIDDEN = re.compile("### BEGIN HIDDEN TESTS.*?### END HIDDEN TESTS", re.DOTALL)

# Room -> packages it may import besides the standard library and itself.
ALLOWED = {
    "autograder/kernels": {"numpy", "numba", "layerlab"},
    "autograder/mistakes": {"numpy"},
    "autograder/checks": {"numpy", "layerlab", "autograder.kernels", "autograder.mistakes"},
    "autograder/sandbox": {"numpy", "msgpack", "IPython"},
    "autograder/grading": {
        "numpy", "nbformat", "nbgrader", "nbconvert", "traitlets",
        "autograder.sandbox", "autograder.checks", "autograder.mistakes",
    },
    "autograder/course": {
        "numpy", "nbformat", "nbgrader", "nbconvert", "traitlets", "jupytext", "sqlalchemy", "rich",
        "mistune", "pygments", "autograder.grading",
    },
    "autograder/cli.py": {"autograder.course"},
    "autograder/__main__.py": {"autograder.cli"},
    "book/layerlab": {
        "numpy", "numba", "llvmlite", "matplotlib", "anywidget", "traitlets", "ipywidgets",
        "pooch",
    },
    "book/_ext": {"sphinx", "docutils", "nbformat", "numpy", "matplotlib", "PIL", "numbercheck"},
}  # fmt: skip
STANDARD = set(sys.stdlib_module_names)


def imports(source: str) -> set[str]:
    """List imported modules, the names after ``from package import`` included."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports hide the room they reach into"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def allowed(module: str, room: str) -> bool:
    package = room.removesuffix(".py").replace("book/", "").replace("/", ".")
    names = {*ALLOWED[room], package}
    return module.split(".")[0] in STANDARD or any(
        module == name or module.startswith(f"{name}.") for name in names
    )


def files(room: str) -> list[Path]:
    path = ROOT / room
    return [path] if path.suffix == ".py" else sorted(path.rglob("*.py"))


@pytest.mark.parametrize("room", ALLOWED)
def test_room_imports_only_what_it_may(room):
    wrong = [
        f"{path.relative_to(ROOT)} imports {module}"
        for path in files(room)
        for module in imports(path.read_text())
        if not allowed(module, room)
    ]
    assert not wrong, wrong


def test_every_python_file_belongs_to_a_room():
    rooms = tuple(str(ROOT / room) for room in ALLOWED)
    python = [*ROOT.glob("autograder/**/*.py"), *ROOT.glob("book/**/*.py")]
    homeless = [p for p in python if not str(p).startswith(rooms) and p.name != "__init__.py"]
    assert not homeless


def code_cells(path: Path) -> list[str]:
    """List the sources of a notebook's code cells; a page of prose has none."""
    if path.suffix == ".ipynb":
        notebook = nbformat.read(path, as_version=4)
    elif path.read_text().startswith("---\n"):
        notebook = jupytext.read(path)
    else:
        assert "{code-cell}" not in path.read_text(), "code without a header never runs"
        return []
    return [cell.source for cell in notebook.cells if cell.cell_type == "code"]


def notebook_imports(path: Path) -> set[str]:
    """List the imports of a notebook's code cells outside the hidden regions."""
    public = [HIDDEN.sub("", source) for source in code_cells(path)]
    lines = [line for source in public for line in source.splitlines()]
    return imports("\n".join(x for x in lines if x.startswith(("import ", "from "))))


NOTEBOOKS = [
    *ROOT.glob("solutions/*/*.md"), *ROOT.glob("exercises/*/*.ipynb"), *ROOT.glob("book/**/*.md"),
]  # fmt: skip


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: str(path.relative_to(ROOT)))
def test_public_notebooks_never_import_the_grader(path):
    beside = {module.stem for module in path.parent.glob("*.py")}
    public = {"numpy", "matplotlib", "layerlab", "myst_nb"} | beside
    modules = {module.split(".")[0] for module in notebook_imports(path)}
    assert modules <= public | STANDARD


def test_modules_beside_an_exercise_import_only_what_students_have():
    for path in ROOT.glob("solutions/*/*.py"):
        beside = {module.stem for module in path.parent.glob("*.py")}
        modules = {module.split(".")[0] for module in imports(path.read_text())}
        assert modules <= {"numpy", "layerlab"} | beside | STANDARD, path


def test_the_rules_can_fail():
    assert imports("from autograder.kernels import layernorm") == {"autograder.kernels.layernorm"}
    assert not allowed("autograder.kernels.layernorm", "autograder/mistakes")
    assert not allowed("numba", "autograder/checks")
