"""The loops give the same bits natively and, compiled to WebAssembly, in a browser."""

import base64
import shutil
import subprocess
import sys
from importlib.resources import files

import numpy as np
import pytest
from layerlab.activation_scale import measure
from layerlab.activations import ACTIVATIONS
from layerlab.expected_scale import expected_scale
from layerlab.network_loops import NORMS, layernorm, rmsnorm
from layerlab.normalize import normalize
from layerlab.wasm import ARTEFACT, as_base64

# Runs a loop: buffers arrive as text, are put into the module's memory, and come back as text.
CALL = """async ([name, args, returned]) => {
  const code = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const { exports } = (await WebAssembly.instantiate(code(window.loops))).instance;
  let free = (exports.__heap_base.value + 15) & ~15;
  const places = [];
  const put = (text) => {
    const bytes = code(text), at = free;
    free = (at + bytes.length + 15) & ~15;
    const missing = free - exports.memory.buffer.byteLength;
    if (missing > 0) exports.memory.grow(Math.ceil(missing / 65536));
    new Uint8Array(exports.memory.buffer).set(bytes, at);
    places.push([at, bytes.length]);
    return at;
  };
  exports[name](...args.map((a) => typeof a === "string" ? put(a) : a));
  return returned.map((i) => {
    const [at, length] = places[i];
    const bytes = new Uint8Array(exports.memory.buffer, at, length);
    return btoa(bytes.reduce((text, b) => text + String.fromCharCode(b), ""));
  });
}"""


@pytest.fixture(scope="module")
def run(browser):
    page = browser.new_page()
    page.evaluate("(text) => { window.loops = text; }", as_base64())

    def call(name, *arguments, returned):
        """Run the loop; give the buffers with the numbers `returned`, counted from 0."""
        buffers = [a for a in arguments if isinstance(a, np.ndarray)]
        sent = [_text(a) if isinstance(a, np.ndarray) else a for a in arguments]
        back = page.evaluate(CALL, [name, sent, list(returned)])
        return [
            np.frombuffer(base64.b64decode(text), buffers[i].dtype)
            for i, text in zip(returned, back)
        ]

    yield call
    page.close()


def _text(array):
    return base64.b64encode(array.tobytes()).decode("ascii")


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("norm", NORMS)
# 24 units leave no rest in blocks of four, 23 do. 0.6 saturates tanh; 1e-4 vanishes.
@pytest.mark.parametrize(("width", "std"), [(24, 0.3), (23, 0.6), (24, 1e-4)])
def test_both_directions_of_a_network(run, activation, norm, width, std):
    batch, depth = 3, 12
    rng = np.random.default_rng(width)
    x, grad = rng.standard_normal((2, batch * width), dtype=np.float32)
    weights = rng.standard_normal(depth * width * width, dtype=np.float32)
    codes = ACTIVATIONS.index(activation), NORMS.index(norm)
    native = measure(x, weights, grad, depth, width, std, *codes)

    kept, rstds = np.zeros(depth * batch * width, "f4"), np.zeros(depth * batch, "f4")
    layout = batch, width, depth, float(np.float32(std)), *codes
    kept, rstds, outputs = run(
        "propagate", x, weights, kept, rstds, np.zeros(depth), *layout, returned=(2, 3, 4)
    )
    (turned,) = run("transpose", weights, np.zeros_like(weights), width, depth, returned=(1,))
    (gradients,) = run(
        "backpropagate", grad, turned, kept, rstds, np.zeros(width, "f4"), np.zeros(depth), *layout,
        returned=(5,),
    )  # fmt: skip
    np.testing.assert_array_equal(outputs, native[0])
    np.testing.assert_array_equal(gradients, native[1])
    rest = depth, width, *layout[3:]
    expected = run("expect", np.zeros(depth), np.zeros(depth), *rest, returned=(0, 1))
    np.testing.assert_array_equal(expected, expected_scale(depth, width, std, *codes))


def test_overflow_is_the_same_infinity(run):
    width, depth = 8, 60
    weights = np.full(depth * width * width, 1.0, "f4")
    x, kept = np.ones(width, "f4"), np.zeros(depth * width, "f4")
    (sizes,) = run(
        "propagate", x, weights, kept, np.zeros(depth, "f4"), np.zeros(depth),
        1, width, depth, 30.0, 0, 0, returned=(4,),
    )  # fmt: skip
    native = measure(x, weights, None, depth, width, 30.0, 0, 0)[0]
    assert np.isinf(sizes[-1])
    np.testing.assert_array_equal(sizes, native)


@pytest.mark.parametrize("offset", [0.0, 1000.0])
def test_norms_of_rows(run, offset):
    rng = np.random.default_rng(1)
    x = (rng.standard_normal((5, 13)) + offset).astype("f4")
    gamma, beta = rng.standard_normal((2, 13), dtype="f4")
    out, last = np.zeros(65, "f4"), (5, 13, 1e-5)
    native = out.copy()
    layernorm(x.ravel(), gamma, beta, native, *last)
    (got,) = run("layernorm", x, gamma, beta, out, *last, returned=(3,))
    np.testing.assert_array_equal(got, native)
    # The fused loop of notebooks is another one, in another order: equal up to rounding.
    np.testing.assert_allclose(got, (normalize(x) * gamma + beta).ravel(), rtol=1e-5, atol=1e-5)

    rmsnorm(x.ravel(), gamma, native, *last)
    (got,) = run("rmsnorm", x, gamma, out, *last, returned=(2,))
    np.testing.assert_array_equal(got, native)
    np.testing.assert_allclose(got, (normalize(x, center=False) * gamma).ravel(), rtol=1e-5)


def test_the_committed_module_is_what_the_source_gives(tmp_path):
    linker = shutil.which("wasm-ld")
    if not linker:
        pytest.skip("wasm-ld is not installed (apt-get install lld)")
    built = tmp_path / ARTEFACT
    subprocess.run([sys.executable, "-m", "layerlab.wasm.build", str(built)], check=True)
    committed = (files("layerlab.wasm") / ARTEFACT).read_bytes()
    assert built.read_bytes() == committed, "run `make wasm` and commit book/layerlab/wasm"


def test_the_module_is_small():
    assert len((files("layerlab.wasm") / ARTEFACT).read_bytes()) < 13_000
