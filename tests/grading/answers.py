"""Answers of the small course that are wrong, odd or hostile, and cells around them."""

STARTER = (
    'def centre(x):\n    """Take the mean away."""\n'
    "    # YOUR CODE HERE\n    raise NotImplementedError()"
)
WRONG_CENTRE = "def centre(x):\n    return x * 1.0"
WRONG_DOUBLE = (
    "def double(x):\n    return x, None\n\ndef double_back(dout, cache):\n    return dout"
)

HANG = "def centre(x):\n    while True:\n        pass"
FLOOD = "def centre(x):\n    while True:\n        print('x' * 2000)"
DIE = "import os\n\ndef centre(x):\n    os._exit(0)"
KILL = "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)"
SUBCLASS = """\
class E(np.ndarray):
    def __array_ufunc__(self, *a, **k): return np.True_
    def __array_function__(self, *a, **k): return True
def centre(x): return np.zeros(x.shape).view(E)"""
READ = """\
import glob
def centre(x):
    text = "".join(open(p).read() for p in glob.glob("**/*.ipynb", recursive=True))
    return eval(text.split("assert_allclose(centre(x), ")[1].split(")")[0])"""
ZERO_INPUT = "def centre(x):\n    x[...] = 5.5\n    return x - 5.5"
RAISE_INPUT = "def centre(x):\n    raise ValueError(repr(x.tolist()) * 50)"
OTHER_NP = "class np:\n    mean = staticmethod(lambda x: sum(map(sum, x)) / 12)"
PATCH = "import numpy.testing as t\nt.assert_allclose = t.assert_equal = lambda *a, **k: None"
