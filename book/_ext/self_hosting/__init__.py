"""Serve everything from the site itself: MathJax, its fonts, and icons.

MathJax comes from the pinned package ``sphinx-mathjax-offline``, which holds the unmodified files
of MathJax 3.2.2; only what the pages need is copied, after its checksum has been compared. The
theme's icon script and icon fonts are left out; ``icons.css`` draws the few icons that are used.
"""

import copy
import hashlib
import importlib.util
import re
import shutil
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.errors import ExtensionError

HERE = Path(__file__).parent
PACKAGE = "sphinx-mathjax-offline"
# Without the menu, which adds a focusable element to each formula, and with hidden MathML for
# screen readers.
COMPONENTS = (
    "core.js", "input/tex.js", "output/chtml.js", "output/chtml/fonts/tex.js",
    "a11y/assistive-mml.js",
)  # fmt: skip
FOLDERS = ("input/tex/extensions", "output/chtml/fonts/woff-v2")
SHA256 = "32cc66d4af4d22386b194058db01bd599ef4479683be1a40b17759633e55645b"
LICENCE = "MathJax 3.2.2, unmodified. Apache License, Version 2.0.\n"

MATHJAX = {
    "loader": {"load": ["input/tex", "output/chtml", "a11y/assistive-mml"]},
    # A long formula scrolls by itself (layers.css); its scale is that of the text around it.
    "chtml": {"matchFontHeight": False},
}

# In the theme's style sheet: fonts of icons, and the glyph of each icon.
ICON_FONTS = re.compile(r"@font-face\{[^{}]*Font Awesome[^{}]*\}")
ICON_GLYPHS = re.compile(r"\.fa-[^{}]*:before\{content:\"[^\"]*\"\}")
# Files that no page refers to.
UNUSED = ("**/*.map", "scripts/fontawesome.js*", "vendor/fontawesome", "webpack-macros.html")
# Until a script has looked at the reader's system, a page has neither colour scheme.
SHEETS = ("styles/pydata-sphinx-theme.css", "styles/sphinx-book-theme.css", "pygments.css")
LIGHT = re.compile(r"html\[data-theme=\"?light\"?\]")
LIGHT_OR_UNDECIDED = "html:is([data-theme=light],[data-theme=auto])"


def configure(app: Sphinx, config: Config) -> None:
    """Point Sphinx at the local files, before templates and assets are looked up."""
    config.mathjax_path = "mathjax/startup.js"
    config.mathjax3_config = copy.deepcopy(MATHJAX)
    config.templates_path.append(str(HERE / "templates"))
    config.html_static_path.append(str(HERE / "static"))
    app.add_css_file("site/icons.css", priority=600)


def mathjax_folder() -> Path:
    """Find the installed files of MathJax."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise ExtensionError(
            f"self_hosting: the Python package {PACKAGE}, which holds MathJax, is not installed. "
            f"Run `make book`, or install requirements.txt."
        )
    return Path(spec.origin).parent / "static" / "mathjax"


def mathjax_files(folder: Path) -> list[Path]:
    """List what the pages need of MathJax, relative to its folder."""
    files = [Path("startup.js"), *map(Path, COMPONENTS)]
    for name in FOLDERS:
        files += [path.relative_to(folder) for path in (folder / name).iterdir()]
    return sorted(files)


def check(folder: Path, files: list[Path]) -> None:
    """Compare the files with the ones that this book was made and tested with."""
    digest = hashlib.sha256()
    for path in files:
        digest.update(path.as_posix().encode() + b"\0" + (folder / path).read_bytes())
    if digest.hexdigest() != SHA256:
        raise ExtensionError(
            f"self_hosting: the files of MathJax in {folder} are not those of version 3.2.2 "
            f"(sha256 {digest.hexdigest()}). Install {PACKAGE} as pinned in requirements.txt."
        )


def copy_mathjax(app: Sphinx) -> None:
    """Put MathJax into the site, once."""
    source, target = mathjax_folder(), Path(app.outdir, "_static", "mathjax")
    files = mathjax_files(source)
    check(source, files)
    for path in files:
        if not (target / path).is_file():
            (target / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source / path, target / path)
    (target / "LICENCE.txt").write_text(LICENCE, encoding="utf-8")


def preload_mathjax(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    """Let the browser fetch all parts at once, not each when the one before has asked for it."""
    mathjax = f"_static/{app.config.mathjax_path}"
    if not any(script.filename == mathjax for script in context["script_files"]):
        return
    up = context["content_root"]
    context["metatags"] += "\n".join(
        f'<link rel="preload" as="script" href="{up}_static/mathjax/{name}" />'
        for name in COMPONENTS
    )


def search_from_files(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    """Let the search page of an unpacked zip list pages without fetching them for a summary."""
    if pagename == "search":
        off = "DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;"
        app.add_js_file(None, body=f'if (location.protocol === "file:") {off}')


def trim_theme(app: Sphinx, problem: Exception | None) -> None:
    """Take out of the theme's files what the site does without; make light the default."""
    static = Path(app.outdir, "_static")
    if problem or app.builder.format != "html":
        return
    for pattern in UNUSED:
        for path in list(static.glob(pattern)):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    for name in SHEETS:
        text = (static / name).read_text(encoding="utf-8")
        text = ICON_GLYPHS.sub("", ICON_FONTS.sub("", LIGHT.sub(LIGHT_OR_UNDECIDED, text)))
        (static / name).write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    # Before myst-parser adds the classes to process to the configuration of MathJax.
    app.connect("config-inited", configure, priority=400)
    app.connect("builder-inited", copy_mathjax)
    app.connect("html-page-context", preload_mathjax, priority=900)
    app.connect("html-page-context", search_from_files)
    # After the theme has written the colours of listings.
    app.connect("build-finished", trim_theme, priority=900)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
