"""Running code nobody trusts: a process per submission, isolated as well as the machine can."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autograder.sandbox.client import Sandbox
    from autograder.sandbox.errors import (
        CallFailed,
        Deadline,
        ProtocolError,
        SandboxRefused,
        Unsupported,
        WorkerGone,
    )
    from autograder.sandbox.limits import Limits
    from autograder.sandbox.proxy import Handle, RemoteFunction
    from autograder.sandbox.session import CellResult, Worker
    from autograder.sandbox.tiers import Tier

__all__ = [
    "CallFailed", "CellResult", "Deadline", "Handle", "Limits", "ProtocolError",
    "RemoteFunction", "Sandbox", "SandboxRefused", "Tier", "Unsupported", "Worker", "WorkerGone",
]  # fmt: skip

_MODULES = {
    "client": ("Sandbox",),
    "errors": (
        "CallFailed", "Deadline", "ProtocolError", "SandboxRefused", "Unsupported", "WorkerGone",
    ),
    "limits": ("Limits",),
    "proxy": ("Handle", "RemoteFunction"),
    "session": ("CellResult", "Worker"),
    "tiers": ("Tier",),
}  # fmt: skip


def __getattr__(name: str) -> Any:
    # The zygote and the program before it live in this package too; what only the grader
    # needs must not be loaded with them.
    for module, names in _MODULES.items():
        if name in names:
            return getattr(importlib.import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
