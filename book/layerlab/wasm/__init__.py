"""The loops of `layerlab.network_loops` for browsers: ``loops.wasm``.

`layerlab.wasm.build` makes it. The module imports nothing, exports its memory, and has one function
for each loop, with the loop's arguments: addresses and int as i32, float as f32. ``__heap_base`` is
the first address that is free.
"""

import base64
from importlib.resources import files

ARTEFACT = "loops.wasm"


def as_base64() -> str:
    """Read the module as text that fits into a page, which may not fetch files under file://."""
    return base64.b64encode((files(__name__) / ARTEFACT).read_bytes()).decode("ascii")
