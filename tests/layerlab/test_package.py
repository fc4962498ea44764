"""The package loads only what is used."""

import importlib
import sys

import layerlab
import pytest

from tests.layerlab.test_jit import run


def test_the_numpy_part_works_without_numba():
    """In the browser there is no numba."""
    run(
        "import sys\n"
        "sys.modules['numba'] = None\n"
        "import numpy as np\n"
        "from layerlab import gradient_check, numerical_gradient, relative_error\n"
        "gradient_check(np.sin, np.ones(3), np.ones(3), np.cos(np.ones(3)))\n"
    )


@pytest.mark.parametrize("name", ["activation_scale", "gradient_check", "normalize"])
def test_a_function_is_not_hidden_by_the_module_of_its_name(name):
    module = importlib.import_module(f"layerlab.{name}")
    assert getattr(layerlab, name) is getattr(module, name)
    assert sys.modules[f"layerlab.{name}"] is module
    assert name in dir(layerlab)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="'layerlab' has no attribute 'batchnorm'"):
        layerlab.batchnorm  # noqa: B018 (the access is what raises)
