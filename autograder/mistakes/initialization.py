"""Known wrong Xavier and He initializations (ids IX..., IH...); GPT-2's stand beside."""

from __future__ import annotations

import numpy as np

from autograder.mistakes.initialization_draws import (
    in_drawing,
    in_size,
    normal,
    numbered,
    uniform,
)
from autograder.mistakes.registry import Family

xavier_normal = Family("xavier_normal")
xavier_uniform = Family("xavier_uniform")
he_normal = Family("he_normal")
he_uniform = Family("he_uniform")

_std = in_size(xavier_normal, normal)
_std(
    "IX1", "variance given as standard deviation",
    "You used 2 / (fan_in + fan_out) as the standard deviation. That is the variance; rng.normal "
    "takes the standard deviation, its square root.",
    lambda fan_in, fan_out: 2 / (fan_in + fan_out),
)  # fmt: skip
_std(
    "IX2", "fan_out missing",
    "Your standard deviation is 1 / sqrt(fan_in). That looks after the forward pass only; Xavier "
    "averages it with the backward pass: sqrt(2 / (fan_in + fan_out)).",
    lambda fan_in, fan_out: np.sqrt(1 / fan_in),
)  # fmt: skip
_std(
    "IX3", "fan_in missing",
    "Your standard deviation is 1 / sqrt(fan_out). That looks after the backward pass only; "
    "Xavier averages it with the forward pass: sqrt(2 / (fan_in + fan_out)).",
    lambda fan_in, fan_out: np.sqrt(1 / fan_out),
)  # fmt: skip
_std(
    "IX6", "1 in place of 2",
    "Your variance is 1 / (fan_in + fan_out), half of what is right. 1 over the average fan is "
    "2 / (fan_in + fan_out): the average divides the sum by two.",
    lambda fan_in, fan_out: np.sqrt(1 / (fan_in + fan_out)),
)  # fmt: skip
_std(
    "IX7", "He's formula",
    "You used He's sqrt(2 / fan_in). That is for ReLU, which throws half of the signal away; "
    "Xavier keeps fan_in and fan_out: sqrt(2 / (fan_in + fan_out)).",
    lambda fan_in, fan_out: np.sqrt(2 / fan_in),
)  # fmt: skip
_std(
    "IX8", "a gain of 5/3",
    "Your standard deviation is 5/3 of Xavier's: a gain that some libraries multiply in for tanh. "
    "The formula asked for here has none.",
    lambda fan_in, fan_out: 5 / 3 * np.sqrt(2 / (fan_in + fan_out)),
)  # fmt: skip
_std(
    "IX9", "product of the fans",
    "You divided by fan_in * fan_out. The denominator is their sum: Xavier compromises between "
    "1 / fan_in and 1 / fan_out.",
    lambda fan_in, fan_out: np.sqrt(2 / (fan_in * fan_out)),
)  # fmt: skip
_std(
    "IX10", "2 outside the square root",
    "You computed 2 / sqrt(fan_in + fan_out). The 2 belongs under the root too: "
    "sqrt(2 / (fan_in + fan_out)).",
    lambda fan_in, fan_out: 2 / np.sqrt(fan_in + fan_out),
)  # fmt: skip
_std(
    "IX11", "square root of 2 alone",
    "You computed sqrt(2) / (fan_in + fan_out). The root covers the whole fraction: "
    "sqrt(2 / (fan_in + fan_out)).",
    lambda fan_in, fan_out: np.sqrt(2) / (fan_in + fan_out),
)  # fmt: skip
_std(
    "IX12", "the uniform bound as standard deviation",
    "You used sqrt(6 / (fan_in + fan_out)). That is the bound of xavier_uniform; a normal draw "
    "takes the standard deviation, which has 2 in place of 6.",
    lambda fan_in, fan_out: np.sqrt(6 / (fan_in + fan_out)),
)  # fmt: skip
in_drawing(
    xavier_normal, normal, lambda fan_in, fan_out: np.sqrt(2 / (fan_in + fan_out)),
    numbered("IX", 13, 20), numbered("IX", 21, 23),
)  # fmt: skip

_bound = in_size(xavier_uniform, uniform)
_bound(
    "IX4", "the standard deviation as bound",
    "Your bound is sqrt(2 / (fan_in + fan_out)), the standard deviation itself. Uniform numbers "
    "between -a and a have standard deviation a / sqrt(3), so a needs 6 in place of 2.",
    lambda fan_in, fan_out: np.sqrt(2 / (fan_in + fan_out)),
)  # fmt: skip
_bound(
    "IX5", "3 in place of 6",
    "Your bound is sqrt(3 / (fan_in + fan_out)). The variance of U(-a, a) is a**2 / 3; for it to "
    "be 2 / (fan_in + fan_out), a**2 must be 6 / (fan_in + fan_out).",
    lambda fan_in, fan_out: np.sqrt(3 / (fan_in + fan_out)),
)  # fmt: skip
_bound(
    "IX24", "square root missing",
    "Your bound is 6 / (fan_in + fan_out). The bound is the square root of that.",
    lambda fan_in, fan_out: 6 / (fan_in + fan_out),
)  # fmt: skip
_bound(
    "IX25", "fan_out missing",
    "Your variance is 1 / fan_in. That looks after the forward pass only; Xavier averages it with "
    "the backward pass: the bound is sqrt(6 / (fan_in + fan_out)).",
    lambda fan_in, fan_out: np.sqrt(3 / fan_in),
)  # fmt: skip
_bound(
    "IX26", "fan_in missing",
    "Your variance is 1 / fan_out. That looks after the backward pass only; Xavier averages it "
    "with the forward pass: the bound is sqrt(6 / (fan_in + fan_out)).",
    lambda fan_in, fan_out: np.sqrt(3 / fan_out),
)  # fmt: skip
_bound(
    "IX27", "bound of 1 / sqrt(fan_in)",
    "Your bound is 1 / sqrt(fan_in), the default of several libraries for a linear layer. It is "
    "not Xavier's: that is sqrt(6 / (fan_in + fan_out)).",
    lambda fan_in, fan_out: 1 / np.sqrt(fan_in),
)  # fmt: skip
_bound(
    "IX28", "He's formula",
    "You used He's sqrt(6 / fan_in). That is for ReLU, which throws half of the signal away; "
    "Xavier keeps fan_in and fan_out: sqrt(6 / (fan_in + fan_out)).",
    lambda fan_in, fan_out: np.sqrt(6 / fan_in),
)  # fmt: skip
_bound(
    "IX29", "a gain of 5/3",
    "Your bound is 5/3 of Xavier's: a gain that some libraries multiply in for tanh. The formula "
    "asked for here has none.",
    lambda fan_in, fan_out: 5 / 3 * np.sqrt(6 / (fan_in + fan_out)),
)  # fmt: skip
_bound(
    "IX30", "product of the fans",
    "You divided by fan_in * fan_out. The denominator is their sum: Xavier compromises between "
    "1 / fan_in and 1 / fan_out.",
    lambda fan_in, fan_out: np.sqrt(6 / (fan_in * fan_out)),
)  # fmt: skip
_bound(
    "IX31", "square root of 6 alone",
    "You computed sqrt(6) / (fan_in + fan_out). The root covers the whole fraction: "
    "sqrt(6 / (fan_in + fan_out)).",
    lambda fan_in, fan_out: np.sqrt(6) / (fan_in + fan_out),
)  # fmt: skip
in_drawing(
    xavier_uniform, uniform, lambda fan_in, fan_out: np.sqrt(6 / (fan_in + fan_out)),
    numbered("IX", 32, 39), numbered("IX", 40, 41),
)  # fmt: skip

_std = in_size(he_normal, normal)
_std(
    "IH1", "fan_out in place of fan_in",
    "You divided by fan_out. In the forward pass each output adds fan_in products, so He's "
    "variance is 2 / fan_in. For a square matrix nobody sees the difference.",
    lambda fan_in, fan_out: np.sqrt(2 / fan_out),
)  # fmt: skip
_std(
    "IH2", "1 in place of 2",
    "Your variance is 1 / fan_in. ReLU zeroes half of the inputs and with them half of the second "
    "moment; the 2 in He's 2 / fan_in makes up for it.",
    lambda fan_in, fan_out: np.sqrt(1 / fan_in),
)  # fmt: skip
_std(
    "IH3", "variance given as standard deviation",
    "You used 2 / fan_in as the standard deviation. That is the variance; rng.normal takes the "
    "standard deviation, its square root.",
    lambda fan_in, fan_out: 2 / fan_in,
)  # fmt: skip
_std(
    "IH4", "the uniform bound as standard deviation",
    "You used sqrt(6 / fan_in). That is the bound of he_uniform; a normal draw takes the standard "
    "deviation, which has 2 in place of 6.",
    lambda fan_in, fan_out: np.sqrt(6 / fan_in),
)  # fmt: skip
_std(
    "IH6", "Xavier's formula",
    "You used Xavier's sqrt(2 / (fan_in + fan_out)). It is derived without ReLU; He's formula "
    "looks at fan_in alone and doubles the variance: sqrt(2 / fan_in).",
    lambda fan_in, fan_out: np.sqrt(2 / (fan_in + fan_out)),
)  # fmt: skip
_std(
    "IH8", "2 outside the square root",
    "You computed 2 / sqrt(fan_in). The 2 belongs under the root too: sqrt(2 / fan_in).",
    lambda fan_in, fan_out: 2 / np.sqrt(fan_in),
)  # fmt: skip
_std(
    "IH9", "square root of 2 alone",
    "You computed sqrt(2) / fan_in. The root covers the whole fraction: sqrt(2 / fan_in).",
    lambda fan_in, fan_out: np.sqrt(2) / fan_in,
)  # fmt: skip
in_drawing(
    he_normal, normal, lambda fan_in, fan_out: np.sqrt(2 / fan_in),
    numbered("IH", 10, 17), ("IH18", "IH19", "IH7"),
)  # fmt: skip

_bound = in_size(he_uniform, uniform)
_bound(
    "IH5", "the standard deviation as bound",
    "Your bound is sqrt(2 / fan_in), the standard deviation itself. Uniform numbers between -a "
    "and a have standard deviation a / sqrt(3), so a needs 6 in place of 2.",
    lambda fan_in, fan_out: np.sqrt(2 / fan_in),
)  # fmt: skip
_bound(
    "IH20", "fan_out in place of fan_in",
    "You divided by fan_out. In the forward pass each output adds fan_in products, so He's bound "
    "is sqrt(6 / fan_in). For a square matrix nobody sees the difference.",
    lambda fan_in, fan_out: np.sqrt(6 / fan_out),
)  # fmt: skip
_bound(
    "IH21", "3 in place of 6",
    "Your bound is sqrt(3 / fan_in), which gives a variance of 1 / fan_in. ReLU zeroes half of the "
    "inputs; the factor 2 that makes up for it turns 3 into 6.",
    lambda fan_in, fan_out: np.sqrt(3 / fan_in),
)  # fmt: skip
_bound(
    "IH22", "square root missing",
    "Your bound is 6 / fan_in. The bound is the square root of that.",
    lambda fan_in, fan_out: 6 / fan_in,
)  # fmt: skip
_bound(
    "IH23", "Xavier's formula",
    "You used Xavier's sqrt(6 / (fan_in + fan_out)). It is derived without ReLU; He's formula "
    "looks at fan_in alone and doubles the variance: sqrt(6 / fan_in).",
    lambda fan_in, fan_out: np.sqrt(6 / (fan_in + fan_out)),
)  # fmt: skip
_bound(
    "IH24", "bound of 1 / sqrt(fan_in)",
    "Your bound is 1 / sqrt(fan_in), the default of several libraries for a linear layer. It is "
    "not He's: that is sqrt(6 / fan_in).",
    lambda fan_in, fan_out: 1 / np.sqrt(fan_in),
)  # fmt: skip
_bound(
    "IH25", "square root of 6 alone",
    "You computed sqrt(6) / fan_in. The root covers the whole fraction: sqrt(6 / fan_in).",
    lambda fan_in, fan_out: np.sqrt(6) / fan_in,
)  # fmt: skip
_bound(
    "IH36", "6 outside the square root",
    "You computed 6 / sqrt(fan_in). The 6 belongs under the root too: sqrt(6 / fan_in).",
    lambda fan_in, fan_out: 6 / np.sqrt(fan_in),
)  # fmt: skip
in_drawing(
    he_uniform, uniform, lambda fan_in, fan_out: np.sqrt(6 / fan_in),
    numbered("IH", 26, 33), numbered("IH", 34, 35),
)  # fmt: skip

# These register the ids IG... and IR....
from autograder.mistakes import initialization_gpt2, initialization_model  # noqa: E402, F401
