"""How soon the widgets show and follow the slider: ``python -m benchmarks.widgets``.

Runs a browser without a window (chromium, playwright). Each widget is opened from a file in a fresh
context, and is visible when the first frame after its `render` has been painted. Then the mouse
drags the slider of the activation scale. The time of a step runs from the moment at which the page
receives the pointer's move to the moment after the frame that shows it; the pure computation of one
step, both directions and the theory, is given beside it.
"""

import os
import shutil
import statistics
import tempfile
from pathlib import Path
from typing import Any

from layerlab import widgets
from playwright.sync_api import Browser, sync_playwright

from tests.book.browser import SWITCHES
from tests.layerlab.widget_page import write_page

VISIBLE_MS = 700
STEPS = 120
# Width of the network, milliseconds that 95 of 100 steps may take.
SLIDER_MS = ((128, 20), (256, 50))

FOLLOW = """() => {
  window.taken = [];
  const range = el.querySelector("input[type=range]");
  let received = 0;
  addEventListener("pointermove", () => { received = performance.now(); }, { capture: true });
  range.addEventListener("input", () => {
    const from = received, channel = new MessageChannel();
    channel.port1.onmessage = () => window.taken.push(performance.now() - from);
    requestAnimationFrame(() => channel.port2.postMessage(0));
  });
}"""


def main() -> None:
    """Print the figures."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    print(f"load average before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=chromium, args=list(SWITCHES))
        opened(browser, widgets.Dropout(), Path(folder)).context.close()
        print(f"visible after navigation, median of 5 (wanted: below {VISIBLE_MS} ms)")
        for name in widgets.__all__:
            print(f"  {name:22} {visible(browser, getattr(widgets, name)(), Path(folder)):5.0f} ms")
        print("slider to painted frame, 50 layers, batch 32")
        for width, wanted in SLIDER_MS:
            print(f"  width {width}: {slider(browser, width, Path(folder))} (wanted: {wanted} ms)")
        browser.close()


def opened(browser: Browser, widget: Any, folder: Path) -> Any:
    """Open a widget in a fresh context and wait for its first frame."""
    page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
    page.goto(write_page(widget, folder / "page.html").as_uri())
    page.wait_for_function("window.shownAfter")
    return page


def visible(browser: Browser, widget: Any, folder: Path) -> float:
    """Milliseconds from navigation to the first frame with the widget."""
    times = []
    for _ in range(5):
        page = opened(browser, widget, folder)
        times.append(page.evaluate("window.shownAfter"))
        page.context.close()
    return statistics.median(times)


def slider(browser: Browser, width: int, folder: Path) -> str:
    """Drag the slider; give the 50th and 95th percentile, and the computation alone."""
    page = opened(browser, widgets.ActivationScale(width=width, depth=50), folder)
    page.wait_for_selector("canvas[data-done]", state="attached")
    page.evaluate(FOLLOW)
    box = page.locator("input[type=range]").first.bounding_box()
    height = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] * 0.6, height)
    page.mouse.down()
    for step in range(STEPS):
        page.mouse.move(box["x"] + box["width"] * (0.2 + 0.6 * step / STEPS), height)
        page.wait_for_timeout(25)
    page.mouse.up()
    taken = page.evaluate("taken")
    alone = page.evaluate("el.timed(20)")
    page.context.close()
    cuts = statistics.quantiles(taken, n=20)
    return (
        f"p50 {cuts[9]:.1f} ms, p95 {cuts[18]:.1f} ms over {len(taken)} steps; "
        f"computation alone {statistics.median(alone):.1f} ms"
    )


if __name__ == "__main__":
    main()
