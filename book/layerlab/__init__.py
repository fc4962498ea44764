"""What the pages of the book compute with: simulations, gradient checks, widgets.

Everything is loaded on first use, so `import layerlab` and the parts that need only NumPy work
where numba is missing, in a browser for instance.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from layerlab.activation_scale import activation_scale as activation_scale
    from layerlab.explore import explore as explore
    from layerlab.gradient_check import gradient_check as gradient_check
    from layerlab.gradient_check import numerical_gradient as numerical_gradient
    from layerlab.gradient_check import relative_error as relative_error
    from layerlab.normalize import normalize as normalize

_HOME = {
    "activation_scale": "layerlab.activation_scale",
    "explore": "layerlab.explore",
    "gradient_check": "layerlab.gradient_check",
    "normalize": "layerlab.normalize",
    "numerical_gradient": "layerlab.gradient_check",
    "relative_error": "layerlab.gradient_check",
}


class _Package(ModuleType):
    """Holds a submodule's function, not the submodule, where the two have one name."""

    def __setattr__(self, name: str, value: Any) -> None:
        # The import system binds every submodule it has loaded to the package. After
        # `from layerlab.normalize import normalize` that would hide the function of that name.
        if name in _HOME and isinstance(value, ModuleType):
            value = getattr(value, name)
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'layerlab' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
