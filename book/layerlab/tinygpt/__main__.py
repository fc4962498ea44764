"""``python -m layerlab.tinygpt train``: train the tiny GPT, and let it write."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from layerlab.corpus import CharacterData, Corpus, CorpusError, corpus, read_text
from layerlab.tinygpt.configuration import NORMS, Configuration
from layerlab.tinygpt.training import TrainingError, train
from layerlab.tinygpt.writing import write


def main(arguments: Sequence[str] | None = None) -> int:
    """Train as the arguments say; give the exit status."""
    chosen = _parser().parse_args(arguments)
    try:
        return _train(chosen)
    except (CorpusError, TrainingError) as problem:
        print(problem, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped. The same command goes on from the last checkpoint.", file=sys.stderr)
        return 130


def _train(chosen: argparse.Namespace) -> int:
    text, source = (
        Corpus(read_text(chosen.text), str(chosen.text)) if chosen.text else corpus()
    )  # fmt: skip
    data = CharacterData(text)
    config = Configuration(
        vocabulary=data.size, norm=chosen.norm, epochs=chosen.epochs, seed=chosen.seed
    )
    path = chosen.checkpoint or Path(
        "_build/tinygpt", f"{'plain' if chosen.plain else 'fused'}-{chosen.norm}-{chosen.seed}.npz"
    )
    print(f"Text: {source}. {len(text):,} characters, {data.size} different ones.")
    result = train(
        config, data, chosen.steps, not chosen.plain, path, chosen.every, progress=sys.stderr
    )
    steps, loss = len(result.losses), result.tests[len(result.losses)]
    print(f"{result.model.params.flat.size:,} parameters, {steps:,} steps.")
    print(f"Test loss {loss:.4f} after {result.seconds:.0f} s of processor time.\n")
    print(write(result.model, data, chosen.start, 300, np.random.default_rng(chosen.seed)))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m layerlab.tinygpt", description=__doc__)
    verbs = parser.add_subparsers(required=True, metavar="train")
    add = verbs.add_parser("train", help="train, resuming where a run was stopped").add_argument
    add("--plain", action="store_true", help="in plain NumPy instead of compiled loops")
    add("--norm", choices=NORMS, default="layernorm", help="which norm (%(default)s)")
    add("--epochs", type=int, default=2, help="passes through the text (%(default)s)")
    add("--steps", type=int, help="stop after so many steps instead")
    add("--seed", type=int, default=0, help="of the initial weights (%(default)s)")
    add("--text", type=Path, help="a text of your own, in UTF-8")
    add("--start", default="\n", help="what the trained model goes on from")
    add("--checkpoint", type=Path, metavar="FILE", help="where the state is kept (_build/tinygpt)")
    add("--every", type=int, default=1_000, help="steps between checkpoints (%(default)s)")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
