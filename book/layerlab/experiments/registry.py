"""All experiments by name."""

from layerlab.experiments import depth_instability, dropout_grid, learning_rate_grid, tiny_gpt
from layerlab.experiments.definition import Experiment

ALL: dict[str, Experiment] = {
    module.EXPERIMENT.name: module.EXPERIMENT
    for module in (dropout_grid, learning_rate_grid, depth_instability, tiny_gpt)
}
