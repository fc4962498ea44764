"""A text to learn from, as numbers: where it comes from, its characters, its windows."""

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

VARIABLE = "LAYERS_TINYSHAKESPEARE"
URL = "https://raw.githubusercontent.com/karpathy/char-rnn/master/data/tinyshakespeare/input.txt"
SHA256 = "86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed"


class CorpusError(Exception):
    """A text that is missing, altered or unusable; the message says what to do."""


class Corpus(NamedTuple):
    """A text and the sentence that says which one it is."""

    text: str
    source: str


def corpus() -> Corpus:
    """Give the text that the tiny GPT learns from.

    Tinyshakespeare, 1,115,394 characters of Shakespeare's plays: from the file that the
    environment variable LAYERS_TINYSHAKESPEARE names, else downloaded once from the public
    repository karpathy/char-rnn. Without a network, the reference text of Python itself, which is
    part of every installation; `source` says so. Its size depends on the version of Python.

    Returns
    -------
    Corpus
        Text and source.

    Raises
    ------
    CorpusError
        If the file that the variable names is not there, or if the text is not the one expected.
    """
    if named := os.environ.get(VARIABLE):
        return Corpus(_checked(Path(named)), f"tinyshakespeare from {named}")
    # Only needed here, and not at hand in a browser.
    import pooch

    pooch.get_logger().setLevel("WARNING")
    folder = pooch.os_cache("layers-from-scratch")
    try:
        path = pooch.retrieve(URL, known_hash=SHA256, fname="tinyshakespeare.txt", path=folder)
    except ValueError:
        raise _altered(f"what {URL} sends") from None
    except OSError as problem:
        return Corpus(
            python_reference(),
            "Python's own reference text, as tinyshakespeare could not be downloaded "
            f"({type(problem).__name__}); losses of the two cannot be compared",
        )
    return Corpus(_checked(Path(path)), f"tinyshakespeare from {path}")


def python_reference() -> str:
    """Give the text behind Python's `help`, from the standard library's pydoc_data.topics."""
    from pydoc_data.topics import topics

    return "\n\n".join(topics[name] for name in sorted(topics))


def read_text(path: Path) -> str:
    """Read a text of your own.

    Raises
    ------
    CorpusError
        If there is no such file or it is not UTF-8.
    """
    try:
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as problem:
        raise CorpusError(
            f"{path}: a corpus must be text in UTF-8; byte {problem.start} is not. "
            "Save the file as UTF-8."
        ) from None
    except OSError as problem:
        raise CorpusError(f"{path}: the corpus cannot be read ({problem.strerror}).") from None


def _checked(path: Path) -> str:
    text = read_text(path)
    if hashlib.sha256(text.encode()).hexdigest() != SHA256:
        raise _altered(str(path))
    return text


def _altered(what: str) -> CorpusError:
    return CorpusError(
        f"{what} is not tinyshakespeare: the SHA-256 checksum must be {SHA256}. Get the file "
        f"data/tinyshakespeare/input.txt of the repository karpathy/char-rnn, put it anywhere, and "
        f"set the environment variable {VARIABLE} to its path."
    )


class CharacterData:
    """A text as numbers, cut into windows for training and for testing.

    The first nine tenths are for training, the rest is for testing. A window is a stretch of
    `context` characters; its targets are the same stretch one character later, so that each
    position has the next character to predict.

    Parameters
    ----------
    text : str
        The text.
    context : int
        Length of a window.
    stride : int
        Distance between the starts of two windows.
    test : float
        Share of the text kept for testing.

    Attributes
    ----------
    characters : str
        Every character of the text once, sorted: character i has the number i.
    train, test : ndarray of int64
        The two parts as numbers.

    Raises
    ------
    CorpusError
        If a part is too short for a single window.
    """

    def __init__(self, text: str, context: int = 32, stride: int = 16, test: float = 0.1) -> None:
        self.context, self.stride = context, stride
        self.characters = "".join(sorted(set(text)))
        self._numbers = {character: i for i, character in enumerate(self.characters)}
        ids = self.encode(text)
        cut = int(len(ids) * (1 - test))
        self.train, self.test = ids[:cut], ids[cut:]
        if min(len(self.train), len(self.test)) <= context:
            raise CorpusError(
                f"CharacterData(text, context={context}): both parts of the text need more than "
                f"{context} characters; got {len(self.train)} for training and {len(self.test)} "
                "for testing. Take a longer text or a smaller context."
            )

    def encode(self, text: str) -> Ints:
        """Give the number of each character.

        Raises
        ------
        CorpusError
            If a character does not occur in the text that the data were made from.
        """
        try:
            return np.array([self._numbers[character] for character in text], np.int64)
        except KeyError:
            unseen = sorted(set(text) - set(self.characters))
            raise CorpusError(
                f"encode(text): every character must occur in the corpus, whose {self.size} "
                f"characters are {self.characters!r}; got {''.join(unseen)!r}."
            ) from None

    def decode(self, ids: Ints) -> str:
        """Give the text of these numbers."""
        return "".join(self.characters[i] for i in ids)

    @property
    def size(self) -> int:
        """Number of different characters."""
        return len(self.characters)

    def windows(self, part: Ints) -> tuple[Ints, Ints]:
        """Cut a part into inputs and targets, each of shape (N, context)."""
        spans = np.lib.stride_tricks.sliding_window_view(part, self.context + 1)[:: self.stride]
        return spans[:, :-1], spans[:, 1:]

    def batches(
        self, part: Ints, size: int, rng: np.random.Generator | None = None
    ) -> Iterator[tuple[Ints, Ints]]:
        """Go through the windows once: inputs and targets of shape (size, context).

        With `rng` in random order, else in that of the text. Windows that fill no batch are left
        out.
        """
        inputs, targets = self.windows(part)
        order = np.arange(len(inputs)) if rng is None else rng.permutation(len(inputs))
        for start in range(0, len(order) - size + 1, size):
            chosen = order[start : start + size]
            yield inputs[chosen], targets[chosen]
