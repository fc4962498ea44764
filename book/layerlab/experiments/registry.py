"""All experiments by name."""

from layerlab.experiments import dropout_grid
from layerlab.experiments.definition import Experiment

ALL: dict[str, Experiment] = {
    experiment.name: experiment for experiment in (dropout_grid.EXPERIMENT,)
}
