"""Load on each page only what it uses, and let scripts wait until the page has been read.

The theme and the extensions put their files on every page, in front of the text. A browser stops at
each such script until it and all style sheets before it have arrived.
"""

import re
from typing import Any

from sphinx.application import Sphinx

# A file or a line of script, and what a page must hold to need it.
NEEDED = (
    (re.compile(r"clipboard\.min\.js|copybutton\.(js|css)"), re.compile(r'class="highlight')),
    (re.compile(r"sphinx-design\.min\.css|design-tabs\.js"), re.compile(r'class="[^"]*\bsd-')),
    (
        re.compile(r"togglebutton\.(js|css)|toggle(Hint|Open|button)"),
        re.compile(r'class="[^"]*\b(toggle|dropdown)\b'),
    ),
    (re.compile(r"mystnb\.\w+\.css"), re.compile(r'class="[^"]*\bcell')),
)
# A line of script in the page uses what it defines.
AT_ONCE = "documentation_options.js"
# Its scripts call each other while they load.
UNTOUCHED = "search"


def trim_page(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    """Drop what the page does not use; defer the other scripts, their order kept."""
    if pagename == UNTOUCHED:
        return
    body = context.get("body", "")
    for kind in ("script_files", "css_files"):
        context[kind][:] = [file for file in context[kind] if needed(file, body)]
    context["script_files"][:] = [deferred(script) for script in context["script_files"]]


def needed(file: Any, body: str) -> bool:
    """Tell whether a page with this body uses a script or style sheet."""
    name = str(file.filename or getattr(file, "attributes", {}).get("body", ""))
    return all(not files.search(name) or uses.search(body) for files, uses in NEEDED)


def deferred(script: Any) -> Any:
    """Give a script that waits for the page; a copy, because all pages share the original."""
    if not script.filename or str(script.filename).endswith(AT_ONCE):
        return script
    waiting = {"defer": "defer"} | script.attributes
    return type(script)(script.filename, priority=script.priority, **waiting)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    # After everybody has added their files.
    app.connect("html-page-context", trim_page, priority=950)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
