"""Widgets that live in JupyterLab and, without a kernel, in the pages of the book."""

from layerlab.widgets.activation_scale import ActivationScale
from layerlab.widgets.dropout import Dropout
from layerlab.widgets.embedding_gradient import EmbeddingGradient
from layerlab.widgets.normalization_anatomy import NormalizationAnatomy
from layerlab.widgets.shared_mean import SharedMean

__all__ = [
    "ActivationScale",
    "Dropout",
    "EmbeddingGradient",
    "NormalizationAnatomy",
    "SharedMean",
]
