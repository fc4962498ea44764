"""The reader's own functions in a deep network, moved by sliders in JupyterLab."""

import inspect
from collections.abc import Callable
from typing import Any

import ipywidgets
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator
from numpy.typing import NDArray

from layerlab.activations import ACTIVATIONS
from layerlab.expected_scale import expected_scale
from layerlab.figure_style import BLUE, INK, ORANGE, Picture, panel

_CALL = "explore(init, norm)"
_NUMPY: dict[str, Callable[[Any], Any]] = {
    "relu": lambda z: np.maximum(z, 0),
    "tanh": np.tanh,
    "linear": lambda z: z,
    "gelu": lambda z: 0.5 * z * (1 + np.tanh(np.sqrt(2 / np.pi) * (z + 0.044715 * z**3))),
}
_STDS = np.geomspace(0.001, 2, 25)


def explore(
    init: Callable[..., Any] | None = None,
    norm: Callable[..., Any] | None = None,
    width: int = 128,
    batch: int = 32,
) -> ipywidgets.VBox:
    """Watch the size of activations in a network built of your own functions.

    Each layer computes ``activation(norm(x @ w))``. Shown are the size (root mean square) of each
    layer's output, and that of the last layer against the standard deviation of the weights, both
    beside the curve of theory.

    Parameters
    ----------
    init : function, optional
        ``init(fan_in, fan_out, rng) -> w`` of shape (fan_in, fan_out), for example your
        ``he_normal``. The slider then scales its weights. Without it they are normal numbers.
    norm : function, optional
        ``norm(x, gamma, beta)`` or ``norm(x, gamma)``, for example your ``layernorm_forward``; of
        a tuple such as (out, cache) the first is used. It gets a gamma of ones and a beta of zeros.
    width, batch : int
        Units in each layer, and examples.

    Returns
    -------
    ipywidgets.VBox
        The sliders and the picture. As the last line of a cell it is shown. What your functions
        raise stands in place of the picture.
    """
    for name, function in (("init", init), ("norm", norm)):
        if function is not None and not callable(function):
            raise TypeError(
                f"{_CALL}: {name} must be a function or None; got {type(function).__name__}. "
                "Pass the function itself, without calling it."
            )
    return _Explorer(init, norm, width, batch).box


class _Explorer:
    """The controls, and what they last drew."""

    def __init__(self, init: Any, norm: Any, width: int, batch: int) -> None:
        self._init, self._norm, self._width, self._batch = init, norm, width, batch
        self._drawn: tuple[int, ...] = ()
        self._lasts: dict[Any, NDArray[np.float64]] = {}
        self._weights: NDArray[Any] = np.empty(0)
        self._own = float(np.sqrt(2 / width))
        wide = {"style": {"description_width": "8em"}, "layout": {"width": "min(30em, 95%)"}}
        self._std = ipywidgets.FloatLogSlider(
            self._own, min=-3, max=float(np.log10(2)), step=0.01, description="std of w", **wide
        )
        self._depth = ipywidgets.IntSlider(20, min=2, max=50, description="depth", **wide)
        self._activation = ipywidgets.Dropdown(
            options=list(ACTIVATIONS), description="activation", **wide
        )
        self._seed = ipywidgets.IntSlider(0, min=0, max=20, description="seed", **wide)
        self._picture = ipywidgets.HTML()
        controls = self._std, self._depth, self._activation, self._seed
        self.box = ipywidgets.VBox([*controls, self._picture])
        self._redraw()
        for control in controls:
            control.observe(self._redraw, "value")

    def _redraw(self, _change: Any = None) -> None:
        try:
            self._draw_weights()
            self._picture.value = self._draw()._repr_html_()
        except Exception as problem:
            self._picture.value = f"<pre>{_escaped(problem)}</pre>"

    def _draw_weights(self) -> None:
        """Call the reader's init once for each depth and seed, not at each move of the std."""
        key = self._depth.value, self._seed.value
        if key == self._drawn:
            return
        rng = np.random.default_rng(self._seed.value)
        shape = self._width, self._width
        self._weights = np.stack([self._one_matrix(rng, shape) for _ in range(self._depth.value)])
        self._own = float(self._weights.std())
        if not self._drawn:
            # The first picture shows the reader's own scale.
            self._std.value = min(2.0, max(0.001, self._own))
        self._drawn = key

    def _one_matrix(self, rng: np.random.Generator, shape: tuple[int, int]) -> NDArray[Any]:
        if self._init is None:
            return np.sqrt(2 / shape[0]) * rng.standard_normal(shape)
        w = np.asarray(self._init(*shape, rng))
        name = getattr(self._init, "__name__", "init")
        if w.shape != shape:
            raise ValueError(
                f"{name}(fan_in, fan_out, rng): w must have shape (fan_in, fan_out) = {shape}; "
                f"got {w.shape}."
            )
        if not np.std(w) > 0:
            raise ValueError(f"{name}(fan_in, fan_out, rng): w must vary; its std is {np.std(w)}.")
        return w

    def _sizes(self, std: float) -> NDArray[np.float64]:
        x = np.random.default_rng(1).standard_normal((self._batch, self._width))
        activation, sizes = _NUMPY[self._activation.value], []
        with np.errstate(all="ignore"):
            for w in self._weights * (std / self._own):
                x = activation(self._normalized(x @ w))
                sizes.append(np.sqrt(np.mean(x * x)))
        return np.array(sizes)

    def _normalized(self, x: NDArray[Any]) -> NDArray[Any]:
        if self._norm is None:
            return x
        gamma, beta = np.ones(self._width), np.zeros(self._width)
        out = self._norm(x, gamma, beta) if self._shifts else self._norm(x, gamma)
        out = np.asarray(out[0] if isinstance(out, tuple) else out)
        if out.shape != x.shape:
            name = getattr(self._norm, "__name__", "norm")
            raise ValueError(f"{name}: out must have the shape of x, {x.shape}; got {out.shape}.")
        return out

    @property
    def _shifts(self) -> bool:
        return "beta" in inspect.signature(self._norm).parameters

    def _expected(self, std: float) -> NDArray[np.float64]:
        norm = 0 if self._norm is None else 1 if self._shifts else 2
        activation = ACTIVATIONS.index(self._activation.value)
        return expected_scale(self._depth.value, self._width, std, activation, norm)[0]

    def _draw(self) -> Picture:
        std, depth = self._std.value, self._depth.value
        left, axes = _panel(f"std {std:.3g}", "layer")
        axes.set_ylabel("size (rms)")
        _curves(axes, np.arange(1, depth + 1), self._sizes(std), self._expected(std))
        right, axes = _panel(f"layer {depth}", "std of w", xscale="log")
        _curves(axes, _STDS, *self._last_layer())
        axes.axvline(std, color=INK, lw=1)
        if self._init is not None:
            axes.axvline(self._own, color=ORANGE, lw=1.5, ls=":", label="your init")
        axes.legend(loc="upper left")
        return Picture(left, right, alt="Size by layer, and of the last layer by std")

    def _last_layer(self) -> NDArray[np.float64]:
        """Sizes of the last layer for all standard deviations: the slider does not change them."""
        key = (*self._drawn, self._activation.value)
        if key not in self._lasts:
            pairs = [(self._sizes(std)[-1], self._expected(std)[-1]) for std in _STDS]
            self._lasts = {key: np.array(pairs).T}
        return self._lasts[key]


def _panel(title: str, xlabel: str, xscale: str = "linear") -> tuple[Figure, Axes]:
    figure, axes = panel(title=title, xlabel=xlabel, xscale=xscale, yscale="log")
    # Finding the margins and placing minor ticks takes ten times as long as the drawing.
    figure.set_layout_engine("none")
    if xscale == "log":
        axes.set_xticks([0.001, 0.01, 0.1, 1], ["0.001", "0.01", "0.1", "1"])
    axes.set_position((0.18, 0.18, 0.79, 0.72))
    return figure, axes


def _curves(axes: Axes, x: Any, measured: Any, expected: Any) -> None:
    """Draw what lies between 1e-12 and 1e12; the rest has vanished or exploded."""
    for values, style, name in ((measured, "-", "yours"), (expected, "--", "theory")):
        inside = np.where((values > 0) & np.isfinite(values), values, np.nan)
        axes.plot(x, inside, style, color=BLUE if style == "-" else INK, lw=1.6, label=name)
    values = np.concatenate([measured, expected])
    values = values[np.isfinite(values) & (values > 0)]
    low, high = (values.min(), values.max()) if values.size else (1.0, 1.0)
    axes.set_ylim(max(1e-12, min(0.1, low / 2)), min(1e12, max(10.0, high * 2)))
    axes.yaxis.set_major_locator(LogLocator(numticks=7))
    # Without matplotlib's layout of formulas, which takes longer than all else.
    axes.yaxis.set_major_formatter(lambda value, _: f"1e{round(np.log10(value))}")
    axes.minorticks_off()
    axes.legend(loc="upper left")


def _escaped(problem: Exception) -> str:
    text = f"{type(problem).__name__}: {problem}"
    return text.replace("&", "&amp;").replace("<", "&lt;")
