"""Where the files of a course lie, and the one error that its commands raise."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

TEACHING_ORDER = (
    "embedding",
    "layernorm",
    "rmsnorm",
    "batchnorm",
    "dropout",
    "initialization",
    "gradcheck",
    "optimizer",
    "signal",
    "regularization",
    "tinygpt",
)


class CourseError(Exception):
    """Something the instructor or the author can put right; the message says how."""


@dataclass(frozen=True)
class Course:
    """The folders of one course, all derived from its root.

    Parameters
    ----------
    root : pathlib.Path
        Folder that holds ``solutions/``, ``exercises/`` and ``nbgrader_config.py``.
    """

    root: Path

    @property
    def solutions(self) -> Path:
        """Sources of the exercises, ``solutions/<layer>/<layer>.md``."""
        return self.root / "solutions"

    @property
    def exercises(self) -> Path:
        """Student notebooks, ``exercises/<layer>/<layer>.ipynb``: generated and committed."""
        return self.root / "exercises"

    @property
    def build(self) -> Path:
        """Everything that can be made again; nothing here is committed."""
        return self.root / "_build"

    @property
    def source(self) -> Path:
        """Instructor notebooks, solutions and hidden cells included."""
        return self.build / "source"

    @property
    def submitted(self) -> Path:
        """Where submissions are looked for when no folder is named."""
        return self.build / "submitted"

    @property
    def staged(self) -> Path:
        """Working copy of the submissions that one run grades."""
        return self.build / "grading" / "submitted"

    @property
    def autograded(self) -> Path:
        """Executed submissions, as nbgrader writes them."""
        return self.build / "autograded"

    @property
    def feedback(self) -> Path:
        """HTML feedback, one page per notebook."""
        return self.build / "feedback"

    @property
    def ledger(self) -> Path:
        """Every verdict of the isolated engine, one line each."""
        return self.build / "grading" / "ledger.jsonl"

    @property
    def grades_csv(self) -> Path:
        """The class's grades in nbgrader's CSV format."""
        return self.build / "grades.csv"

    def source_of(self, layer: str) -> Path:
        """Return the file that defines the exercise of ``layer``."""
        return self.solutions / layer / f"{layer}.md"

    def support_of(self, layer: str) -> list[Path]:
        """List the modules that the exercise of ``layer`` comes with, ``solutions/<layer>/*.py``.

        They are released beside the notebook, and lie beside it when it is graded.
        """
        return sorted((self.solutions / layer).glob("*.py"))

    def layers(self, only: Iterable[str] = ()) -> list[str]:
        """List the layers that have a source, in teaching order.

        Parameters
        ----------
        only : iterable of str
            Keep these alone; empty keeps all.

        Raises
        ------
        CourseError
            No source exists, or ``only`` names a layer without one.
        """
        sources = self.solutions.glob("*/*.md")
        found = {path.stem for path in sources if path.stem == path.parent.name}
        if not found:
            raise CourseError(
                f"{self.solutions}: no exercise source found. "
                "Run from the root of the course, or name it with --root."
            )
        wanted = set(only) or found
        if unknown := wanted - found:
            raise CourseError(
                f"unknown layer {', '.join(sorted(unknown))}; "
                f"the sources in {self.solutions} are {', '.join(sorted(found))}."
            )
        return sorted(wanted, key=_teaching_rank)


def _teaching_rank(layer: str) -> tuple[int, str]:
    known = layer in TEACHING_ORDER
    return (TEACHING_ORDER.index(layer) if known else len(TEACHING_ORDER), layer)
