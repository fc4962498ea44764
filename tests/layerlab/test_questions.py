"""The questions as bags of words."""

import numpy as np
from layerlab.questions import bag_of_words, texts, vocabulary


def test_fifty_questions_in_each_of_four_classes():
    x, labels = bag_of_words()
    assert x.shape == (200, 166)
    assert np.bincount(labels).tolist() == [50] * 4
    assert len({text for text, _ in texts()}) == 200


def test_counts_are_those_of_the_texts():
    x, labels = bag_of_words()
    words = vocabulary()
    row = next(i for i, (text, _) in enumerate(texts()) if text.startswith("can I get a refund"))
    assert labels[row] == 0
    counted = {word: count for word, count in zip(words, x[row]) if count}
    assert counted["i"] == 2
    assert {"can", "get", "a", "refund", "for", "the", "order"} <= counted.keys()
    # Every word of the vocabulary is in two questions or more, so no column is a name tag.
    assert ((x > 0).sum(axis=0) >= 2).all()
