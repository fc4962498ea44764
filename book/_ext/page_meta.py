"""Tell search engines and people who share a link what a page is.

Every page gets a description (its first paragraph) and a title for link previews. The address of
the published site is one setting, ``html.baseurl`` of ``_config.yml`` or the environment variable
``BOOK_URL``. Where it is known, pages also get their canonical address and a preview image, drawn
here with the page's title. ``EXERCISE_LAUNCH_URL`` likewise overrides ``exercise_launch_url``.
"""

import hashlib
import os
import textwrap
from html import escape
from pathlib import Path
from typing import Any

import matplotlib
from docutils import nodes
from PIL import Image, ImageDraw, ImageFont
from sphinx.application import Sphinx
from sphinx.config import Config

LONGEST = 200
SIZE = (1200, 630)
# The colours of the logo, from the bottom layer to the top one.
LAYERS = ((0, 114, 178), (0, 158, 115), (213, 94, 0))


def read_environment(app: Sphinx, config: Config) -> None:
    """Let the place that publishes the site say where that is."""
    address = os.environ.get("BOOK_URL") or config.html_baseurl
    config.html_baseurl = address.rstrip("/") + "/" if address else ""
    config.exercise_launch_url = os.environ.get("EXERCISE_LAUNCH_URL") or config.exercise_launch_url


def describe_page(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any
) -> None:
    """Add the tags to the head of a page that was written by somebody."""
    if doctree is None:
        return
    site, title = app.config.html_title, plain_title(doctree) or app.config.html_title
    tags = {"og:type": "article", "og:site_name": site, "og:title": title}
    text = description(doctree)
    if text:
        tags |= {"description": text, "og:description": text}
    if app.config.html_baseurl:
        image = draw_preview(Path(app.outdir, "_static", "previews"), pagename, title, site)
        tags |= {
            "og:url": context["pageurl"],
            "og:image": f"{app.config.html_baseurl}_static/previews/{image.name}",
            "og:image:alt": f"{site}: {title}",
            "twitter:card": "summary_large_image",
        }
    context["metatags"] += "\n".join(tag(name, content) for name, content in tags.items())


def tag(name: str, content: str) -> str:
    """Write one tag; Open Graph calls the name a property."""
    kind = "property" if name.startswith("og:") else "name"
    return f'<meta {kind}="{name}" content="{escape(content, quote=True)}" />'


def plain_title(doctree: nodes.document) -> str:
    """Title of a page as text."""
    title = next(iter(doctree.findall(nodes.title)), None)
    return title.astext() if title is not None else ""


def description(doctree: nodes.document) -> str:
    """Take the first paragraph that is prose, cut at a sentence."""
    for paragraph in doctree.findall(nodes.paragraph):
        in_box = "exercise-header" in paragraph.parent.get("classes", [])
        if not in_box and isinstance(paragraph.parent, nodes.section):
            return shorten(" ".join(paragraph.astext().split()))
    return ""


def shorten(text: str) -> str:
    """Keep whole sentences up to the longest length, or words of the first one."""
    if len(text) <= LONGEST:
        return text
    sentences = text[:LONGEST].rpartition(". ")[0]
    return f"{sentences}." if sentences else textwrap.shorten(text, LONGEST, placeholder=" ...")


def draw_preview(folder: Path, pagename: str, title: str, site: str) -> Path:
    """Draw the picture that link previews show, unless this title has one."""
    key = hashlib.sha256(f"{title}|{site}".encode()).hexdigest()[:8]
    path = folder / f"{pagename.replace('/', '-')}-{key}.png"
    if path.is_file():
        return path
    folder.mkdir(parents=True, exist_ok=True)
    image = Image.new("RGB", SIZE, "white")
    pen = ImageDraw.Draw(image)
    for level, colour in enumerate(LAYERS):
        x, y = 980, 330 - 70 * level
        diamond = [(x - 150, y), (x, y - 75), (x + 150, y), (x, y + 75)]
        pen.polygon(diamond, fill=colour, outline="white", width=6)
    lines = textwrap.wrap(title, 16)
    pen.multiline_text((80, 200), "\n".join(lines), fill="#1b2330", font=typeface(72), spacing=18)
    pen.text((80, 520), site, fill="#48566b", font=typeface(36))
    image.quantize(64).save(path, optimize=True)
    return path


def typeface(size: int) -> ImageFont.FreeTypeFont:
    """Load the font that comes with matplotlib, the same on every machine."""
    return ImageFont.truetype(
        str(Path(matplotlib.get_data_path(), "fonts", "ttf", "DejaVuSans.ttf")), size
    )


def setup(app: Sphinx) -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("config-inited", read_environment)
    app.connect("html-page-context", describe_page)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
