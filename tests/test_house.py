"""Rules of the house that hold for every file."""

from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_no_file_of_the_grader_is_too_long_to_read_in_one_sitting():
    lengths = {
        path: len(path.read_text().splitlines()) for path in (ROOT / "autograder").rglob("*.py")
    }
    long = [
        f"{path}: {length} lines"
        for path, length in lengths.items()
        if length > (350 if path.parent.name == "mistakes" else 250)
    ]
    assert not long


def test_every_layer_has_the_same_stem_in_every_room():
    layers = {path.parent.name for path in ROOT.glob("solutions/*/*.md")}
    rooms = {
        "exercises/{0}/{0}.ipynb", "autograder/kernels/{0}.py", "autograder/checks/{0}.py",
        "autograder/mistakes/{0}.py", "book/chapters/{0}.md", "tests/kernels/test_{0}.py",
        "tests/variants/{0}.py",
    }  # fmt: skip
    missing = [room.format(layer) for layer in layers for room in rooms
               if not (ROOT / room.format(layer)).exists()]  # fmt: skip
    assert layers
    assert not missing
