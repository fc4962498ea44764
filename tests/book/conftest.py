"""The built book and a browser, shared by the tests of the book."""

import fcntl
import json
import shutil

import pytest

from tests.book.browser import SWITCHES, serve
from tests.book.site import Site, build


@pytest.fixture(scope="session")
def site(tmp_path_factory, request):
    """Build the book once, also if several workers ask for it."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if hasattr(request.config, "workerinput") else base
    root, said = shared / "book", shared / "book.json"
    with (shared / "book.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not said.is_file():
            root.mkdir()
            built = build(root)
            said.write_text(json.dumps([built.code, built.log]), encoding="utf-8")
    code, log = json.loads(said.read_text(encoding="utf-8"))
    site = Site(root, code, log)
    assert (site.html / "index.html").is_file(), log[-3000:]
    return site


@pytest.fixture(scope="session")
def pages(site):
    return site.pages()


@pytest.fixture(scope="module")
def browser():
    """Chromium without a window. Not kept longer: it occupies the event loop of its process."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if not chromium:
        pytest.skip("chromium is not installed (apt-get install chromium)")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=list(SWITCHES))
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def address(site):
    """Where the built book is served during these tests."""
    with serve(site.html) as address:
        yield address
