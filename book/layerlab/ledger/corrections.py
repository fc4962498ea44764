"""The ten corrections that the book makes to the documents it started from."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Correction:
    """What was said, what is true, and the rows that show it.

    Attributes
    ----------
    said, instead : str
        The statement, and what replaces it.
    rows : tuple of str
        Ids of the claims.
    """

    said: str
    instead: str
    rows: tuple[str, ...]


CORRECTIONS = (
    Correction(
        "Ten times the vector has exactly the same normalized vector.",
        "Only without eps.",
        ("8",),
    ),
    Correction(
        "ReLU halves the variance.",
        "It halves the mean of the squares. The variance falls to about a third.",
        ("33",),
    ),
    Correction(
        "Three starts give sizes of 8 · 10¹¹, 0.9 and 8 · 10⁻⁹.",
        "Each is one draw of a wide range, and the first two cannot come from the same draw.",
        ("29", "30", "31", "32"),
    ),
    Correction(
        "Without a norm no learning rate of either optimizer moves a tiny start off log 4.",
        "True of gradient descent. Adam gets away through the biases of the hidden layers.",
        ("1e-1", "1e-2", "1e-3", "1e-4"),
    ),
    Correction(
        "Dropout alone worsens the cross-entropy.",
        "After enough steps and on hard data; early in training it helps.",
        ("1f-1", "1f-2"),
    ),
    Correction(
        "Two formulas for the gradients of gain and shift.",
        "One is wrong for a single vector, the other for three axes. Sum over all leading axes.",
        ("47", "48"),
    ),
    Correction(
        "Right gradients stay below 1e-6, entry by entry.",
        "Such a check refuses right code. Divide by the largest entry of each tensor.",
        ("1b-6", "1b-7", "1b-8", "1b-9"),
    ),
    Correction(
        "The gradient is at a right angle to the weights of each unit.",
        "With LayerNorm and RMSNorm only for the whole matrix, and only without a bias before "
        "the norm.",
        ("1c-8", "1c-9", "1c-11"),
    ),
    Correction(
        "Norms are bound by memory by ten to twenty.",
        "10 and 16 in one pass, 20 and 24 in separate steps.",
        ("40",),
    ),
    Correction(
        "Clip the probability before its logarithm.",
        "Then the loss and its gradient disagree. Compute the loss from the logits.",
        ("50",),
    ),
)
