"""The text of the tiny GPT: where it comes from, what is refused, how it is cut into windows."""

import hashlib
import os
from pathlib import Path

import numpy as np
import pooch
import pytest
from layerlab import corpus as module
from layerlab.corpus import CharacterData, CorpusError, corpus, python_reference, read_text

REAL = os.environ.get(module.VARIABLE)


@pytest.fixture
def small(monkeypatch, tmp_path):
    """Let a small file be tinyshakespeare, in a cache of its own."""
    path = tmp_path / "source.txt"
    path.write_bytes("First Citizen:\nSpeak, ärger.\n".encode())
    monkeypatch.setattr(module, "SHA256", hashlib.sha256(path.read_bytes()).hexdigest())
    monkeypatch.setattr(module, "URL", "https://unreachable.invalid/input.txt")
    monkeypatch.setattr(pooch, "os_cache", lambda name: tmp_path / "cache")
    monkeypatch.delenv(module.VARIABLE, raising=False)
    return path


def test_the_variable_comes_first(small, monkeypatch):
    monkeypatch.setenv(module.VARIABLE, str(small))
    assert corpus() == ("First Citizen:\nSpeak, ärger.\n", f"tinyshakespeare from {small}")


def test_an_altered_file_is_refused_and_the_error_says_where_it_goes(small, monkeypatch):
    monkeypatch.setenv(module.VARIABLE, str(small))
    small.write_text("First Citizen: nothing.")
    with pytest.raises(CorpusError, match=r"checksum must be \w{64}.*LAYERS_TINYSHAKESPEARE to"):
        corpus()


@pytest.mark.parametrize(
    ("content", "words"),
    [(None, "cannot be read .No such file"), (b"caf\xe9", "UTF-8; byte 3 is not")],
)
def test_files_that_are_no_text(small, monkeypatch, content, words):
    small.unlink()
    if content:
        small.write_bytes(content)
    monkeypatch.setenv(module.VARIABLE, str(small))
    with pytest.raises(CorpusError, match=words):
        corpus()
    with pytest.raises(CorpusError, match=words):
        read_text(small)


def sends(content):
    """Stand in for pooch's download."""

    def download(self, url, output_file, pooch):
        Path(output_file).write_bytes(content)

    return download


def test_downloaded_once_and_kept(small, monkeypatch):
    monkeypatch.setattr(pooch.HTTPDownloader, "__call__", sends(small.read_bytes()))
    text, source = corpus()
    assert text.startswith("First")
    monkeypatch.setattr(pooch.HTTPDownloader, "__call__", sends(b"changed since"))
    assert corpus() == (text, source)


def test_a_download_that_was_altered_is_refused(small, monkeypatch):
    monkeypatch.setattr(pooch.HTTPDownloader, "__call__", sends(b"something else"))
    with pytest.raises(CorpusError, match=r"what https.* sends is not tinyshakespeare"):
        corpus()


def test_without_a_network_python_s_own_text_is_taken_and_said_so(small, monkeypatch):
    def unreachable(self, url, output_file, pooch):
        raise ConnectionError("no network")

    monkeypatch.setattr(pooch.HTTPDownloader, "__call__", unreachable)
    text, source = corpus()
    assert text == python_reference()
    assert len(text) > 300_000
    assert "could not be downloaded (ConnectionError)" in source


@pytest.mark.skipif(not REAL, reason=f"{module.VARIABLE} is not set")
def test_sizes_that_the_book_states():
    text, _ = corpus()
    data = CharacterData(text)
    assert (len(text), data.size) == (1_115_394, 65)
    assert len(data.windows(data.train)[0]) // 4 == 15_684
    batches = list(data.batches(data.test, 4))
    assert len(batches) == 1_742
    assert batches[0][0].shape == (4, 32)


def test_targets_are_the_inputs_one_character_later():
    text = "abcdefghij" * 10
    data = CharacterData(text, context=4, stride=3, test=0.2)
    inputs, targets = data.windows(data.train)
    assert [data.decode(row) for row in inputs[:3]] == ["abcd", "defg", "ghij"]
    assert [data.decode(row) for row in targets[:3]] == ["bcde", "efgh", "hija"]
    assert data.decode(np.concatenate([data.train, data.test])) == text
    assert len(data.train) == 80
    # The last window still has its last target.
    assert len(inputs) == (80 - 5) // 3 + 1


def test_shuffled_batches_hold_the_same_windows():
    data = CharacterData("abcdefghij" * 10, context=4, stride=3)
    in_order = np.concatenate([inputs for inputs, _ in data.batches(data.train, 1)])
    rng = np.random.default_rng(0)
    pairs = list(data.batches(data.train, 1, rng))
    shuffled = np.concatenate([inputs for inputs, _ in pairs])
    assert not np.array_equal(in_order, shuffled)
    assert sorted(map(tuple, in_order)) == sorted(map(tuple, shuffled))
    assert all(np.array_equal(inputs[:, 1:], targets[:, :-1]) for inputs, targets in pairs)


def test_a_text_too_short_for_a_window():
    with pytest.raises(CorpusError, match="more than 32 characters; got 90 for training and 10"):
        CharacterData("abcdefghij" * 10)


def test_characters_that_the_corpus_does_not_have():
    data = CharacterData("abcdefghij" * 10, context=4)
    with pytest.raises(CorpusError, match=r"'abcdefghij'; got '!Z'"):
        data.encode("aZb!")
