import pytest

from autograder.course.paths import CourseError
from autograder.course.source import read_source, split_regions
from tests.course.conftest import SOURCE

# What goes wrong in the source, and the words by which the author finds it.
SLIPS = {
    "misspelt marker": ("### BEGIN HIDDEN TESTS", "### BEGIN HIDEN TEST", "unknown marker"),
    "marker in lower case": ("### BEGIN SOLUTION", "### begin solution", "unknown marker"),
    "region never closed": ("    ### END SOLUTION\n", "", "never closed"),
    "region never opened": ("    ### BEGIN SOLUTION\n", "", "not open"),
    "no grade_id": ("grade_id: unseen, ", "", "has no grade_id"),
    "grade_id twice": ("grade_id: unseen", "grade_id: seen", "used by an earlier cell"),
    "grade_id with a space": ("grade_id: unseen", "grade_id: not seen", "letters, digits"),
    "points missing": ("points: 4,", "", "needs 'points'"),
    "points zero": ("points: 4,", "points: 0,", "needs 'points'"),
    "points differ": ("points=4)", "points=5)", "points=4"),
    "no hidden call": ("check_double(double, points=4)\n", "", "check_<function>"),
    "old schema": ("points: 4,\n  schema_version: 3", "points: 4,\n  schema_version: 2",
                   "schema_version must be 3"),
    "solution cell not declared": ("solution: true", "solution: false", "stays public"),
    "hidden cell not graded": ("grade: true", "grade: false", "stays public"),
    "no solution markers": ("    ### BEGIN SOLUTION\n    twice_as_much = np.asarray(x) * 2\n"
                            "    return twice_as_much\n    ### END SOLUTION\n",
                            "    return 2 * x\n", "blanked whole"),
    "hidden region not Python": ("check_double(double, points=4)", "check_double(", "not Python"),
}  # fmt: skip


@pytest.mark.parametrize("slip", SLIPS)
def test_a_slip_in_a_source_is_refused_with_file_and_cell(slip, tmp_path):
    old, new, words = SLIPS[slip]
    path = tmp_path / "double.md"
    assert old in SOURCE
    path.write_text(SOURCE.replace(old, new))
    with pytest.raises(CourseError, match=words) as error:
        read_source(path)
    assert str(error.value).startswith(f"{path}, cell ")


def test_metadata_that_is_not_yaml_is_refused_with_its_file(tmp_path):
    path = tmp_path / "double.md"
    path.write_text(SOURCE.replace("{grade: true,", "{grade: true"))
    with pytest.raises(CourseError, match="not a MyST notebook") as error:
        read_source(path)
    assert str(path) in str(error.value)


def test_cell_ids_depend_on_the_text_alone(tmp_path):
    path = tmp_path / "double.md"
    path.write_text(SOURCE)
    first, second = read_source(path), read_source(path)
    assert [cell.id for cell in first.cells] == [cell.id for cell in second.cells]
    assert len({cell.id for cell in first.cells}) == len(first.cells)
    assert {"double", "seen", "unseen"} <= {cell.id for cell in first.cells}


def test_equal_cells_get_different_ids(tmp_path):
    path = tmp_path / "double.md"
    path.write_text(SOURCE + "\n```{code-cell} ipython3\nimport numpy as np\n```\n")
    ids = [cell.id for cell in read_source(path).cells]
    assert len(set(ids)) == len(ids)


def test_regions_are_split_from_what_everybody_may_read():
    public, regions = split_regions("a\n### BEGIN SOLUTION\nb\n### END SOLUTION\n# END of line\nc")
    assert public == "a\n# END of line\nc"
    assert regions == {"SOLUTION": ["b"]}
