"""The table of the security guide says what the attacks on the sandbox must come to."""

from pathlib import Path

from tests.sandbox.attacks import ANY, FILES, PROCESSES
from tests.sandbox.attacks_outside import KERNEL, NETWORK

GUIDE = Path(__file__).parents[2] / "book" / "guides" / "security.md"
OUTCOMES = {one.name: one.outcomes for one in (*FILES, *PROCESSES, *NETWORK, *KERNEL)}


def word(allowed):
    if allowed == (ANY,):
        return "not promised"
    return "open" if "works" in allowed else "held"


def test_the_table_of_the_guide_is_what_the_attacks_measure():
    rows = [line.strip("| ").split(" | ") for line in GUIDE.read_text().splitlines()
            if line.startswith("| ")][1:]  # fmt: skip
    assert len(rows) >= 14
    for name, *said in rows:
        assert said == [word(OUTCOMES[name][tier]) for tier in "ABC"], name
