"""The size of outputs and gradients in a deep network, moved by sliders."""

import numpy as np
from matplotlib.figure import Figure

from layerlab.activation_scale import activation_scale, gradient_scale
from layerlab.activations import ACTIVATIONS
from layerlab.expected_scale import expected_scale
from layerlab.figure_style import BLUE, INK, ORANGE, Picture, panel
from layerlab.network_loops import NORMS
from layerlab.widgets._front_end import BookWidget, module, one_of, real, style, whole


class ActivationScale(BookWidget):
    """Size of each layer's output and gradient, against depth and against the weights' scale.

    The network is that of `layerlab.activation_scale`, with 32 examples, and runs in the page: its
    loops are the same, its random numbers the browser's own.

    Parameters
    ----------
    std : float, 0.001 to 2
        Standard deviation of the weights.
    activation : {"relu", "tanh", "linear", "gelu"}
        Activation function.
    norm : {"none", "layernorm", "rmsnorm"}
        Norm before the activation.
    width : int, 16 to 256
        Units in each layer.
    depth : int, 2 to 64
        Number of layers.
    seed : int
        Seed of the browser's generator.
    """

    _esm = module("activation_chart", "activation_scale", loops=True)
    _css = style()

    std = real(0.001, 2.0, 0.125)
    activation = one_of(ACTIVATIONS, "relu")
    norm = one_of(NORMS, "none")
    width = whole(16, 256, 128)
    depth = whole(2, 64, 50)
    seed = whole(0, 2**31 - 1, 0)

    def still(self) -> tuple[Picture, str]:
        """Draw the size against depth for the present settings."""
        sentence = (
            "The live version needs JavaScript and WebAssembly. It has sliders for the standard "
            "deviation, width and depth, and a choice of activation and norm."
        )
        return Picture(self._figure(), alt="Size of outputs and gradients by layer"), sentence

    def _figure(self) -> Figure:
        network = self.depth, self.width, 32, self.std, self.activation, self.norm, self.seed
        codes = ACTIVATIONS.index(self.activation), NORMS.index(self.norm)
        expected = expected_scale(self.depth, self.width, self.std, *codes)
        measured = activation_scale(*network), gradient_scale(*network)
        figure, axes = panel(4.2, 2.8, yscale="log", xlabel="layer", ylabel="size (rms)")
        layers = np.arange(1, self.depth + 1)
        for values, theory, colour, name in zip(
            measured, expected, (BLUE, ORANGE), ("output", "gradient")
        ):
            # What has left the range of float32 is not on the axis.
            on_axis = np.where(np.isfinite(values) & (values > 0), values, np.nan)
            axes.plot(layers, on_axis, color=colour, label=name)
            axes.plot(layers, np.clip(theory, 1e-28, 1e38), "--", color=colour, lw=1)
        axes.plot([], [], "--", color=INK, lw=1, label="theory")
        low, high = axes.get_ylim()
        axes.set_ylim(min(low, 1e-2), max(high, 1e2))
        axes.legend(ncols=3, loc="upper left")
        return figure
