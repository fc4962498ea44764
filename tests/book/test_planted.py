"""Faults that must stop the build, each planted in a small book of its own kind."""

import os
import shutil
import subprocess
import sys

import pytest
import yaml

from tests.book.site import ROOT

pytestmark = pytest.mark.book

FRONT = """---
file_format: mystnb
kernelspec:
  name: python3
  display_name: Python 3
---
"""


def question(name, answer, wrong=""):
    options = f":answer: {answer}\n:within: 0.1"
    return f"# A question\n\n```{{numbercheck}} {name}\n{options}\nHow much?\n\n{wrong}\n```\n"


def cell(code):
    return f"\n# A cell\n\n```{{code-cell}} ipython3\n{code}\n```\n"


FAULTS = {
    "fails": FRONT + cell("raise RuntimeError('no')"),
    "unconverted": cell("print('never run')"),
    "lost": "# A lost reference\n\nSee [there](#no-such-place) and {ref}`nowhere`.\n",
    "check": question("q", "unknown + 1"),
    "close": question("p", "1", "- `1.1` Off."),
}
SOUND = {
    "index": FRONT + cell("print(6 * 7)") + "\nSee [the next page](second.md).\n",
    "second": question("r", "6 * 7", "- `6 + 7` That is the sum."),
}


def build(folder, pages):
    """Build a small book with the configuration and the extensions of the real one."""
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    config["html"]["favicon"] = config["logo"] = ""
    config["bibtex_bibfiles"] = []
    settings = config["sphinx"]["config"]
    settings["extensions"].remove("sphinxcontrib.bibtex")
    del settings["bibtex_reference_style"]
    (folder / "_config.yml").write_text(yaml.safe_dump(config), encoding="utf-8")
    book = folder / "book"
    shutil.copytree(ROOT / "book" / "_ext", book / "_ext")
    contents = {"format": "jb-book", "root": "index"}
    contents["chapters"] = [{"file": name} for name in pages if name != "index"]
    (book / "_toc.yml").write_text(yaml.safe_dump(contents), encoding="utf-8")
    for name, text in pages.items():
        (book / f"{name}.md").write_text(text, encoding="utf-8")
    start = "from jupyter_book.cli.main import main; main()"
    command = [sys.executable, "-c", start, "build", "book", "-W", "--keep-going"]
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


def test_a_sound_book_builds(tmp_path):
    code, log = build(tmp_path, SOUND)
    assert code == 0, log[-2000:]
    assert "42" in (tmp_path / "_build" / "html" / "index.html").read_text(encoding="utf-8")


def test_faults_stop_the_build_and_are_named(tmp_path):
    code, log = build(tmp_path, {"index": "# Faults\n", **FAULTS})
    assert code != 0
    lines = [line for line in log.splitlines() if "WARNING" in line or "ERROR" in line]
    said = {name: [x for x in lines if f"/{name}" in x] for name in FAULTS}
    assert "executing notebook failed" in " ".join(said["fails"]).lower()
    assert "would not run" in " ".join(said["unconverted"])
    assert "no-such-place" in " ".join(said["lost"])
    assert "nowhere" in " ".join(said["lost"])
    assert "unknown" in " ".join(said["check"])
    assert "too close" in " ".join(said["close"])
