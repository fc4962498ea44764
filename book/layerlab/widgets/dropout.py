"""Dropout on a hundred units: one mask, and the mean over many."""

import numpy as np
from matplotlib.colors import ListedColormap

from layerlab.figure_style import BLUE, INK, Picture, panel
from layerlab.widgets._front_end import BookWidget, module, one_of, real, style, whole


class Dropout(BookWidget):
    """A mask, its survivors, and the running mean of the output against 1.

    Parameters
    ----------
    p : float, 0 to 0.95
        Probability of zeroing.
    seed : int
        Seed of the page's generator.
    mode : {"training", "inference"}
        At inference dropout does nothing.
    version : {"right", "keeps", "divides", "both"}
        The right one, or one of three bugs that are right at p = 0.5: keeping with probability p,
        dividing by p, or both.
    """

    _esm = module("dropout")
    _css = style()

    p = real(0.0, 0.95, 0.5)
    seed = whole(0, 2**31 - 1, 0)
    mode = one_of(("training", "inference"), "training")
    version = one_of(("right", "keeps", "divides", "both"), "right")

    def still(self) -> tuple[Picture, str]:
        """Draw one mask and the mean over 300, done right."""
        rng = np.random.default_rng(self.seed)
        outputs = (rng.random((300, 100)) >= self.p) / (1 - self.p)
        left, axes = panel(2.2, 2.2, title="one mask")
        axes.pcolormesh(outputs[0].reshape(10, 10) > 0, cmap=ListedColormap(["#ffffff00", BLUE]))
        axes.set_aspect("equal")
        axes.set(xticks=[], yticks=[])
        axes.grid(visible=False)
        title = "mean output so far"
        right, axes = panel(3.2, 2.2, title=title, xlabel="masks drawn", ylim=(0, 2))
        axes.plot(np.arange(1, 301), outputs.mean(axis=1).cumsum() / np.arange(1, 301))
        axes.axhline(1, color=INK, lw=1, ls="--")
        sentence = (
            "The live version needs JavaScript. In it p and the seed can be changed, and one of "
            "three bugs chosen that do not show at p = 0.5."
        )
        return Picture(left, right, alt="A dropout mask and the mean output over many"), sentence
