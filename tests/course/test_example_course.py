import pytest

from autograder.course.example_course import grade_example_course

pytestmark = pytest.mark.class_run


def test_the_example_course_of_nbgrader_scores_as_nbgrader_says(tmp_path):
    """Measured with nbgrader 0.9.6 alone; the downloads hold seven files of two students."""
    result = grade_example_course(tmp_path / "example")
    assert result.scores == {"bitdiddle": 1.5, "hacker": 3.0}
    assert result.max_score == 13
    assert result.different == [], "the isolated engine gives every cell the same score"
    collected = [name for names in result.collected.values() for name in names]
    assert sum(name != "timestamp.txt" for name in collected) == 7
