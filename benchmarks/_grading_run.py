"""One measured run of grading, in a process of its own; prints what it measured as JSON.

Run by `benchmarks.grading`: ``python -m benchmarks._grading_run ours|stock ROOT [LAYER ...]``.
"""

import json
import os
import sys
import threading
import time
from pathlib import Path

import psutil

JOBS = 2


class Family:
    """A process and everything it started: CPU seconds and largest memory, sampled."""

    def __init__(self) -> None:
        self.parent = psutil.Process()
        self.peak_parent = self.peak_worker = 0.0
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)
        self._thread.start()

    def cpu(self) -> float:
        """Return the CPU seconds of everything that lives, its ended children included."""
        total = 0.0
        for process in [self.parent, *self.parent.children(recursive=True)]:
            try:
                times = process.cpu_times()
            except psutil.Error:
                continue
            total += times.user + times.system + times.children_user + times.children_system
        return total

    def close(self) -> None:
        self._done.set()
        self._thread.join()

    def _sample(self) -> None:
        while not self._done.wait(0.25):
            self.peak_parent = max(self.peak_parent, self.parent.memory_info().rss / 1e6)
            for process in self.parent.children():
                try:
                    self.peak_worker = max(self.peak_worker, process.memory_info().rss / 1e6)
                except psutil.Error:
                    continue


class Clock:
    """Notes when notebooks are done; the first third waits for both workers to be warm."""

    def __init__(self, family: Family) -> None:
        self.family, self.phase, self.after = family, "", 0
        self.times: list[float] = []
        self.cpu: list[float] = []

    def begin(self, phase: str, total: int) -> None:
        self.phase = phase
        if phase == "grading":
            self.after = total // 3

    def step(self, *, problem: bool = False, repaired: bool = False) -> None:
        if self.phase == "grading":
            self.times.append(time.perf_counter())
            if len(self.times) == self.after:
                self.cpu.append(self.family.cpu())

    def end(self) -> None:
        if self.phase == "grading":
            self.cpu.append(self.family.cpu())

    def each(self) -> tuple[float, float]:
        """Return wall and CPU seconds per notebook, workers being warm."""
        number = len(self.times) - self.after
        wall = self.times[-1] - self.times[self.after - 1]
        return wall / number, (self.cpu[-1] - self.cpu[0]) / number


def run_ours(root: Path, *layers: str) -> dict[str, object]:
    """Grade the layers, or everything, with the isolated engine and two workers."""
    from autograder.course.grade import grade
    from autograder.course.options import Options
    from autograder.course.paths import Course

    family = Family()
    clock = Clock(family)
    options = Options(layers, force=True, jobs=JOBS, feedback=False, watch=clock)
    start = time.perf_counter()
    result = grade(Course(root), None, options)
    whole = time.perf_counter() - start
    family.close()
    wall, cpu = clock.each()
    return {
        "wall": wall, "cpu": cpu, "whole": whole, "graded": result.graded,
        "scores": {f"{s}/{layer}": v for (s, layer), v in sorted(result.scores.items())},
        "parent": family.peak_parent, "worker": family.peak_worker,
    }  # fmt: skip


def run_stock(root: Path, layer: str) -> dict[str, object]:
    """Grade one layer with nbgrader, without the time to start it."""
    import resource

    from autograder.course import stock
    from autograder.course.paths import Course
    from autograder.course.secret import SECRET_VARIABLE, course_secret

    os.environ |= {SECRET_VARIABLE: course_secret(Course(root)), "LAYERS_ENGINE": "stock"}
    config = stock.load_config(root)
    start, begun = time.perf_counter(), _cpu(resource)
    outcome = stock.autograde(config, layer)
    wall, cpu = time.perf_counter() - start, _cpu(resource) - begun
    if not outcome.ok:
        raise SystemExit(outcome.log)
    number = len(list((root / "_build" / "submitted").glob(f"*/{layer}/*.ipynb")))
    with stock.open_gradebook(config) as gradebook:
        scores = {f"{row['student']}/{layer}": row["score"]
                  for row in gradebook.submission_dicts(layer)}  # fmt: skip
    return {"wall": wall / number, "cpu": cpu / number, "graded": number, "scores": scores}


def _cpu(resource: object) -> float:
    """CPU seconds of this process and of the kernels that it waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


if __name__ == "__main__":
    side, where = sys.argv[1], Path(sys.argv[2])
    run = run_ours if side == "ours" else run_stock
    print(json.dumps(run(where, *sys.argv[3:])))
