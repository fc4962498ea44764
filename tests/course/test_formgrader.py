"""The class that our engine graded, as an instructor sees it in nbgrader's formgrader."""

import json
import secrets
import shutil
import time
from contextlib import contextmanager

import pytest
from nbgrader.api import Gradebook

from autograder.cli import main
from autograder.course.folders import Folders
from autograder.course.release import release
from tests.book.browser import SWITCHES
from tests.course.conftest import hand_in, make_course
from tests.jupyter_server import jupyter_server

pytestmark = pytest.mark.class_run

RIGHT = "def double(x):\n    return 2 * x"
PARTLY = "def double(x):\n    return 2 * abs(x)"
OWNED = "document.documentElement.dataset.owned = 1"
SCRIPT = f"<script>{OWNED}</script><img src=x onerror='{OWNED}'><svg onload='{OWNED}'></svg>"
HOSTILE = f"""{RIGHT}
from IPython.display import HTML, SVG, Javascript, Markdown, Latex, display
text = {SCRIPT!r}
for kind in (HTML, Javascript, Markdown, Latex):
    display(kind(text))
display({{'image/svg+xml': text, 'text/html': text}}, raw=True)
print(text)
raise type(text, (Exception,), {{}})(text)
"""
# No slash may stand in a folder's name.
HOSTILE_NAME = f"<img src=x onerror='{OWNED}'>"
SECONDS = 20_000


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """Grade a class with the isolated engine; one student is after whoever looks at the page."""
    root = tmp_path_factory.mktemp("formgrader")
    course, folder = make_course(root / "course"), root / "handed_in"
    release(course)
    hand_in(course, folder, "ada", RIGHT)
    hand_in(course, folder, "bob", PARTLY)
    hand_in(course, folder, HOSTILE_NAME, RIGHT)
    roster = "id,first_name,last_name\nada,Ada,Lovelace\nbob,,\ncyd,,\neve,{0},{0}\n{0},,\n"
    (folder / "roster.csv").write_text(roster.format(HOSTILE_NAME))
    starter = hand_in(course, folder, "cyd", "")
    shutil.copyfile(course.exercises / "double" / "double.ipynb", starter)
    path = hand_in(course, folder, "eve", HOSTILE)
    notebook = json.loads(path.read_text())
    for text in (SCRIPT, f"[x](javascript:{OWNED})\n\n$\\href{{javascript:{OWNED}}}{{x}}$"):
        notebook["cells"].append({"cell_type": "markdown", "metadata": {}, "source": text,
                                  "id": secrets.token_hex(4)})  # fmt: skip
    path.write_text(json.dumps(notebook))
    assert main(["--root", str(course.root), "grade", str(folder), "--jobs", "1"]) == 3
    return course


@contextmanager
def opened(course):
    folders = Folders.of(course)
    with Gradebook(folders.db_url, folders.course_id) as book:
        yield book


@pytest.fixture(scope="module")
def server(graded, tmp_path_factory):
    """Run a Jupyter server with nbgrader's extension on the course; give its address and token."""
    pytest.importorskip("jupyter_server", reason="jupyter_server is not installed")
    extensions = {"nbgrader.server_extensions.formgrader": True}
    with jupyter_server(graded.root, tmp_path_factory.mktemp("home"), extensions) as server:
        yield server


@pytest.fixture(scope="module")
def browser():
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if not chromium:
        pytest.skip("chromium is not installed (apt-get install chromium)")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=list(SWITCHES))
        yield browser
        browser.close()


@pytest.fixture
def visit(server, browser):
    """Give a function that opens a page of formgrader; nothing is loaded from other hosts."""
    context = browser.new_context()
    context.set_default_timeout(SECONDS)
    context.route(lambda url: not url.startswith(server.url), lambda route: route.abort())
    page = context.new_page()

    # As an instructor comes in: the cookies of the first page belong to the later ones.
    page.goto(f"{server.url}formgrader/manage_assignments?token={server.token}")

    def visit(path):
        page.goto(f"{server.url}formgrader/{path}")
        return page

    yield visit
    context.close()


def submission(course, student):
    with opened(course) as book:
        return book.find_submission_notebook("double", "double", student).id


def owned(page):
    page.wait_for_timeout(300)
    return page.evaluate("document.documentElement.dataset.owned")


def test_the_class_is_listed_with_its_scores(graded, visit):
    page = visit("manage_students")
    page.wait_for_function("document.querySelectorAll('tbody tr').length > 3")
    rows = [[cell.strip() for cell in row.locator("td").all_inner_texts()]
            for row in page.locator("tbody tr").all()]  # fmt: skip
    scores = {row[1]: row[3] for row in rows}
    assert scores.pop(HOSTILE_NAME, None) is None
    assert scores == {"ada": "4 / 4", "bob": "3 / 4", "cyd": "0 / 4", "eve": "4 / 4"}
    assert any(row[0] == "Lovelace, Ada" for row in rows)
    assert owned(page) is None
    page = visit("gradebook/double/double")
    page.wait_for_function("document.querySelectorAll('tbody tr').length > 3")
    assert page.locator("tbody a", has_text="Submission #1").count() == 1


def test_a_graded_notebook_opens_with_score_report_and_comment(graded, visit):
    page = visit(f"submissions/{submission(graded, 'bob')}/")
    page.locator("#unseen[placeholder='3']").wait_for()
    text = page.locator("#notebook").first.inner_text()
    assert "return 2 * abs(x)" in text
    assert page.locator("input.score").count() == 1
    page = visit(f"submissions/{submission(graded, 'cyd')}/")
    page.locator("#unseen[placeholder='0']").wait_for()
    assert page.locator("#double-comment").get_attribute("placeholder") == "No response."


def test_marks_and_comments_given_in_formgrader_survive_a_regrade(graded, visit, capsys):
    page = visit(f"submissions/{submission(graded, 'cyd')}/")
    page.locator("#unseen[placeholder='0']").wait_for()
    deadline = time.monotonic() + SECONDS / 1000
    while _by_hand(graded) != (1.5, "Come and see me.") and time.monotonic() < deadline:
        # What is typed before the page has fetched marks and comments is overwritten by them.
        page.fill("#unseen", "1.5")
        page.press("#unseen", "Tab")
        page.fill("#double-comment", "Come and see me.")
        page.locator("#double-comment").blur()
        time.sleep(0.5)
    again = ["--root", str(graded.root), "grade", str(graded.root.parent / "handed_in")]
    assert main([*again, "--jobs", "1", "--force", "--student", "cyd"]) == 0
    assert _by_hand(graded) == (1.5, "Come and see me.")
    assert "double: 1.5 of 4 points" in Folders.of(graded).page(
        "cyd", "double", "double"
    ).read_text()


def _by_hand(course):
    with opened(course) as book:
        grade = book.find_grade("unseen", "double", "double", "cyd")
        return grade.manual_score, book.find_comment("double", "double", "double", "cyd").comment


def test_nothing_that_a_student_wrote_runs_in_the_instructors_browser(graded, visit):
    page = visit(f"submissions/{submission(graded, 'eve')}/")
    page.locator("#unseen[placeholder='4']").wait_for()
    assert OWNED in page.locator("#notebook").first.inner_text(), "shown as text"
    assert owned(page) is None
    links = page.locator("#notebook a").evaluate_all("all => all.map((a) => a.href)")
    assert not [link for link in links if link.startswith("javascript:")]
