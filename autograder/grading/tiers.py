"""How well submissions are isolated, in the words of the sandbox, for whoever grades a class."""

from __future__ import annotations

from autograder.sandbox import SandboxRefused, Tier
from autograder.sandbox.tiers import RISKS

__all__ = ["RISKS", "SandboxRefused", "Tier"]
