"""The tiny GPT of the last chapter at full length: 31,368 steps on 1.1 million characters.

Two models with the same parameters and the same losses: `plain` in NumPy, each pass written out,
and `fused`, whose loops are compiled. ``python -m layerlab.tinygpt train`` trains one.
"""

from layerlab.tinygpt.configuration import Configuration
from layerlab.tinygpt.fused import FusedGPT
from layerlab.tinygpt.parameters import Parameters
from layerlab.tinygpt.plain import PlainGPT
from layerlab.tinygpt.training import Result, TrainingError, train

__all__ = [
    "Configuration", "FusedGPT", "Parameters", "PlainGPT", "Result", "TrainingError", "train",
]  # fmt: skip
