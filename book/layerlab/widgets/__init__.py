"""Widgets that live in JupyterLab and, without a kernel, in the pages of the book."""

from layerlab.widgets.activation_scale import ActivationScale

__all__ = ["ActivationScale"]
