"""Four numbers taken apart by LayerNorm and RMSNorm, forward and backward."""

from typing import Any

import numpy as np
import traitlets

from layerlab.figure_style import BLUE, ORANGE, Picture, panel
from layerlab.normalize import normalize
from layerlab.widgets._front_end import BookWidget, module, real, style


def _four(*start: float) -> Any:
    return traitlets.List(traitlets.Float(), list(start), minlen=4, maxlen=4).tag(sync=True)


class NormalizationAnatomy(BookWidget):
    """Mean, spread, x_hat and y of four numbers, and what both norms take out of a gradient.

    Parameters
    ----------
    x, dout : list of 4 float
        The numbers, and the gradient with respect to y.
    gamma, beta : float
        Gain and shift of all features. RMSNorm has no shift.
    eps : float, 0 to 10
        Added to the variance or the mean square.
    """

    _esm = module("normalization_anatomy", loops=True)
    _css = style()

    x = _four(1.0, 2.0, 3.0, 4.0)
    dout = _four(1.0, 0.0, 0.0, 0.0)
    gamma = real(-1e6, 1e6, 1.0)
    beta = real(-1e6, 1e6, 0.0)
    eps = real(0.0, 10.0, 1e-5)

    def still(self) -> tuple[Picture, str]:
        """Draw the four numbers after both norms."""
        x, panels = np.array(self.x), []
        for name, center in (("LayerNorm", True), ("RMSNorm", False)):
            hat = normalize(x, max(self.eps, 1e-12), center)
            figure, axes = panel(2.6, 2.0, title=name, xlabel="feature")
            axes.bar(np.arange(4) + 0.8, hat, 0.35, color=BLUE, label="x_hat")
            y = self.gamma * hat + self.beta * center
            axes.bar(np.arange(4) + 1.2, y, 0.35, color=ORANGE, label="y")
            axes.set_xticks([1, 2, 3, 4])
            axes.legend()
            panels.append(figure)
        sentence = (
            "The live version needs JavaScript and WebAssembly. In it the four numbers, gamma, "
            "beta, eps and a gradient can be changed."
        )
        return Picture(*panels, alt="Four numbers after LayerNorm and RMSNorm"), sentence
