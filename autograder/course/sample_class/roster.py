"""Who is in the sample class, what each of them did, and which mistakes that should show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Student:
    """One member of the sample class.

    Attributes
    ----------
    name : str
        Folder of the submission.
    note : str
        What is special about it.
    base : str
        Whose right answers are used where the student has none of their own.
    mistakes : mapping of str to str
        Exercise function to the id of the known mistake in it.
    unfinished : frozenset of str
        Functions left as the release had them.
    unreadable : str or None
        A function whose cell has a syntax error.
    renamed : str or None
        A layer whose notebook a browser renamed on download.
    """

    name: str
    note: str
    base: str = "ada"
    mistakes: Mapping[str, str] = field(default_factory=dict)
    unfinished: frozenset[str] = frozenset()
    unreadable: str | None = None
    renamed: str | None = None


_LATER = ("embedding_backward", "layernorm_backward", "rmsnorm_backward", "dropout_backward")
_INIT = ("xavier_uniform", "he_uniform", "gpt2_residual", "gpt2_init")

ROSTER = (
    Student("ada", "all right, as the statements suggest"),
    Student("emmy", "all right, in styles of her own", base="emmy"),
    Student("grace", "all right in float32, with prints and warnings"),
    Student("linus", "dropout never rescales", mistakes={"dropout_forward": "DF1"}),
    Student("kurt", "dropout keeps with probability p", mistakes={"dropout_forward": "DF4"}),
    Student(
        "sofia",
        "eps outside the root, twice",
        mistakes={"layernorm_forward": "LF2", "rmsnorm_forward": "RF3"},
    ),
    Student("alan", "repeated ids overwrite", mistakes={"embedding_backward": "EB1"}),
    Student(
        "rosa",
        "gamma after the means; LayerNorm's gradient for RMSNorm",
        mistakes={"layernorm_backward": "LB5", "rmsnorm_backward": "RB1"},
    ),
    Student(
        "tom",
        "fan_in and fan_out confused",
        mistakes={"he_normal": "IH1", "xavier_normal": "IX2", "gpt2_residual": "IR1"},
    ),
    Student("nadia", "unfinished", base="emmy", unfinished=frozenset(_LATER + _INIT)),
    Student("omar", "a syntax error in one cell", unreadable="rmsnorm_forward"),
    Student("yuki", "a notebook renamed by a download", base="emmy", renamed="layernorm"),
)
