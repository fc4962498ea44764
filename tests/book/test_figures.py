"""Figures follow the page's colours, do not share names, and can be told apart."""

import re

import pytest
from layerlab.chapter_text import number, scientific, vector
from layerlab.figure_style import COLOURS, INK, Picture, panel


def drawn(alt="Two lines"):
    figures = []
    for _ in range(2):
        fig, ax = panel(title="t", xlabel="x")
        ax.plot([1, 2, 3], label="a line")
        ax.legend()
        figures.append(fig)
    return Picture(*figures, alt=alt)._repr_html_()


def test_ink_becomes_the_colour_of_the_page():
    html = drawn()
    assert INK not in html
    assert "currentColor" in html
    assert "<style" not in html
    # No white patch, which would shine in the dark theme.
    assert not re.search(r"fill: #fff|fill: white", html)


def test_names_are_unique_and_every_reference_has_its_target():
    html = drawn()
    ids = re.findall(r'\bid="([^"]+)"', html)
    assert len(ids) == len(set(ids))
    references = re.findall(r'href="#([^"]+)"', html) + re.findall(r"url\(#([^)]+)\)", html)
    assert references
    assert set(references) <= set(ids)


def test_the_same_picture_is_the_same_text():
    assert drawn() == drawn()


def test_a_picture_says_what_it_shows():
    assert 'aria-label="A &quot;quoted&quot; line"' in drawn('A "quoted" line')
    fig, _ = panel()
    with pytest.raises(ValueError, match="alt must say what the picture shows"):
        Picture(fig, alt=" ")


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("page", ["#ffffff", "#121212"])
@pytest.mark.parametrize("colour", COLOURS)
def test_lines_stand_out_on_both_pages(colour, page):
    """Contrast of 3 to 1 or nearly so, what the accessibility guidelines ask of graphics."""
    low, high = sorted([luminance(colour), luminance(page)])
    assert (high + 0.05) / (low + 0.05) > 2.9


def test_numbers_in_sentences():
    assert vector([-1.3416, 0.4472, -0.001]) == "(−1.34, 0.45, 0.00)"  # noqa: RUF001
    assert scientific(8.03e11) == "8.0 × 10¹¹"  # noqa: RUF001
    assert scientific(-5.3e-6, 0) == "−5 × 10⁻⁶"  # noqa: RUF001
    assert scientific(0.0) == "0"
    assert number(-0.6708, 3) == "−0.671"  # noqa: RUF001
