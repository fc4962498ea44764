"""Where the student's own cells go among the cells of the master."""

from __future__ import annotations

from collections.abc import Sequence

from autograder.grading.document import Cell
from autograder.grading.master import Master
from autograder.grading.matching import Match


def arrange(
    master: Master, cells: Sequence[Cell], match: Match
) -> tuple[list[tuple[str, int]], bool]:
    """Put the master's cells in their order and the student's own between them.

    A cell of the student's own stays between the same neighbours. Where cells were moved, that
    means as early as either neighbour allows: a helper must run before the test that needs it,
    and running early harms little.

    Returns
    -------
    order : list of (str, int)
        ``("master", place)`` or ``("free", position)``.
    moved : bool
        Whether the cells of the master stood in another order.
    """
    fixed = [
        place for place, known in enumerate(master.cells)
        if match.place[place] is not None and (known.grade_id or known.kind == "code")
    ]  # fmt: skip
    positions = [match.place[place] or 0 for place in fixed]
    moved = positions != sorted(positions)
    if moved:
        fixed = [place for place, found in enumerate(match.place) if found is not None]
    anchors = {match.place[place] or 0: place for place in fixed}
    gaps = _gaps(master, cells, match, anchors)
    order: list[tuple[str, int]] = []
    for place, known in enumerate(master.cells):
        order += [("free", position) for position in gaps.get(place, [])]
        if known.grade_id is not None or (place in fixed):
            order.append(("master", place))
    order += [("free", position) for position in gaps.get(len(master.cells), [])]
    return order, moved


def _gaps(
    master: Master, cells: Sequence[Cell], match: Match, anchors: dict[int, int]
) -> dict[int, list[int]]:
    """Collect, for each place in the master, the student's own cells that stand before it."""
    gaps: dict[int, list[int]] = {}
    following = _following(len(cells), anchors, len(master.cells))
    before, extra = 0, set(match.extra)
    for position in range(len(cells)):
        if position in anchors:
            before = _after(master, match, anchors[position])
        elif position not in extra:
            gaps.setdefault(min(before, following[position]), []).append(position)
    return gaps


def _following(count: int, anchors: dict[int, int], end: int) -> list[int]:
    """For each position, the place in the master of the next cell that belongs to it."""
    places, current = [end] * count, end
    for position in reversed(range(count)):
        current = anchors.get(position, current)
        places[position] = current
    return places


def _after(master: Master, match: Match, place: int) -> int:
    """Step over missing cells: a lost set-up cell comes back before what followed it.

    A lost test cell does not: what the student wrote before the next cell may be what it tests.
    """
    place += 1
    while place < len(master.cells):
        known = master.cells[place]
        if match.place[place] is not None or known.is_test:
            break
        place += 1
    return place
