"""How the figures of the book look.

A chapter draws panels with matplotlib and shows one or more of them as a `Picture`: inline SVG
whose text and axes take the colour of the page, so that one drawing serves the light and the dark
theme. Panels stand side by side where there is room and below each other on a phone.
"""

import io
import re
from html import escape
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.rcsetup import cycler

# From the palette of Okabe and Ito, which colour-blind readers can tell apart. Only those with a
# contrast of 3 or more on white and on near black.
BLUE, ORANGE, GREEN, PINK = "#0072b2", "#d55e00", "#009e73", "#cc79a7"
COLOURS = (BLUE, ORANGE, GREEN, PINK)

# Stands for the text colour of the page until `_page_colours` replaces it.
INK = "#121314"

# Small values blue, values near 1 pale, large values orange: for sizes on a logarithmic scale.
SIZES = LinearSegmentedColormap.from_list("sizes", ["#00456e", BLUE, "#f4f1ea", ORANGE, "#7a3000"])

_STYLE: Any = {
    "figure.constrained_layout.use": True,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
    "font.family": "DejaVu Sans",
    "font.size": 9.5,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "axes.labelsize": 9.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.prop_cycle": cycler(color=COLOURS),
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "grid.color": INK,
    "grid.alpha": 0.15,
    "grid.linewidth": 0.8,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "lines.linewidth": 2.0,
    "lines.markersize": 5,
    "patch.linewidth": 1.0,
    "mathtext.fontset": "dejavusans",
    "svg.fonttype": "path",
}


class Picture:
    """Figures shown together, as one piece of HTML.

    Parameters
    ----------
    figures : Figure
        The panels, left to right.
    alt : str
        What the picture shows, for readers who do not see it.
    """

    def __init__(self, *figures: Figure, alt: str) -> None:
        if not alt.strip():
            raise ValueError("Picture(figures, alt): alt must say what the picture shows; got ''.")
        self._svgs = [_page_colours(_svg(fig), alt, number) for number, fig in enumerate(figures)]
        self._alt = alt

    def __repr__(self) -> str:
        """Give the description, where HTML is not shown."""
        return f"Picture: {self._alt}"

    def _repr_html_(self) -> str:
        # The style is inline because the same picture is shown in JupyterLab, without our CSS.
        return (
            f'<div role="img" aria-label="{escape(self._alt)}" class="picture" style="display:flex;'
            'flex-wrap:wrap;gap:1rem;justify-content:center;align-items:flex-end">'
            + "".join(self._svgs)
            + "</div>"
        )


def panel(width: float = 3.35, height: float = 2.6, **labels: Any) -> tuple[Figure, Axes]:
    """Make a figure with one pair of axes in the style of the book.

    Parameters
    ----------
    width, height : float
        Size in inches. 3.35 fits a phone without shrinking, and two fit beside each other.
    **labels
        Passed to ``Axes.set``: ``title=``, ``xlabel=``, ``ylabel=``, ``xscale=``, ...

    Returns
    -------
    figure, axes
        Not registered with pyplot: nothing is drawn until a `Picture` is made of it. The style of
        the book also becomes that of all later plots of the session.
    """
    # For the whole session: matplotlib reads the style of a line or a legend when it is added.
    mpl.rcParams.update(_STYLE)
    figure = Figure(figsize=(width, height))
    axes = figure.add_subplot()
    axes.set(**labels)
    return figure, axes


def bare(axes: Axes) -> Axes:
    """Take axes, ticks and grid away and keep the proportions: for drawings."""
    axes.set_axis_off()
    axes.set_aspect("equal")
    return axes


def _svg(figure: Figure) -> str:
    text = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": "layerlab"}):
        # Without date and version the same figure is the same file.
        figure.savefig(
            text, format="svg", transparent=True, metadata={"Date": None, "Creator": None}
        )
    return text.getvalue()


def _page_colours(svg: str, alt: str, number: int) -> str:
    """Turn matplotlib's file into an element of the page: its colours, and names of its own."""
    svg = svg[svg.index("<svg") :]
    # matplotlib's own style sheet would reach every element of the page.
    svg = re.sub(r"<(metadata|defs>\s*<style).*?</(metadata|style>\s*</defs)>", "", svg, flags=re.S)
    svg = svg.replace(INK, "currentColor")
    # Two SVGs in one page share their ids: make them different.
    prefix = re.sub(r"[^a-z0-9]+", "-", alt.lower())[:40].strip("-") + f"-{number}-"
    svg = re.sub(r'\bid="', f'id="{prefix}', svg)
    svg = re.sub(r'href="#', f'href="#{prefix}', svg)
    svg = re.sub(r"url\(#", f"url(#{prefix}", svg)
    style = 'aria-hidden="true" style="max-width:100%;height:auto;stroke-linejoin:round"'
    return svg.replace("<svg ", f"<svg {style} ", 1)
