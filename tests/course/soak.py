"""Grade thousands of notebooks with the real engine, killing the run now and then.

Run with ``make soak``; prints what it took and exits with 1 if a grade is missing or wrong.
"""

import csv
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

from autograder.course.release import release
from tests.course.conftest import ROOT, hand_in, make_course

ANSWERS = {4: "def double(x):\n    return 2 * x", 3: "def double(x):\n    return 2 * abs(x)"}
KILLS = 10


def main(number):
    """Make a class of `number`, grade it through kills, and compare every score."""
    with tempfile.TemporaryDirectory() as root:
        course, folder = make_course(Path(root) / "course"), Path(root) / "handed_in"
        release(course)
        expected = {f"s{n:06}": 4 - n % 2 for n in range(number)}
        for student, score in expected.items():
            hand_in(course, folder, student, ANSWERS[score])
        command = [sys.executable, "-m", "autograder", "--root", course.root, "grade", folder]
        rng, start, peak = random.Random(1), time.monotonic(), 0.0
        for kill in range(KILLS):
            peak = max(peak, run_until(command, course.ledger, number * (kill + 1) // KILLS, rng))
        code = subprocess.run(command, cwd=ROOT, check=False).returncode
        rows = csv.DictReader(course.grades_csv.read_text().splitlines())
        scores = {row["student_id"]: float(row["score"]) for row in rows}
        verdicts = course.ledger.read_text().count('"student"')
    right = code == 0 and scores == expected and verdicts == number
    print(f"{number} notebooks, {KILLS} kills, {time.monotonic() - start:.0f} s, "
          f"parent at most {peak:.0f} MB, {verdicts} verdicts: {'right' if right else 'WRONG'}")
    return not right


def run_until(command, ledger, wanted, rng):
    """Let a run come to `wanted` verdicts, kill it at a random moment; return its peak memory."""
    process = psutil.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    peak = 0.0
    while process.poll() is None:
        time.sleep(0.2)
        peak = max(peak, process.memory_info().rss / 1e6)
        if ledger.exists() and ledger.read_bytes().count(b'"student"') >= wanted:
            time.sleep(rng.random())
            break
    if process.poll() is None:
        process.kill()
    process.wait()
    return peak


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
