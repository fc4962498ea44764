"""A real Jupyter server on a folder, with nothing of the user's own settings."""

import json
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

PLACES = {"JUPYTER_CONFIG_DIR": "config", "JUPYTER_RUNTIME_DIR": "run",
          "JUPYTER_DATA_DIR": "data", "IPYTHONDIR": "ipython"}  # fmt: skip


@contextmanager
def jupyter_server(
    root: Path, home: Path, extensions: dict[str, bool], **settings: dict
) -> Iterator[SimpleNamespace]:
    """Run a server on `root`, its own files in `home`; gives its address and token."""
    token = secrets.token_hex(16)
    (home / "config").mkdir()
    server = {"jpserver_extensions": extensions, "root_dir": str(root)}
    config = {"ServerApp": server, "IdentityProvider": {"token": token}, **settings}
    (home / "config" / "jupyter_server_config.json").write_text(json.dumps(config))
    command = [sys.executable, "-m", "jupyter_server", "--no-browser", "--allow-root",
               "--ip=127.0.0.1", "--port=0"]  # fmt: skip
    environment = os.environ | {name: str(home / part) for name, part in PLACES.items()}
    environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"
    with (home / "log").open("w+") as log:
        process = subprocess.Popen(
            command, cwd=root, env=environment, stdout=log, stderr=subprocess.STDOUT
        )
        try:
            yield SimpleNamespace(url=_address(process, home), token=token)
        finally:
            process.terminate()
            process.wait(20)


def _address(process: subprocess.Popen, home: Path) -> str:
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline and process.poll() is None:
        for path in (home / "run").glob("jpserver-*.json"):
            try:
                return json.loads(path.read_text())["url"]
            except ValueError:
                pass
        time.sleep(0.1)
    pytest.fail("the Jupyter server did not start: " + (home / "log").read_text()[-3000:])
