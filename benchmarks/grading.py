"""Time the grading of a class: stock nbgrader and the isolated engine by turns, then large classes.

Run with ``python -m benchmarks.grading``; ``--quick`` for fewer turns and smaller classes.
"""

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import nbformat

from autograder.course.exercises import notebooks_of, register
from autograder.course.folders import Folders
from autograder.course.ledger import Ledger
from autograder.course.paths import Course
from autograder.course.sample_class import LAYERS, write_sample_class

ROOT = Path(__file__).parent.parent
SIZES = [60, 600, 6000]
# Without and with a plot in each notebook.
WALL_GOAL, CPU_GOAL = {False: 25, True: 20}, {False: 15, True: 10}
PLOT = """\
import matplotlib.pyplot as plt
import numpy as np
plt.plot(np.linspace(0, 1, 200), np.random.default_rng(0).standard_normal(200).cumsum());
"""
EXPLANATION = """\
Milliseconds per notebook, start-up excluded on both sides: nbgrader's is 3 s, ours is given below.
nbgrader grades one after the other, ours with two workers (--jobs 2); "CPU" counts all processes,
kernels and sandboxes included. They take turns on the twelve notebooks of each layer; ours grades
each of them five times, because a worker takes longer to start than to grade a dozen.
"""


def main(arguments: list[str] | None = None) -> int:
    """Print every table; 1 if a goal was missed or the two grade differently."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="two turns, classes up to 600")
    parser.add_argument("--sizes", type=int, nargs="*", help="sizes of the large classes")
    given = parser.parse_args(arguments)
    sizes = given.sizes if given.sizes is not None else SIZES[:2] if given.quick else SIZES
    print(EXPLANATION)
    missed: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        for plot in (False, True):
            course = make_class(Path(folder) / f"plot-{plot}", plot)
            repeated = make_class(Path(folder) / f"repeated-{plot}", plot)
            multiply(repeated, 5 * len(list(course.submitted.iterdir())))
            missed += compare(course, repeated, plot, given.quick)
        print(f"{'notebooks':>9} {'whole run s':>12} {'ms each':>8} {'CPU ms':>8} "
              f"{'parent MB':>10} {'worker MB':>10}")  # fmt: skip
        for size in sizes:
            grow(Path(folder) / f"class-{size}", size)
    print("Not reached:\n  " + "\n  ".join(missed) if missed else "Everything was reached.")
    return bool(missed)


def compare(course: Course, repeated: Course, plot: bool, quick: bool) -> list[str]:
    """Let both grade each layer by turns; print times, ratios and where our time goes."""
    title = "with a plot in each notebook" if plot else "without plots"
    print(f"{title:<30}{'nbgrader':>9}{'isolated':>9}{'ratio':>7}{'CPU':>10}{'isolated':>9}{'ratio':>7}")
    pairs, differ = [], []
    for layer in LAYERS[: 2 if quick else None]:
        stock, ours = measure("stock", course, layer), measure("ours", repeated, layer)
        pairs.append((stock, ours))
        print(row(layer, [(stock, ours)]))
        differ += [
            f"{name}: nbgrader gives {score:g}, isolated {ours['scores'].get(name)}"
            for name, score in stock["scores"].items() if ours["scores"].get(name) != score
        ]  # fmt: skip
    print(row("all", pairs))
    start_up = statistics.median(
        ours["whole"] - ours["wall"] * ours["graded"] for _, ours in pairs
    )  # fmt: skip
    print(f"  start-up of ours: {start_up:.1f} s for a run")
    print(breakdown(repeated))
    goals = [("wall time", ratio(pairs, "wall"), WALL_GOAL[plot]),
             ("CPU time", ratio(pairs, "cpu"), CPU_GOAL[plot])]  # fmt: skip
    return differ + [
        f"{title}: {value:.1f} times nbgrader's speed in {what}, not {goal}"
        for what, value, goal in goals if value < goal
    ]  # fmt: skip


def row(name: str, pairs: list[tuple[dict, dict]]) -> str:
    """Write the mean milliseconds per notebook of both, and by how much ours is faster."""
    text = f"  {name:<28}"
    for key in ("wall", "cpu"):
        sides = [statistics.mean(pair[side][key] for pair in pairs) * 1e3 for side in (0, 1)]
        text += f"{sides[0]:>9.0f}{sides[1]:>9.1f}{ratio(pairs, key):>7.1f} "
    return text


def ratio(pairs: list[tuple[dict, dict]], key: str) -> float:
    """Return nbgrader's time over ours, on the same notebooks."""
    return sum(stock[key] for stock, _ in pairs) / sum(ours[key] for _, ours in pairs)


def breakdown(course: Course) -> str:
    """Say where the wall time of one submission goes, from the ledger."""
    parts: dict[str, list[float]] = {}
    with Ledger(course.ledger) as ledger:
        for identity in ledger:
            record = ledger.latest(identity)
            for name, seconds in (record.seconds if record else {}).items():
                parts.setdefault(name, []).append(seconds)
    mean = {name: statistics.mean(values) * 1e3 for name, values in parts.items()}
    rows = {
        "student's cells in the worker": mean["cells"],
        "tests, calls to the student's functions included": mean["tests"],
        "worker's start and end": mean["run"] - mean["cells"] - mean["tests"],
        "nbgrader's format: repair, write": mean["repair"] + mean["write"],
        "the rest of ours": mean["total"] - mean["run"] - mean["repair"] - mean["write"],
    }
    lines = [f"    {name:<50}{value:7.1f} ms" for name, value in rows.items()]
    return "\n".join(["  one submission, on one worker:", *lines])


def grow(root: Path, size: int) -> None:
    """Grade a class of `size` notebooks; print what each costs and what memory it takes."""
    course = make_class(root, plot=False)
    multiply(course, size // len(LAYERS))
    run = measure("ours", course)
    print(f"{run['graded']:>9} {run['whole']:>12.1f} {run['wall'] * 1e3:>8.1f} "
          f"{run['cpu'] * 1e3:>8.1f} {run['parent']:>10.0f} {run['worker']:>10.0f}")  # fmt: skip
    shutil.rmtree(root)


def multiply(course: Course, students: int) -> None:
    """Let others hand in the same notebooks, until there are so many students."""
    originals = sorted(course.submitted.iterdir())
    for number in range(len(originals), students):
        shutil.copytree(originals[number % len(originals)], course.submitted / f"copy-{number}")


def make_class(root: Path, plot: bool) -> Course:
    """Make a course with the sample class handed in and its gradebook ready."""
    course = Course(root)
    for folder in (course.solutions.name, course.exercises.name):
        shutil.copytree(ROOT / folder, root / folder)
    shutil.copyfile(ROOT / "nbgrader_config.py", root / "nbgrader_config.py")
    write_sample_class(course.exercises, course.submitted)
    folders = Folders.of(course)
    register(course, folders, list(notebooks_of(course, folders)))
    for path in course.submitted.glob("*/*/*.ipynb"):
        if "(" in path.name:
            path.rename(path.with_name(f"{path.parent.name}.ipynb"))
    if plot:
        for path in course.submitted.glob("*/*/*.ipynb"):
            notebook = nbformat.read(path, as_version=4)
            notebook.cells.insert(2, nbformat.v4.new_code_cell(PLOT))
            nbformat.write(notebook, path)
    return course


def measure(side: str, course: Course, *more: str) -> dict[str, object]:
    """Run one side in a fresh process."""
    if side == "stock":
        shutil.rmtree(course.autograded, ignore_errors=True)
    command = [sys.executable, "-m", "benchmarks._grading_run", side, course.root, *more]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{done.stdout}\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    start = time.perf_counter()
    code = main()
    print(f"({time.perf_counter() - start:.0f} s)")
    sys.exit(code)
