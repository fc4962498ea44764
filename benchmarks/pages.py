"""How soon a page of the book shows its widget, and what it weighs: ``python -m benchmarks.pages``.

Opens pages of the built book (``make book``) over http in a browser without a window, each time in
a fresh context, and takes turns between the page as it is and the same page with ipywidgets' own
html-manager in place of our host. A widget is visible when the frame after its words appear has
been painted. html-manager, require.js and anywidget's front end are served from this machine as
well; without npm that half is left out.

The weight of a page is everything that the browser asked for until it was idle, text compressed by
gzip as web hosts do, fonts and images as they are.
"""

import gzip
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from ipywidgets.embed import dependency_state
from layerlab import widgets
from playwright.sync_api import Browser, Request, sync_playwright

from tests.book.browser import SWITCHES, serve

SITE = Path("_build/html")
PAGES = {
    "chapters/embedding.html": "EmbeddingGradient",
    "chapters/layernorm.html": "NormalizationAnatomy",
    "chapters/batchnorm.html": "SharedMean",
    "chapters/dropout.html": "Dropout",
    "chapters/initialization.html": "ActivationScale",
}
TURNS = 7
VISIBLE_MS, WEIGHT_KB = 700, 1200
TEXT = {".html", ".js", ".css", ".svg", ".json", ".wasm"}
STATE = re.compile(
    r'<script type="application/vnd\.jupyter\.widget-(state|view)\+json">.*?</script>', re.DOTALL
)
HOST = re.compile(r"<script[^>]*widget_host/host\.js[^>]*></script>")
WATCH = """() => {
  const look = () => {
    const words = document.querySelector(".ll-words");
    if (!words || !words.textContent.trim()) return requestAnimationFrame(look);
    requestAnimationFrame(() => { window.shownAfter = performance.now(); });
  };
  requestAnimationFrame(look);
}"""
# Deferred as the page's own scripts are, one of which would take require.js for its own loader.
MANAGER = """<script defer src="/rival/require.js"></script>
<script defer src="/rival/paths.js"></script>
<script type="application/vnd.jupyter.widget-state+json">{state}</script>
<script defer src="/rival/embed-amd.js"></script>"""
PATHS = 'requirejs.config({ paths: { anywidget: "/rival/anywidget" } });'


def main() -> int:
    """Print both tables; 1 if a page is too slow or too heavy."""
    if not (SITE / "index.html").is_file():
        print(f"benchmarks.pages: {SITE} holds no book; run `make book` first.", file=sys.stderr)
        return 2
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    missed = []
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        site = Path(folder) / "site"
        shutil.copytree(SITE, site)
        rival = fetch_rival(site)
        browser = playwright.chromium.launch(executable_path=chromium, args=list(SWITCHES))
        print(f"load average before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores\n")
        print(
            f"{'widget visible after navigation, ms':<36}{'ours':>6}{'html-manager':>14}{'kB':>8}"
        )
        with serve(site) as home:
            visible(browser, home + next(iter(PAGES)))
            for page, name in PAGES.items():
                if rival:
                    write_rival_page(site, page, getattr(widgets, name)())
                times = compare(browser, home, page, rival)
                weight = weigh(browser, home, page, site)
                theirs = f"{statistics.median(times[1]):.0f}" if rival else "-"
                ours = statistics.median(times[0])
                print(f"  {page:<34}{ours:>6.0f}{theirs:>14}{weight:>8.0f}")
                if ours > VISIBLE_MS or weight > WEIGHT_KB:
                    missed.append(page)
        browser.close()
    print(f"wanted: {VISIBLE_MS} ms and {WEIGHT_KB} kB; missed by {', '.join(missed) or 'none'}")
    return bool(missed)


def fetch_rival(site: Path) -> bool:
    """Put html-manager and what it needs into the site; tell whether that worked."""
    target = site / "rival"
    target.mkdir()
    with tempfile.TemporaryDirectory() as folder:
        names = ["@jupyter-widgets/html-manager@1.0.15", "requirejs@2.3.8"]
        try:
            command = ["npm", "pack", "--silent", *names]
            subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=120)
        except (OSError, subprocess.SubprocessError) as problem:
            print(f"html-manager is left out: npm cannot fetch it ({type(problem).__name__})")
            return False
        for archive in Path(folder).glob("*.tgz"):
            shutil.unpack_archive(archive, Path(folder) / archive.stem, filter="data")
        for name in ("embed-amd.js", "require.js"):
            (found,) = Path(folder).glob(f"*/package/**/{name}")
            shutil.copyfile(found, target / name)
    front = Path(sys.prefix) / "share/jupyter/nbextensions/anywidget/index.js"
    shutil.copyfile(front, target / "anywidget.js")
    (target / "paths.js").write_text(PATHS, encoding="utf-8")
    return True


def write_rival_page(site: Path, page: str, widget: Any) -> None:
    """Write the page once more, with html-manager in place of our host."""
    text = (site / page).read_text(encoding="utf-8")
    found = {match[1] for match in STATE.finditer(text)}
    assert found == {"state", "view"}, page
    assert HOST.search(text), page
    models = dependency_state([widget], drop_defaults=False)
    state = {"version_major": 2, "version_minor": 0, "state": models}
    view = {"version_major": 2, "version_minor": 0, "model_id": widget.model_id}

    def replaced(match: re.Match[str]) -> str:
        if match[1] == "view":
            kind = "application/vnd.jupyter.widget-view+json"
            return f'<script type="{kind}">{json.dumps(view)}</script>'
        return MANAGER.format(state=json.dumps(state).replace("<", "\\u003c"))

    text = HOST.sub("", STATE.sub(replaced, text))
    (site / page).with_suffix(".rival.html").write_text(text, encoding="utf-8")


def compare(browser: Browser, home: str, page: str, rival: bool) -> tuple[list[float], list[float]]:
    """Open both versions by turns."""
    ours, theirs = [], []
    for _ in range(TURNS):
        ours.append(visible(browser, home + page))
        if rival:
            theirs.append(visible(browser, home + page.replace(".html", ".rival.html")))
    return ours, theirs


def visible(browser: Browser, address: str) -> float:
    """Milliseconds from navigation to the frame that shows the widget."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    tab = context.new_page()
    tab.add_init_script(f"({WATCH})()")
    tab.goto(address, wait_until="commit")
    tab.wait_for_function("window.shownAfter")
    after = float(tab.evaluate("window.shownAfter"))
    context.close()
    return after


def weigh(browser: Browser, home: str, page: str, site: Path) -> float:
    """Kilobytes of all files that the page asks for, text compressed."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    tab, asked = context.new_page(), set()

    def note(request: Request) -> None:
        if request.url.startswith(home):
            asked.add(request.url.removeprefix(home).split("?")[0].split("#")[0])

    tab.on("request", note)
    tab.goto(home + page, wait_until="networkidle")
    context.close()
    total = 0
    for name in asked:
        data = (site / name).read_bytes()
        total += len(gzip.compress(data) if Path(name).suffix in TEXT else data)
    return total / 1e3


if __name__ == "__main__":
    sys.exit(main())
