"""Two hundred short questions in four classes, as bags of words.

The questions to an imagined help desk were written for this book: fifty each about billing,
delivery, the account and technical trouble.
"""

import re
from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

_FILE = Path(__file__).parent / "data" / "questions.txt"


@cache
def texts() -> tuple[tuple[str, str], ...]:
    """List the questions, each with the name of its class, in the order of the file."""
    pairs, label = [], ""
    for line in _FILE.read_text(encoding="utf-8").splitlines():
        if line.startswith("# class "):
            label = line.removeprefix("# class ").strip()
        elif line.strip():
            pairs.append((line.strip(), label))
    return tuple(pairs)


@cache
def vocabulary(at_least: int = 2) -> tuple[str, ...]:
    """List the words that occur in `at_least` questions or more, in alphabetical order."""
    seen = Counter(word for text, _ in texts() for word in set(_words(text)))
    return tuple(sorted(word for word, count in seen.items() if count >= at_least))


def bag_of_words() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Count the words of each question.

    Returns
    -------
    x : ndarray of float64, shape (200, 166)
        How often each word of the `vocabulary` occurs in each question.
    labels : ndarray of int64, shape (200,)
        Classes 0 to 3, in the order of the file.
    """
    columns = {word: column for column, word in enumerate(vocabulary())}
    x = np.zeros((len(texts()), len(columns)))
    for row, (text, _) in enumerate(texts()):
        for word in _words(text):
            if word in columns:
                x[row, columns[word]] += 1
    names = list(dict.fromkeys(label for _, label in texts()))
    return x, np.array([names.index(label) for _, label in texts()], dtype=np.int64)


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", text.lower())
