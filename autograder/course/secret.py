"""The course secret, from which the hidden tests derive their inputs."""

from __future__ import annotations

import os
import secrets

from autograder.course.paths import Course

SECRET_VARIABLE = "LAYERS_COURSE_SECRET"


def course_secret(course: Course) -> str:
    """Return the secret of this course, made on first use and readable by its owner only."""
    path = course.build / "course_secret"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(file, "w") as stream:
            stream.write(secrets.token_hex(32))
    return path.read_text().strip()
