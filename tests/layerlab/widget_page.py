"""A page that shows one widget, with a model that answers as anywidget's does."""

import json
from pathlib import Path
from typing import Any

PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>widget</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<style>:root {{ color-scheme: light dark }} body {{ margin: 8px; font-family: sans-serif;
background: light-dark(#fff, #121314); color: light-dark(#222, #ddd) }} {css}</style>
<main><h1>A widget</h1><div id="widget"></div></main>
<script>
const state = {state};
const listeners = {{}};
window.model = {{
  get: (name) => state[name],
  set(name, value) {{ state[name] = value; }},
  save_changes() {{}},
  on(event, run) {{ (listeners[event] ??= []).push(run); }},
  fromKernel(name, value) {{
    state[name] = value;
    for (const run of listeners["change:" + name] ?? []) run();
  }},
}};
const url = URL.createObjectURL(new Blob([{esm}], {{ type: "text/javascript" }}));
window.el = document.getElementById("widget");
import(url)
  .then(({{ default: widget }}) => widget.render({{ model, el }}))
  .then(() => requestAnimationFrame(() => requestAnimationFrame(() => {{
    window.shownAfter = performance.now();
  }})))
  .catch((problem) => {{ window.failed = String(problem); }});
</script></html>"""


def write_page(widget: Any, path: Path) -> Path:
    """Write a page with the widget's front end and settings."""
    state = widget.get_state()
    hidden = ("_esm", "_css", "fallback", "layout")
    settings = {key: value for key, value in state.items() if key not in hidden and key[0] != "_"}

    def text(value: Any) -> str:
        # "<" as an escape: a "</script>" in a string would end the page's script.
        return json.dumps(value).replace("<", "\\u003c")

    page = PAGE.format(css=state["_css"], state=text(settings), esm=text(state["_esm"]))
    path.write_text(page, encoding="utf-8")
    return path


def settled(page: Any) -> str:
    """Wait for the next two frames, then give the words below the controls."""
    page.evaluate("() => new Promise((f) => requestAnimationFrame(() => requestAnimationFrame(f)))")
    return page.locator(".ll-words").inner_text()


def shown(page: Any) -> str:
    """Give the markup of the widget, not the source of its module."""
    return page.evaluate("el.innerHTML")


def measured(page: Any) -> Any:
    """Give the numbers behind the picture."""
    return page.evaluate("el.measured()")
