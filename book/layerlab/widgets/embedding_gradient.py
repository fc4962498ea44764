"""How the gradients of repeated tokens add up in an embedding table."""

import numpy as np
import traitlets

from layerlab.figure_style import BLUE, ORANGE, Picture, panel
from layerlab.widgets._front_end import BookWidget, module, style


class EmbeddingGradient(BookWidget):
    """A sentence, its ids, and the gradient of the table: added up, and overwritten by ``+=``.

    Token t, counted from 1, has the gradient (t, t).

    Parameters
    ----------
    sentence : str
        Text of which the first 12 words are used; ids are given in the order of appearance.
    """

    _esm = module("embedding_gradient")
    _css = style()

    sentence = traitlets.Unicode("the cat saw the dog and the dog ran").tag(sync=True)

    def still(self) -> tuple[Picture, str]:
        """Draw one entry of each row of the gradient, right and wrong."""
        words = self.sentence.lower().split()[:12]
        vocabulary = list(dict.fromkeys(words))
        ids, dout = [vocabulary.index(word) for word in words], np.arange(1.0, len(words) + 1)
        added, overwritten = np.zeros((2, len(vocabulary)))
        np.add.at(added, ids, dout)
        overwritten[ids] += dout
        figure, axes = panel(4.2, 2.4, title="gradient of each row's entries")
        places = np.arange(len(vocabulary))
        axes.bar(places - 0.2, added, 0.38, color=BLUE, label="np.add.at")
        axes.bar(places + 0.2, overwritten, 0.38, color=ORANGE, label="+=")
        axes.set_xticks(places, vocabulary)
        axes.legend()
        sentence = (
            f"Token t of “{self.sentence}” has the gradient (t, t). "
            "The live version needs JavaScript; in it the sentence can be changed."
        )
        return Picture(figure, alt="Gradient rows added up and overwritten"), sentence
