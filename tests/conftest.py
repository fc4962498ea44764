"""Settings shared by all tests."""

from hypothesis import settings

# No deadline: the first example of a kernel waits for its compilation. Derandomized: a red run is
# the same run everywhere, and new examples come with new tests.
settings.register_profile("layers", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("layers")
