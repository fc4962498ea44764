"""What a submission gets to see: the interpreter, libraries, and the worker's own code."""

from __future__ import annotations

import importlib.util
import os
import shutil
import site
import sys
import sysconfig
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_PREFIX = "layers-sandbox-"
CODE = "/sandbox"  # where the worker's code lies in a root of our making
_PARTS = ("bin", "lib", "lib32", "lib64", "include", "libexec", "share", "etc", "pyvenv.cfg")
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_ETC = (
    "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime", "/etc/fonts",
    "/etc/alternatives", "/etc/mime.types",
)  # fmt: skip
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
_FOLDERS = ("/proc", "/tmp", "/dev/shm", "/submission")
_DEVICE_LINKS = [
    ("/dev/fd", "/proc/self/fd"), ("/dev/stdin", "/proc/self/fd/0"),
    ("/dev/stdout", "/proc/self/fd/1"), ("/dev/stderr", "/proc/self/fd/2"),
]  # fmt: skip


@dataclass(frozen=True)
class Layout:
    """Files that are shown, and files within them that are not.

    Attributes
    ----------
    shown : list of str
        Paths that can be read, each under its own name.
    links : list of (str, str)
        Symbolic links to make, and where they lead.
    masked : list of str
        Folders within `shown` that must look empty: the grader, where it is installed.
    stage : Path
        Private folder of this sandbox; ``stage/code`` is the worker's own code.
    """

    shown: list[str]
    links: list[tuple[str, str]]
    masked: list[str]
    stage: Path

    @property
    def code(self) -> Path:
        """Folder that holds the worker's own code."""
        return self.stage / "code"

    @property
    def covers_tmp(self) -> bool:
        """Whether /tmp can be each worker's own, as nothing that is shown lies in it."""
        return not any(_inside(path, ["/tmp"]) for path in self.shown)

    @property
    def home(self) -> Path:
        """Home of the zygote where it has no root of our making."""
        return self.stage / "home"

    @property
    def log(self) -> Path:
        """File for what the zygote writes on standard error."""
        return self.stage / "log"

    def plan(self) -> dict[str, Any]:
        """Describe the root that `namespaces.build_root` makes; all paths in it are real."""
        return {
            "shown": [*([path, path] for path in self.shown), [str(self.code), CODE]],
            "links": [*self.links, *_DEVICE_LINKS],
            "masked": self.masked,
            "devices": [path for path in DEVICES if Path(path).exists()],
            "folders": list(_FOLDERS),
        }

    def readable(self) -> tuple[list[str], list[str]]:
        """Give the paths to allow reading without a root of our making, and those to list.

        Landlock has no exceptions, so that a folder around something masked is allowed child
        by child.
        """
        whole, names = [], []
        pending = [*self.shown, str(self.code), *DEVICES]
        while pending:
            path = pending.pop()
            if any(Path(mask).is_relative_to(path) for mask in self.masked):
                names.append(path)
                children = [str(child) for child in Path(path).iterdir()]
                pending += [child for child in children if child not in self.masked]
            else:
                whole.append(path)
        return whole, names

    def delete(self) -> None:
        """Delete the private folder."""
        shutil.rmtree(self.stage, ignore_errors=True)


def make_layout() -> Layout:
    """Find out what this interpreter needs, and stage the worker's own code."""
    sites = _site_packages()
    shown, links = _real(_existing(*_SYSTEM, *_ETC, *_prefixes(), *sites, *_real_interpreter()))
    home = Path(__file__).resolve().parents[1]
    candidates = {home, *((Path(folder) / "autograder").resolve() for folder in sites)}
    masked = sorted(str(path) for path in candidates if path.is_dir() and _inside(path, shown))
    _clear_stages_of_the_dead()
    stage = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-"))
    _stage_code(stage / "code", home)
    (stage / "home").mkdir()
    stage.chmod(0o711)  # the user that root becomes must pass, and list nothing
    return Layout(shown, links, masked, stage)


def _inside(path: Path | str, shown: Iterable[str]) -> bool:
    return any(Path(path).is_relative_to(seen) for seen in shown)


def _existing(*paths: str) -> list[str]:
    return [path for path in dict.fromkeys(paths) if Path(path).exists()]


def _real(paths: list[str]) -> tuple[list[str], list[tuple[str, str]]]:
    """Show each path once, under its real name, and its other names as links.

    A second name, such as lib64 for lib, would show what is masked under the first.
    """
    shown: list[str] = []
    links: dict[str, str] = {}
    for path in paths:
        real = os.path.realpath(path)
        if not _inside(real, shown):
            shown = [*(seen for seen in shown if not _inside(seen, [real])), real]
        if real != path:
            links[path] = real
    return shown, [(path, real) for path, real in links.items() if not _inside(path, shown)]


def _prefixes() -> list[str]:
    """Give the parts of the interpreter's folders, not the folders: a home may be around them."""
    prefixes = dict.fromkeys((sys.base_prefix, sys.base_exec_prefix, sys.prefix, sys.exec_prefix))
    parts = [Path(prefix) / part for prefix in prefixes for part in _PARTS]
    known = [sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib")]
    return [*map(str, parts), *known]


def _site_packages() -> list[str]:
    folders = [*site.getsitepackages()]
    folders += [sysconfig.get_paths()[name] for name in ("purelib", "platlib")]
    if site.ENABLE_USER_SITE:
        folders.append(site.getusersitepackages())
    # Libraries may come from folders that a .pth file names.
    specs = [importlib.util.find_spec(name) for name in ("numpy", "IPython", "msgpack")]
    places = [Path(spec.origin).parents[1] for spec in specs if spec and spec.origin]
    folders += [str(place) for place in places if place.name.endswith("-packages")]
    return [path for path in dict.fromkeys(folders) if Path(path).is_dir()]


def _real_interpreter() -> list[str]:
    """Give the folders that the links from ``sys.executable`` lead through."""
    folders: list[str] = []
    path = Path(sys.executable)
    while path.is_symlink() and len(folders) < 16:
        path = path.parent / path.readlink()
        folders.append(str(path.parent))
    library = sysconfig.get_config_var("LIBDIR")
    if library and sysconfig.get_config_var("Py_ENABLE_SHARED") and Path(library).is_dir():
        folders.append(str(library))
    return [os.path.normpath(folder) for folder in folders]


def _clear_stages_of_the_dead() -> None:
    """Delete what a grader that was killed could not delete."""
    for stage in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        number = stage.name.removeprefix(_PREFIX).split("-")[0]
        if not number.isdigit() or stage.is_symlink() or stage.stat().st_uid != os.getuid():
            continue
        try:
            os.kill(int(number), 0)
        except ProcessLookupError:
            shutil.rmtree(stage, ignore_errors=True)
        except PermissionError:
            continue


def _stage_code(code: Path, home: Path) -> None:
    """Copy what a worker runs, so that the folder that holds the grader is never shown."""
    package = code / "autograder"
    package.mkdir(parents=True)
    shutil.copy2(home / "__init__.py", package)
    shutil.copytree(home / "sandbox", package / "sandbox")
    public = importlib.util.find_spec("layerlab")
    if public is not None and public.submodule_search_locations:
        shutil.copytree(public.submodule_search_locations[0], code / "layerlab")
