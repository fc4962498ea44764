"""How well this machine isolates, and what is at risk where it does not do it well."""

from __future__ import annotations

import enum
import functools
from collections.abc import Mapping

LAYERS = ("user", "wall", "namespaces", "landlock", "seccomp", "rlimits", "memory", "privileges")
MISSING = "off: "


@functools.total_ordering
class Tier(enum.Enum):
    """Strength of the isolation; A is greater than B, B greater than C.

    A: namespaces with a private root, seccomp, Landlock where the kernel has it, rlimits.
    B: seccomp and Landlock with rlimits, in the machine's own root.
    C: rlimits only.
    """

    A = "A"
    B = "B"
    C = "C"

    def __lt__(self, other: object) -> bool:
        """Order by strength."""
        if not isinstance(other, Tier):
            return NotImplemented
        return self.value > other.value

    def __str__(self) -> str:
        """Give the letter."""
        return self.value


RISKS = {
    Tier.A: "",
    Tier.B: (
        "At tier B a submission can learn which paths exist on this machine, and it can fill "
        "its folder up to the size of one file times its open files; it cannot read, write or "
        "signal anything outside."
    ),
    Tier.C: (
        "At tier C a submission runs with this machine's files and network in reach: it can "
        "read other students' submissions, the hidden tests and the gradebook, change "
        "whatever the user it runs as can change, send data away, end other processes of that "
        "user, the grader's included where it is the same user, and leave processes behind. "
        "Only its time and the memory of each process are bounded. The score itself still comes "
        "from the grader's own process, so that a wrong answer gets no points, but a submission "
        "that read the tests or changed the gradebook defeats that too. Grade on Linux "
        "with user namespaces or Landlock, in a virtual machine or a container, or pass "
        "allow_weak=True (--allow-weak-sandbox) if every submission is by someone you trust."
    ),
}


def tier_of(layers: Mapping[str, str]) -> Tier:
    """Tell the tier from what each layer achieved."""

    def holds(name: str) -> bool:
        return name in layers and not layers[name].startswith(MISSING)

    if holds("namespaces") and holds("wall") and holds("seccomp"):
        return Tier.A
    if holds("landlock") and holds("seccomp"):
        return Tier.B
    return Tier.C


def report(tier: Tier, layers: Mapping[str, str]) -> str:
    """Say in a few lines how well submissions are isolated."""
    lines = [f"sandbox tier {tier}"]
    lines += [f"  {name:<11} {layers[name]}" for name in LAYERS if name in layers]
    if RISKS[tier]:
        lines.append(RISKS[tier])
    return "\n".join(lines)
