"""Pack the built site into one file that opens without a server.

``python book/_ext/offline_zip.py SITE ZIP``. Unpack it and open ``index.html``. The same site gives
the same file: names are sorted and times left out.
"""

import sys
import zipfile
from pathlib import Path

# What only Sphinx itself or other sites need.
LEFT_OUT = {".buildinfo", "objects.inv"}


def pack(site: Path, target: Path) -> Path:
    """Write ``target`` with all files of ``site`` in a folder of its own name."""
    if not (site / "index.html").is_file():
        raise SystemExit(f"offline_zip: there is no built site in {site}. Run `make book` first.")
    files = sorted(p for p in site.rglob("*") if p.is_file() and p.name not in LEFT_OUT)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path in files:
            entry = zipfile.ZipInfo(f"{target.stem}/{path.relative_to(site).as_posix()}")
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, path.read_bytes())
    return target


if __name__ == "__main__":
    packed = pack(Path(sys.argv[1]), Path(sys.argv[2]))
    print(f"{packed}: {packed.stat().st_size / 1e6:.1f} MB. Unpack it and open index.html.")
