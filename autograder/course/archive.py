"""Look into what students uploaded without letting it write where it likes.

Folders, archives and archives in archives are read as a stream of files; nothing is unpacked.
"""

from __future__ import annotations

import datetime
import posixpath
import stat
import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import IO, Any

ARCHIVES = (".zip", ".tar.gz", ".tgz", ".tar")
LARGEST_FILE = 64 * 2**20
LARGEST_TOTAL = 20 * 2**30
MOST_FILES = 200_000
# A zip in a zip in a zip ... of a few kilobytes unpacks to more than any disk holds.
DEEPEST = 3
# Real notebooks shrink to a tenth; what shrinks to a thousandth was made to fill a disk.
LARGEST_RATIO = 200


@dataclass
class Found:
    """One uploaded file.

    Attributes
    ----------
    place : str
        Where it was, archives included, for messages.
    parts : tuple of str
        The folders and the name that it had.
    modified : datetime or None
        When it was written, as far as an archive or the disk tells, in UTC.
    content : bytes
        All of it.
    """

    place: str
    parts: tuple[str, ...]
    modified: datetime.datetime | None
    content: bytes


@dataclass
class Reader:
    """Reads uploads; what it refuses is in `refused`, a line each."""

    refused: list[str] = field(default_factory=list)
    files: int = 0
    total: int = 0

    def read(self, source: Path) -> Iterator[Found]:
        """Give every file in a folder or an archive."""
        if source.is_dir():
            yield from self._folder(source)
        else:
            yield from self._file(source, (source.name,), top=True)

    def _folder(self, folder: Path) -> Iterator[Found]:
        for path in sorted(folder.rglob("*")):
            parts = path.relative_to(folder).parts
            if path.is_symlink():
                self.refused.append(f"{path}: a link, which may point anywhere; left out.")
            elif any(_is_litter(part) for part in parts):
                continue
            elif path.is_file():
                yield from self._file(path, parts)
            elif not path.is_dir():
                self.refused.append(f"{path}: no plain file; left out.")

    def _file(self, path: Path, parts: tuple[str, ...], *, top: bool = False) -> Iterator[Found]:
        size = path.stat().st_size
        if path.name.endswith(ARCHIVES):
            # The folder that holds an archive says whose it is; the download as a whole does not.
            inner = parts[:-1] if top else (*parts[:-1], _stem(path.name))
            with path.open("rb") as file:
                yield from self._archive(file, path.name, str(path), inner, depth=1)
        elif self._accept(str(path), size):
            modified = datetime.datetime.fromtimestamp(path.stat().st_mtime, datetime.UTC)
            yield Found(str(path), parts, modified.replace(tzinfo=None), path.read_bytes())

    def _archive(
        self, file: IO[bytes], name: str, place: str, parts: tuple[str, ...], depth: int
    ) -> Iterator[Found]:
        read = self._zip if name.endswith(".zip") else self._tar
        try:
            for entry in read(file, place):
                inside = (*parts, *entry.parts)
                if not entry.parts[-1].endswith(ARCHIVES):
                    yield Found(entry.place, inside, entry.modified, entry.content)
                elif depth >= DEEPEST:
                    self.refused.append(f"{entry.place}: an archive in {depth} others; left out.")
                else:
                    inner = (*inside[:-1], _stem(inside[-1]))
                    stream = BytesIO(entry.content)
                    yield from self._archive(stream, inside[-1], entry.place, inner, depth + 1)
        except (zipfile.BadZipFile, tarfile.TarError, EOFError, OSError, ValueError) as error:
            self.refused.append(f"{place}: cannot be read as an archive ({error}); ask again.")
        except (NotImplementedError, RuntimeError) as error:
            self.refused.append(f"{place}: cannot be unpacked ({error}); ask for a plain zip.")

    def _zip(self, file: IO[bytes], place: str) -> Iterator[Found]:
        with zipfile.ZipFile(file) as archive:
            for info in archive.infolist():
                inside = f"{place}!{info.filename}"
                kind = stat.S_IFMT(info.external_attr >> 16)
                if info.is_dir() or not self._safe(inside, info.filename):
                    continue
                if kind not in (0, stat.S_IFREG):
                    self.refused.append(f"{inside}: a link or device; left out.")
                elif info.file_size > LARGEST_RATIO * max(info.compress_size, 5000):
                    self.refused.append(f"{inside}: would unpack enormously; left out.")
                elif self._accept(inside, info.file_size):
                    with archive.open(info) as entry:
                        yield self._found(inside, info.filename, _zip_time(info), entry)

    def _tar(self, file: IO[bytes], place: str) -> Iterator[Found]:
        with tarfile.open(fileobj=file, mode="r|*") as archive:
            for member in archive:
                inside = f"{place}!{member.name}"
                if member.isdir() or not self._safe(inside, member.name):
                    continue
                if not member.isreg():
                    self.refused.append(f"{inside}: a link or device; left out.")
                elif self._accept(inside, member.size):
                    modified = datetime.datetime.fromtimestamp(member.mtime, datetime.UTC)
                    entry = archive.extractfile(member)
                    if entry is not None:
                        time = modified.replace(tzinfo=None)
                        yield self._found(inside, member.name, time, entry)

    def _found(self, place: str, name: str, modified: Any, entry: IO[bytes]) -> Found:
        # The size that an archive states is a claim.
        content = entry.read(LARGEST_FILE + 1)
        if len(content) > LARGEST_FILE:
            raise ValueError(f"{name} is larger than it says")
        return Found(place, PurePosixPath(name).parts, modified, content)

    def _safe(self, place: str, name: str) -> bool:
        """Accept names that stay below the folder they are unpacked in."""
        parts = PurePosixPath(name).parts
        clean = posixpath.normpath(name)
        bad = (
            not parts or name.startswith("/") or "\\" in name or "\0" in name or ":" in parts[0]
            or clean.startswith("..") or ".." in parts
        )  # fmt: skip
        if bad:
            self.refused.append(f"{place}: its name leads out of the folder; left out.")
        return not bad and not any(_is_litter(part) for part in parts)

    def _accept(self, place: str, size: int) -> bool:
        self.files += 1
        self.total += size
        if size > LARGEST_FILE:
            self.refused.append(f"{place}: {size / 1e6:.0f} MB is too large; left out.")
        elif self.files > MOST_FILES or self.total > LARGEST_TOTAL:
            self.refused.append(f"{place}: too many or too large files in all; left out.")
        else:
            return True
        return False


def _is_litter(part: str) -> bool:
    """Tell what operating systems and editors leave in folders and archives."""
    return part == "__MACOSX" or (part.startswith(".") and part not in (".", ".."))


def _stem(name: str) -> str:
    for suffix in ARCHIVES:
        name = name.removesuffix(suffix)
    return name


def _zip_time(info: zipfile.ZipInfo) -> datetime.datetime | None:
    try:
        return datetime.datetime(*info.date_time)
    except ValueError:
        return None
