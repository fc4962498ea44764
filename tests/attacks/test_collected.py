"""Hostile downloads: nothing is written outside, nothing that is no file, no line of its own."""

import io
import os
import re
import stat
import tarfile
import zipfile

import pytest

from autograder.course.collect import collect
from autograder.course.paths import Course
from tests.course.conftest import make_course

RIGHT = b'{"cells": [], "nbformat": 4, "nbformat_minor": 5, "metadata": {}}'
OUTSIDE = (
    "../../_build/gradebook.db", "ada/double/../../../../escaped.ipynb", "/tmp/escaped.ipynb",
    "..\\..\\escaped.ipynb", "C:\\escaped.ipynb", "ada/double/./../../../x.ipynb",
    "~/escaped.ipynb", "../ada/double/double.ipynb", "..", "//server/share/double.ipynb",
)  # fmt: skip
STRANGE = (
    "ada/double/\x1b[2Jdouble.ipynb", "a\nb 20 20/double/double.ipynb", "\u202eada/double/x.ipynb",
    os.fsdecode(b"ada/double/\xff.ipynb"), "--force/double/double.ipynb", "ada/double/.bashrc",
    ".git/double/config.ipynb", "ada/double/" + "n" * 300 + ".ipynb",
)  # fmt: skip


@pytest.fixture
def course(tmp_path):
    return make_course(tmp_path / "deep" / "er" / "course")


def everything_below(folder):
    return {str(p.relative_to(folder)) for p in folder.rglob("*") if not p.is_dir()}


def attack(course: Course, archive):
    """Collect an archive; give the report, once nothing but submissions was written."""
    root = course.root.parents[2]
    before = everything_below(root)
    collected = collect(course, archive, course.submitted)
    made = everything_below(root) - before
    new = {path for path in made if "_build/source/" not in path}
    submitted = str(course.submitted.relative_to(root))
    assert all(re.fullmatch(rf"{submitted}/\w+/double/[\w.]+", path) for path in new), new
    found = list(course.submitted.rglob("*"))
    assert not [p for p in found if p.is_symlink() or (p.is_file() and p.stat().st_nlink > 1)]
    text = collected.text()
    assert re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e]", text) is None
    text.encode()
    assert not [line for line in text.splitlines() if line.startswith("b 20 20")]
    return collected


def entry(archive, name, content=RIGHT, mode=stat.S_IFREG | 0o644):
    info = zipfile.ZipInfo("x")
    info.filename, info.external_attr = name, mode << 16
    archive.writestr(info, content)


def test_a_zip_that_leads_elsewhere(course, tmp_path):
    path = tmp_path / "all.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name in (*OUTSIDE, *(n for n in STRANGE if n.isascii())):
            entry(archive, name)
        entry(archive, "eve/double/double.ipynb", b"/etc/passwd", stat.S_IFLNK | 0o777)
        entry(archive, "eve/double/pipe.ipynb", b"", stat.S_IFIFO | 0o666)
        entry(archive, "ben/double/double.ipynb")
    collected = attack(course, path)
    assert collected.written == {"ben/double": ["double.ipynb"]}
    assert len(collected.refused) >= len(OUTSIDE)


def test_a_tar_with_links_and_devices(course, tmp_path):
    path = tmp_path / "all.tar"
    kinds = {"hard": tarfile.LNKTYPE, "soft": tarfile.SYMTYPE, "pipe": tarfile.FIFOTYPE,
             "disk": tarfile.BLKTYPE, "tty": tarfile.CHRTYPE}  # fmt: skip
    with tarfile.open(path, "w") as archive:
        for name, kind in kinds.items():
            info = tarfile.TarInfo(f"{name}/double/double.ipynb")
            info.type, info.linkname = kind, str(course.root / "_build" / "course_secret")
            archive.addfile(info)
        for name in (*OUTSIDE, *STRANGE, "ben/double/double.ipynb"):
            info = tarfile.TarInfo(name)
            info.size = len(RIGHT)
            archive.addfile(info, io.BytesIO(RIGHT))
    collected = attack(course, path)
    assert collected.written == {"ben/double": ["double.ipynb"]}
    assert len(collected.refused) >= len(kinds) + len(OUTSIDE)


def test_a_folder_with_strange_things_in_it(course, tmp_path):
    downloads = tmp_path / "downloads" / "eve" / "double"
    downloads.mkdir(parents=True)
    (course.build).mkdir(exist_ok=True)
    (course.build / "course_secret").write_text("secret")
    (downloads / "double.ipynb").symlink_to(course.build / "course_secret")
    os.mkfifo(downloads / "pipe.ipynb")
    (downloads / "\x1b[2J.ipynb").write_bytes(RIGHT)
    ben = tmp_path / "downloads" / "ben" / "double" / "double.ipynb"
    ben.parent.mkdir(parents=True)
    ben.write_bytes(RIGHT)
    collected = attack(course, tmp_path / "downloads")
    assert collected.written == {"ben/double": ["double.ipynb"]}


def test_a_folder_waiting_as_a_link_is_not_written_through(course, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (course.submitted / "ben").mkdir(parents=True)
    (course.submitted / "ben" / "double").symlink_to(elsewhere)
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        entry(archive, "ben/double/double.ipynb")
    collected = collect(course, tmp_path / "all.zip", course.submitted)
    assert list(elsewhere.iterdir()) == []
    assert "a link" in collected.refused[0]
