"""Time every kernel against NumPy, PyTorch and the speed of memory.

Run with ``python -m benchmarks.kernels``; ``--quick`` for the smaller size in float32 alone.
Initialization is not here: its reference is NumPy's generator.
"""

import argparse
import sys

import numpy as np

from benchmarks._cases import arrays, cases
from benchmarks._timing import Times, alternate, copies

SIZES = [(8192, 768), (65536, 1024)]
EXPLANATION = """\
Medians in ms over rounds in which all contenders take turns.
floor     the bytes a kernel has to move, at the speed of a parallel copy loop
ours      into an array made before; "/floor" is the median ratio within a round
ours new  with the result allocated, as PyTorch and NumPy do
"""
HEADER = "{:20}{:>8}{:>8}{:>8}{:>10}{:>9}{:>9}".format(
    "", "floor", "ours", "/floor", "ours new", "PyTorch", "NumPy"
)


def main(arguments: list[str] | None = None) -> int:
    """Print a table for each size and dtype, and what was not reached; 1 if anything was not."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="8192 x 768 in float32 alone")
    quick = parser.parse_args(arguments).quick
    print(EXPLANATION)
    missed = []
    for rows, features in SIZES[:1] if quick else SIZES:
        for dtype in [np.float32] if quick else [np.float32, np.float64]:
            missed += table(rows, features, dtype)
    print("Not reached:\n  " + "\n  ".join(missed) if missed else "Everything was reached.")
    return bool(missed)


def table(rows: int, features: int, dtype: type) -> list[str]:
    """Time all kernels at one size; return what was not reached."""
    drawn = arrays(rows, features, dtype)
    copy = copies(drawn[0], np.empty_like(drawn[0]))
    copied = 2 * drawn[0].nbytes
    title = f"{rows} x {features} {np.dtype(dtype).name}"
    print(title, *(speed(name, alternate(copy).median(name), copied) for name in copy), sep="   ")
    print(HEADER)
    missed = []
    for case in cases(*drawn):
        times = alternate({"copy": copy["copy"], **case.contenders})
        floor = case.bytes / copied
        print(line(case.name, times, floor), flush=True)
        missed += [f"{title} {case.name}: {what}" for what in case.missed(times, floor)]
    print()
    return missed


def speed(name: str, seconds: float, moved: int) -> str:
    """Say how fast a copy was, counting what it read and what it wrote."""
    return f"{name} {1e3 * seconds:.2f} ms, {moved / seconds / 1e9:.1f} GB/s"


def line(name: str, times: Times, floor: float) -> str:
    """Format one row of the table."""
    ms = {key: f"{1e3 * times.median(key):.2f}" for key in times}
    floor_ms, ratio = 1e3 * floor * times.median("copy"), times.ratio("ours", "copy") / floor
    return (
        f"{name:20}{floor_ms:>8.2f}{ms['ours']:>8}{ratio:>8.2f}{ms['ours new']:>10}"
        f"{ms.get('PyTorch', '-'):>9}{ms['NumPy']:>9}"
    )


if __name__ == "__main__":
    sys.exit(main())
