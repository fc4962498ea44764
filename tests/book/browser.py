"""Look at pages as a browser shows them, and note everything that goes wrong on the way."""

import functools
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

SWITCHES = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip
SIZES = {1280: 800, 375: 720}

# Resolves when formulas are set and fonts are there.
SETTLED = """async () => {
  await window.MathJax?.startup?.promise;
  await document.fonts.ready;
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
}"""

CONTROLS = """() => {
  const kinds = "a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex]";
  const shown = (e) => e.checkVisibility({checkVisibilityCSS: true}) && e.getClientRects().length;
  const radios = (e) => e.type === "radio" && !e.checked;
  return [...document.querySelectorAll(kinds)]
    .filter((e) => !e.disabled && e.tabIndex >= 0 && shown(e) && !radios(e))
    .map((e, i) => { e.dataset.stop = i; return e.outerHTML.slice(0, 120); });
}"""


class _Quiet(SimpleHTTPRequestHandler):
    # Connections are kept, as web hosts do.
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *args: Any) -> None:
        """Say nothing."""


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a browser that closed the page while it was being sent."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


@contextmanager
def serve(folder: Path) -> Iterator[str]:
    """Serve a folder; gives its address with a slash at the end."""
    handler = functools.partial(_Quiet, directory=str(folder))
    with _Server(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


class Visit:
    """A page of a browser and what it complained about."""

    def __init__(self, browser: Any, home: str, width: int = 1280, scheme: str = "light") -> None:
        size = {"width": width, "height": SIZES[width]}
        self.context = browser.new_context(
            viewport=size, color_scheme=scheme, has_touch=width < 500, reduced_motion="reduce"
        )
        self.home, self.width = home, width
        self.page = self.context.new_page()
        self.problems: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", self._on_console)
        self.page.on("pageerror", lambda error: self.problems.append(f"error: {error}"))
        self.page.on("request", self._on_request)
        self.page.on("response", self._on_response)

    def __enter__(self) -> "Visit":
        return self

    def __exit__(self, *_: object) -> None:
        self.context.close()

    def open(self, path: str) -> Any:
        """Open a page of the site, forget the one before, and wait until it has settled."""
        self.problems.clear()
        self.requests.clear()
        self.page.goto(self.home + path)
        self.page.evaluate(SETTLED)
        return self.page

    def _on_console(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.problems.append(f"console {message.type}: {message.text} {message.location}")

    def _on_request(self, request: Any) -> None:
        self.requests.append(request.url)
        if not request.url.startswith((self.home, "data:", "blob:")):
            self.problems.append(f"request to another place: {request.url}")

    def _on_response(self, response: Any) -> None:
        if response.status >= 400:
            self.problems.append(f"status {response.status}: {response.url}")


def unreached(page: Any) -> list[str]:
    """Press Tab through the page; list the controls that never had the focus."""
    controls = page.evaluate(CONTROLS)
    reached: set[str] = set()
    page.evaluate("document.activeElement.blur(); window.scrollTo(0, 0)")
    for _ in range(len(controls) + 5):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.dataset.stop ?? ''"))
    return [html for stop, html in enumerate(controls) if str(stop) not in reached]
