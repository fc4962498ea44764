"""Downloads as learning management systems give them, and as somebody hostile packs them."""

import io
import tarfile
import zipfile

import pytest

from autograder.course.archive import Reader
from autograder.course.collect import Pattern, collect
from autograder.course.paths import CourseError
from tests.course.conftest import make_course

NAME = "double_{}_attempt_2026-01-30-15-{}-10_double.ipynb"


@pytest.fixture
def course(tmp_path):
    return make_course(tmp_path / "course")


@pytest.fixture
def downloads(tmp_path):
    folder = tmp_path / "downloads"
    folder.mkdir()
    return folder


def run(course, downloads, **options):
    return collect(course, downloads, course.submitted, **options)


def tree(course):
    root = course.submitted
    return {str(path.relative_to(root)): path.read_text() for path in root.rglob("*.*")}


def pack(path, **files):
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path


def test_names_of_a_learning_management_system_are_understood(course, downloads):
    (downloads / NAME.format("ada", 30)).write_text("one")
    (downloads / "double_bob_attempt_2026-01-30-15-31-10_double (1).ipynb").write_text("two")
    (downloads / "double_bob_attempt_2026-01-30-15-31-10_plot.png").write_text("image")
    collected = run(course, downloads)
    assert tree(course) == {
        "ada/double/double.ipynb": "one",
        "ada/double/timestamp.txt": "2026-01-30 15:30:10 UTC\n",
        "bob/double/double.ipynb": "two",
        "bob/double/plot.png": "image",
        "bob/double/timestamp.txt": "2026-01-30 15:31:10 UTC\n",
    }
    assert not collected.refused


def test_of_two_uploads_the_newer_counts_in_whatever_order_they_come(course, downloads):
    (downloads / NAME.format("ada", 50)).write_text("newer")
    pack(downloads / "again.zip", **{NAME.format("ada", 20): "older"})
    pack(downloads / "zz.zip", **{NAME.format("ada", 30): "old"})
    collected = run(course, downloads)
    assert tree(course)["ada/double/double.ipynb"] == "newer"
    assert tree(course)["ada/double/timestamp.txt"].startswith("2026-01-30 15:50:10")
    assert len(collected.notes) == 2
    assert all("an older upload of" in note for note in collected.notes)


@pytest.mark.parametrize("packed", ["folder", "zip", "zip of zips", "tar.gz"])
def test_folders_of_students_are_understood_however_they_are_packed(packed, course, tmp_path):
    files = {"ada/double/double.ipynb": "one", "bob/double/double.ipynb": "two"}
    source = tmp_path / f"class.{packed}"
    if packed == "folder":
        for name, text in files.items():
            (source / name).parent.mkdir(parents=True)
            (source / name).write_text(text)
    elif packed == "zip":
        pack(source, **{f"class/{name}": text for name, text in files.items()})
    elif packed == "tar.gz":
        with tarfile.open(source, "w:gz") as archive:
            for name, text in files.items():
                info = tarfile.TarInfo(name)
                info.size = len(text)
                archive.addfile(info, io.BytesIO(text.encode()))
    else:
        source = tmp_path / "class.zip"
        inner = [pack(tmp_path / "ada.zip", **{"double/double.ipynb": "one"}),
                 pack(tmp_path / "bob.zip", **{"double/double.ipynb": "two"})]  # fmt: skip
        with zipfile.ZipFile(source, "w") as archive:
            for path in inner:
                archive.write(path, path.name)
    collected = run(course, source)
    assert tree(course) == files
    assert not collected.refused


ESCAPES = {
    "parent": "../../evil_attempt.ipynb",
    "deep parent": "ada/double/../../../../evil.ipynb",
    "absolute": "/tmp/evil_absolute.ipynb",
    "drive": "C:/evil.ipynb",
    "backslashes": "..\\..\\evil.ipynb",
}


@pytest.mark.parametrize("escape", ESCAPES)
def test_no_name_leads_out_of_the_folder(escape, course, tmp_path):
    source = pack(tmp_path / "x.zip", **{ESCAPES[escape]: "evil",
                                         "ada/double/double.ipynb": "good"})  # fmt: skip
    before = {path for path in tmp_path.rglob("*") if "submitted" not in str(path)}
    collected = run(course, source)
    assert tree(course) == {"ada/double/double.ipynb": "good"}
    after = {path for path in tmp_path.rglob("*") if "submitted" not in str(path)}
    assert {path for path in after - before if "_build" not in str(path)} == set()
    assert len(collected.refused) == 1
    assert "leads out of the folder" in collected.refused[0]


@pytest.mark.parametrize("student", ["..", ".hidden", "a\\b", "x\x1b[31m"])
def test_no_name_of_a_student_leads_out_either(student, course, downloads):
    pattern = Pattern(r"of_(?P<student_id>.+)_at_(?P<timestamp>[\d-]+)_(?P<file_id>.+)")
    pack(downloads / "x.zip", **{f"of_{student}_at_1_double.ipynb": "evil"})
    collected = run(course, downloads, pattern=pattern)
    assert tree(course) == {}
    assert len(collected.refused) == 1


def test_links_and_devices_are_left_out(course, downloads, tmp_path):
    secret = tmp_path / "secret.ipynb"
    secret.write_text("the instructor's")
    (downloads / NAME.format("ada", 30)).symlink_to(secret)
    with tarfile.open(downloads / "links.tar", "w") as archive:
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE):
            info = tarfile.TarInfo(f"bob{kind.decode()}/double/double.ipynb")
            info.type, info.linkname = kind, str(secret)
            archive.addfile(info)
    with zipfile.ZipFile(downloads / "links.zip", "w") as archive:
        info = zipfile.ZipInfo("cyd/double/double.ipynb")
        info.external_attr = 0o120777 << 16
        archive.writestr(info, str(secret))
    collected = run(course, downloads)
    assert tree(course) == {}
    assert len(collected.refused) == 6


def test_a_link_in_the_submitted_folder_is_not_written_through(course, downloads, tmp_path):
    """An earlier submission may have planted it."""
    victim = tmp_path / "victim"
    (victim / "double").mkdir(parents=True)
    course.submitted.mkdir(parents=True)
    (course.submitted / "ada").symlink_to(victim)
    (downloads / NAME.format("ada", 30)).write_text("evil")
    collected = run(course, downloads)
    assert not list(victim.rglob("*.ipynb"))
    assert "nothing is written there" in collected.refused[0]


def test_what_unpacks_enormously_is_left_out_unread(course, downloads, monkeypatch):
    with zipfile.ZipFile(downloads / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("ada/double/double.ipynb", b"0" * 30_000_000)
    monkeypatch.setattr("autograder.course.archive.LARGEST_FILE", 1000)
    (downloads / NAME.format("bob", 30)).write_text("x" * 2000)
    collected = run(course, downloads)
    assert tree(course) == {}
    assert sorted(line.split(": ", 1)[1] for line in collected.refused) == [
        "0 MB is too large; left out.", "would unpack enormously; left out.",
    ]  # fmt: skip


def test_a_lying_size_is_noticed(downloads, monkeypatch):
    path = pack(downloads / "lies.zip", **{"ada/double/double.ipynb": "x" * 5000})
    monkeypatch.setattr("autograder.course.archive.LARGEST_FILE", 4000)
    data = bytearray(path.read_bytes())
    at = data.rindex(b"PK\x01\x02")
    data[at + 24 : at + 28] = (10).to_bytes(4, "little")
    path.write_bytes(data)
    reader = Reader()
    assert all(len(found.content) <= 4000 for found in reader.read(downloads))


def test_archives_in_archives_end_somewhere(course, downloads, tmp_path):
    content, name = b"x", "double.ipynb"
    for level in range(6):
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w") as archive:
            archive.writestr(name, content)
        content, name = stream.getvalue(), f"level{level}.zip"
    (downloads / "deep.zip").write_bytes(content)
    collected = run(course, downloads)
    assert tree(course) == {}
    assert "an archive in 3 others" in collected.refused[0]


def test_broken_and_strange_files_take_one_line_each(course, downloads):
    (downloads / "broken.zip").write_bytes(b"PK\x03\x04 broken")
    (downloads / "stray.ipynb").write_text("whose?")
    (downloads / "essay_ada_attempt_2026-01-30-15-30-10_essay.ipynb").write_text("other")
    (downloads / ".DS_Store").write_text("litter")
    collected = run(course, downloads)
    reasons = sorted(line.split(": ", 1)[1].split(" (")[0] for line in collected.refused)
    assert reasons == [
        "cannot be read as an archive",
        "its name does not tell whose it is; rename it, or pass --regexp.",
    ]
    assert tree(course)["ada/double/essay.ipynb"] == "other", "the only assignment there is"


@pytest.mark.parametrize("regexp", ["(", "(?P<student_id>.*)"])
def test_an_expression_that_cannot_work_is_refused(regexp):
    with pytest.raises(CourseError, match="--regexp"):
        Pattern(regexp)
