"""How fast the kernels are, and against what."""

import os

# Some machines tell OpenBLAS to work as on another processor. That slows PyTorch and NumPy down and
# would flatter the kernels, so it is undone before either of them is loaded.
for _name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
    os.environ.pop(_name, None)
