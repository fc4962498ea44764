"""What all widgets of the book share: one module of JavaScript each, one style, a still picture."""

from importlib.resources import files
from typing import Any

import anywidget
import traitlets

from layerlab.figure_style import Picture

_FOLDER = files(__package__)


def module(*names: str, loops: bool = False) -> str:
    """Join the parts of a widget's front end.

    Parameters
    ----------
    *names : str
        Stems of the widget's own files.
    loops : bool
        Whether the widget runs the loops compiled to WebAssembly.

    Returns
    -------
    str
        An ECMAScript module that imports nothing: a page opened as a file may fetch nothing.
    """
    parts = [_text("base.js")]
    if loops:
        from layerlab.wasm import as_base64

        parts += [f'const LOOPS = "{as_base64()}";', _text("loops.js")]
    return "\n".join([*parts, *(_text(f"{name}.js") for name in names)])


def style(*names: str) -> str:
    """Join the common style and those of the widget."""
    return "\n".join(_text(f"{name}.css") for name in ("base", *names))


def _text(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


class BookWidget(anywidget.AnyWidget):
    """A widget that also lives in a page without a kernel.

    `fallback` is the markup that readers see where scripts are off or the widget cannot start.
    """

    fallback = traitlets.Unicode().tag(sync=True)

    @traitlets.default("fallback")
    def _draw_fallback(self) -> str:
        picture, sentence = self.still()
        return f"{picture._repr_html_()}<p>{sentence}</p>"

    def still(self) -> tuple[Picture, str]:
        """Draw the widget with its settings, and say what the reader would have been able to do."""
        raise NotImplementedError


def one_of(choices: Any, start: str) -> Any:
    """Make a trait that takes one of the choices."""
    return traitlets.Enum(list(choices), default_value=start).tag(sync=True)


def whole(low: int, high: int, start: int) -> Any:
    """Make a trait that takes whole numbers between two ends."""
    return traitlets.Int(start, min=low, max=high).tag(sync=True)


def real(low: float, high: float, start: float) -> Any:
    """Make a trait that takes numbers between two ends."""
    return traitlets.Float(start, min=low, max=high).tag(sync=True)
