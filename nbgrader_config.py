"""Where nbgrader finds the course, for `python -m autograder` and for plain `nbgrader` commands.

`nbgrader autograde layernorm` run here grades `_build/submitted/`, once `make grade` has entered
the exercises in the gradebook. Make student notebooks with `make release`, which also refuses
leaks, rather than with `nbgrader generate_assignment`.
"""

import os
from pathlib import Path

c = get_config()  # noqa: F821 (nbgrader provides it)
root = Path(__file__).resolve().parent

c.CourseDirectory.course_id = "layers-from-scratch"
c.CourseDirectory.source_directory = "_build/source"
c.CourseDirectory.release_directory = "exercises"
c.CourseDirectory.submitted_directory = "_build/submitted"
c.CourseDirectory.autograded_directory = "_build/autograded"
c.CourseDirectory.feedback_directory = "_build/feedback"
c.CourseDirectory.db_url = f"sqlite:///{root}/_build/gradebook.db"
# SQLite makes the file but not its folder, and says only "unable to open database file".
(root / "_build").mkdir(exist_ok=True)

# Seconds per cell: the first check compiles its reference kernels.
c.Execute.timeout = 60
# Notebooks come back from other machines with the names of kernels that only exist there.
c.Execute.kernel_name = "python3"
# Kernels talk over sockets of this machine only; their warning about it buries the report.
c.Execute.extra_arguments = ["--IPKernelApp.log_level=ERROR"]
# A graded kernel has nothing to save; a polite shutdown waits for it a third of a second.
c.Execute.shutdown_kernel = "immediate"

# `nbgrader autograde` runs students' code in our sandbox, and the tests outside it. Without a
# sandbox on this machine it warns and grades as nbgrader does; LAYERS_ENGINE=stock asks for
# that, LAYERS_ENGINE=isolated refuses it.
if os.environ.get("LAYERS_ENGINE") != "stock":
    c.Autograde.autograde_preprocessors = [
        "autograder.grading.execute.SandboxExecute",
        "nbgrader.preprocessors.IgnorePattern",
        "nbgrader.preprocessors.LimitOutput",
        "autograder.grading.execute.SaveVerdicts",
        "nbgrader.preprocessors.AssignLatePenalties",
        "nbgrader.preprocessors.CheckCellMetadata",
    ]

# formgrader and nbgrader's feedback show what a student wrote as part of the page. A script in it
# would run with the rights of whoever looks.
c.HTMLExporter.preprocessors = ["autograder.course.harmless.Harmless"]
