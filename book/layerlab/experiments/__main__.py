"""``python -m layerlab.experiments [NAME ...]``: run what is missing, write the results files."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from layerlab.experiments.definition import Experiment
from layerlab.experiments.registry import ALL
from layerlab.experiments.running import run
from layerlab.experiments.store import RESULTS, StoredError, read


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the experiments that are named, or all."""
    parser = argparse.ArgumentParser(prog="python -m layerlab.experiments", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(ALL)}")
    parser.add_argument(
        "--journals", type=Path, default=Path("_build/experiments"), metavar="FOLDER",
        help="where finished cells are kept until all are done (%(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--results", type=Path, default=RESULTS, metavar="FOLDER",
        help="where the results files go (those of the book)",
    )  # fmt: skip
    parser.add_argument(
        "--again", action="store_true", help="throw away what is there and run every cell anew"
    )
    chosen = parser.parse_args(arguments)
    if unknown := [name for name in chosen.names if name not in ALL]:
        parser.error(f"unknown experiment {', '.join(unknown)}; there are {', '.join(ALL)}")
    for name in chosen.names or ALL:
        if chosen.again:
            (chosen.journals / f"{name}.jsonl").unlink(missing_ok=True)
            (chosen.results / f"{name}.json").unlink(missing_ok=True)
        if _there(ALL[name], chosen.results):
            print(f"{name}: the results are there; --again would run it anew.")
        else:
            print(run(ALL[name], chosen.journals, chosen.results))
    return 0


def _there(experiment: Experiment, results: Path) -> bool:
    try:
        read(experiment, results)
    except StoredError:
        return False
    return True


if __name__ == "__main__":
    raise SystemExit(main())
