"""Let anywidget models live in the built pages, without a kernel and without a widget manager.

myst-nb puts the state of every widget of a notebook into the head of its page. This extension
keeps of it what ``host.js`` can mount, moves it to the end of the page, moves each model's trait
``fallback`` (what is seen without JavaScript) into a ``<noscript>`` beside its view, and loads the
host only on pages that show a widget. What a widget may count on is written in ``host.js``.
"""

import json
import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.util import logging

logger = logging.getLogger(__name__)

STATE_TYPE = "application/vnd.jupyter.widget-state+json"
VIEW = re.compile(
    r'<script type="application/vnd\.jupyter\.widget-view\+json">(.*?)</script>', re.DOTALL
)


def prepare_page(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    """Bring state, fallbacks and the host into a page that shows a widget."""
    states = take_states(context["script_files"])
    if not VIEW.search(context.get("body", "")):
        return
    models = mountable(states)
    fallbacks = {name: model["state"].pop("fallback", "") for name, model in models.items()}
    body, dead = place_fallbacks(context["body"], fallbacks)
    for name in dead:
        logger.warning(
            "widget_host: this page shows widget %s, which has no front end of its own. "
            "Without a kernel only anywidget models work.",
            name,
            location=pagename,
        )
    context["body"] = body + state_script(models)
    app.add_css_file("widget_host/host.css")
    app.add_js_file("widget_host/host.js", loading_method="defer")


def take_states(scripts: list[Any]) -> list[dict[str, Any]]:
    """Take the widget states out of a page's list of scripts."""
    taken = [script for script in scripts if script.attributes.get("type") == STATE_TYPE]
    scripts[:] = [script for script in scripts if script not in taken]
    return [json.loads(script.attributes["body"]) for script in taken]


def mountable(states: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Models with a front end of their own, by name."""
    models = {name: model for document in states for name, model in document["state"].items()}
    return {name: model for name, model in models.items() if "_esm" in model["state"]}


def place_fallbacks(body: str, fallbacks: dict[str, str]) -> tuple[str, list[str]]:
    """Put each view's fallback behind it; list the views that cannot be mounted."""
    dead: list[str] = []

    def place(match: re.Match[str]) -> str:
        name = json.loads(match[1])["model_id"]
        if name not in fallbacks:
            dead.append(name)
        still = f'<div class="widget-host-still">{fallbacks.get(name, "")}</div>'
        return f"{match[0]}<noscript>{still}</noscript>"

    return VIEW.sub(place, body), dead


def state_script(models: dict[str, dict[str, Any]]) -> str:
    """Write the models as the element that the host reads."""
    text = json.dumps({"state": models}, separators=(",", ":"))
    # A "</script>" or "<!--" inside a string would end or hide the rest of the page.
    return f'<script type="{STATE_TYPE}">{text.replace("<", chr(92) + "u003c")}</script>'


def publish_files(app: Sphinx) -> None:
    """Offer the host under ``_static/widget_host``."""
    app.config.html_static_path.append(str(Path(__file__).parent / "static"))


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("builder-inited", publish_files)
    # After myst-nb has put the state among the scripts of the page.
    app.connect("html-page-context", prepare_page, priority=900)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
