"""Where nbgrader keeps the steps of a class: ours, or any other nbgrader course."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from nbgrader.coursedir import CourseDirectory

from autograder.course import stock
from autograder.course.paths import Course, CourseError

STRUCTURE = "{nbgrader_step}/{student_id}/{assignment_id}"


@dataclass(frozen=True)
class Folders:
    """The folders and the gradebook that a course's ``nbgrader_config.py`` names.

    Attributes
    ----------
    source, submitted, autograded, feedback : pathlib.Path
        The steps; below them lies ``<student>/<assignment>/<notebook>.ipynb`` (in ``source``
        without the student).
    db_url : str
        The gradebook, as SQLAlchemy names it.
    course_id : str
        nbgrader's name of the course.
    """

    source: Path
    submitted: Path
    autograded: Path
    feedback: Path
    db_url: str
    course_id: str

    @classmethod
    def of(cls, course: Course) -> Folders:
        """Read them from the configuration under the root of ``course``.

        Raises
        ------
        CourseError
            The configuration rearranges nbgrader's folders in a way that is not supported.
        """
        directory = CourseDirectory(config=stock.load_config(course.root))
        if Path(directory.directory_structure) != Path(STRUCTURE):
            raise CourseError(
                f"{course.root / stock.CONFIG_FILE}: directory_structure must be '{STRUCTURE}'; "
                f"got '{directory.directory_structure}'. Use --engine stock for this course."
            )
        steps = ("source", "submitted", "autograded", "feedback")
        source, submitted, autograded, feedback = (
            course.root / getattr(directory, f"{step}_directory") for step in steps
        )
        names = directory.db_url, directory.course_id
        return cls(source, submitted, autograded, feedback, *names)

    @property
    def database(self) -> Path | None:
        """The gradebook's file; None if it is kept by a database server."""
        prefix = "sqlite:///"
        return Path(self.db_url.removeprefix(prefix)) if self.db_url.startswith(prefix) else None

    def master(self, assignment: str, notebook: str) -> Path:
        """Return the instructor's notebook."""
        return self.source / assignment / f"{notebook}.ipynb"

    def graded(self, student: str, assignment: str, notebook: str) -> Path:
        """Return the executed notebook of one submission."""
        return self.autograded / student / assignment / f"{notebook}.ipynb"

    def page(self, student: str, assignment: str, notebook: str) -> Path:
        """Return the feedback of one submission."""
        return self.feedback / student / assignment / f"{notebook}.html"
