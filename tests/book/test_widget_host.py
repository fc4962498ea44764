"""The host that mounts anywidget models in pages without a kernel."""

import base64
import json
import sys
from types import SimpleNamespace

import pytest

from tests.book.browser import Visit, serve
from tests.book.site import ROOT

sys.path.insert(0, str(ROOT / "book" / "_ext"))
from widget_host import STATE_TYPE, prepare_page

HOST = ROOT / "book" / "_ext" / "widget_host" / "static" / "widget_host" / "host.js"
VIEW = '<script type="application/vnd.jupyter.widget-view+json">{"model_id": "%s"}</script>'

COUNTER = """
let begun = 0;
export default {
  initialize({ model }) { begun += 1; model.set("begun", begun); },
  render({ model, el }) {
    const button = document.createElement("button");
    const show = () => {
      button.textContent = `${model.get("label")} ${model.get("count")} of ${model.get("begun")}`;
      button.dataset.byte = model.get("bytes").getUint8(1);
    };
    model.on("change:count", (same, value) => {
      show();
      el.dataset.seen = same === model && value;
    });
    button.onclick = () => { model.set({ count: model.get("count") + 1 }); model.save_changes(); };
    show();
    el.append(button);
  },
};
"""
NEEDS_WASM = "export default () => ({ render() { new WebAssembly.Nothing(); } });"


def model(esm, **state):
    buffers = [
        {"path": ["bytes"], "encoding": "base64", "data": base64.b64encode(b"\x01\x07").decode()}
    ]
    return {"model_name": "AnyModel", "state": {"_esm": esm, **state}, "buffers": buffers}


MODELS = {
    "a": model(
        COUNTER, label="</script><b>one</b>", count=0, _css="button { color: rgb(1, 2, 3) }"
    ),
    "b": model(COUNTER, label="two", count=5, fallback="<p>still two</p>"),
    "c": model(NEEDS_WASM, fallback="<p>still <b>three</b></p>"),
    "layout": {"model_name": "LayoutModel", "state": {"width": None}},
}


class Script(SimpleNamespace):
    """What Sphinx keeps about a script of a page."""


def prepared(body, models=MODELS):
    """Run the extension on a page; return its context and the files it asks for."""
    state = {"state": models, "version_major": 2}
    scripts = [
        Script(filename="", attributes={"type": STATE_TYPE, "body": json.dumps(state)}),
        Script(filename="other.js", attributes={}),
    ]
    context, files = {"body": body, "script_files": scripts}, []
    app = SimpleNamespace(
        add_css_file=lambda name: files.append(name),
        add_js_file=lambda name, **_: files.append(name),
    )
    prepare_page(app, "page", "page.html", context, None)
    return context, files


@pytest.fixture(scope="module")
def page_with_widgets(tmp_path_factory):
    """Write a page as the extension leaves it, beside the host."""
    folder = tmp_path_factory.mktemp("widgets")
    body = prepared("".join(f"<section id={k}>{VIEW % k}</section>" for k in "abca"))[0]["body"]
    head = '<!doctype html><meta charset="utf-8"><title>w</title><link rel="icon" href="data:,">'
    page = f'<html lang="en">{head}<body>{body}<script src="host.js"></script></body></html>'
    (folder / "page.html").write_text(page, encoding="utf-8")
    (folder / "host.js").write_bytes(HOST.read_bytes())
    return folder


def test_a_page_without_widgets_loads_nothing():
    context, files = prepared("<p>Text.</p>")
    assert files == []
    assert context["body"] == "<p>Text.</p>"
    assert [script.filename for script in context["script_files"]] == ["other.js"]


def test_fallbacks_move_beside_their_views():
    context, files = prepared(VIEW % "b")
    assert files == ["widget_host/host.css", "widget_host/host.js"]
    assert context["body"].count("<p>still two</p>") == 1
    assert "<noscript>" in context["body"]
    state = json.loads(context["body"].split(f'{STATE_TYPE}">')[1].removesuffix("</script>"))
    assert set(state["state"]) == {"a", "b", "c"}
    assert all("fallback" not in model["state"] for model in state["state"].values())


def test_a_widget_without_a_front_end_is_a_warning(caplog):
    prepared(VIEW % "layout")
    assert "no front end of its own" in caplog.text


@pytest.mark.book
@pytest.mark.parametrize("over", ["http", "file"])
def test_widgets_mount_and_react(over, browser, page_with_widgets):
    with serve(page_with_widgets) as address:
        home = address if over == "http" else page_with_widgets.as_uri() + "/"
        with Visit(browser, home) as visit:
            page = visit.open("page.html")
            one = page.locator("#a button").first
            one.wait_for()
            # Two views of one model: begun once, and both follow.
            assert page.locator("#a button").all_inner_texts() == ["</script><b>one</b> 0 of 1"] * 2
            one.click()
            assert page.locator("#a button").all_inner_texts() == ["</script><b>one</b> 1 of 1"] * 2
            assert page.locator("#a > div").first.get_attribute("data-seen") == "1"
            assert one.get_attribute("data-byte") == "7"
            assert page.locator("#b button").inner_text() == "two 5 of 2"
            assert one.evaluate("e => getComputedStyle(e).color") == "rgb(1, 2, 3)"
            assert page.locator("#c b").inner_text() == "three"
            assert "could not start in this browser" in page.locator("#c").inner_text()
            assert visit.problems == []


@pytest.mark.book
def test_without_scripts_the_still_pictures_show(browser, page_with_widgets):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(page_with_widgets.as_uri() + "/page.html")
    assert page.locator("#b").inner_text() == "still two"
    assert page.locator("button").count() == 0
    context.close()
