"""Which numbers of a batch share a mean under three norms, and what one token moves."""

import numpy as np
from matplotlib.patches import Rectangle

from layerlab.figure_style import BLUE, INK, Picture, bare, panel
from layerlab.widgets._front_end import BookWidget, module, one_of, real, style, whole

_TITLES = {"batchnorm": "BatchNorm", "layernorm": "LayerNorm", "rmsnorm": "RMSNorm"}


class SharedMean(BookWidget):
    """A grid of 3 examples, 4 tokens and 5 features under BatchNorm, LayerNorm or RMSNorm.

    Parameters
    ----------
    norm : {"batchnorm", "layernorm", "rmsnorm"}
        The norm.
    example, token : int
        The chosen token, counted from 1.
    change : float, -5 to 5
        Added to the first feature of that token.
    """

    _esm = module("shared_mean", loops=True)
    _css = style()

    norm = one_of(_TITLES, "batchnorm")
    example = whole(1, 3, 2)
    token = whole(1, 4, 3)
    change = real(-5.0, 5.0, 3.0)

    def still(self) -> tuple[Picture, str]:
        """Draw for each norm the numbers that share a mean with one of the token's."""
        chosen, panels = 4 * (self.example - 1) + self.token - 1, []
        for norm, title in _TITLES.items():
            cells = np.zeros((12, 5))
            if norm == "batchnorm":
                cells[:, 0] = 1
            else:
                cells[chosen] = 1
            figure, axes = panel(1.6, 3.0, title=title)
            bare(axes)
            for (row, column), shared in np.ndenumerate(cells):
                corner = (column, -row - row // 4 * 0.6)
                colour = BLUE if shared else "none"
                axes.add_patch(Rectangle(corner, 0.85, 0.85, facecolor=colour, edgecolor=INK))
            axes.autoscale_view()
            panels.append(figure)
        sentence = (
            "Three examples of four tokens with five features; filled are the numbers that share a "
            "mean. The live version needs JavaScript and WebAssembly; in it one token can be "
            "changed, and all outputs that move light up."
        )
        return Picture(*panels, alt="Which numbers share a mean under three norms"), sentence
