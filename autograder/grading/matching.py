"""Find, in a notebook that was handed in, the cells of the master."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from autograder.grading.document import Cell
from autograder.grading.master import Master, MasterCell
from autograder.grading.names import bound_in, defined_in


@dataclass
class Match:
    """Which cell was handed in for which cell of the master.

    Attributes
    ----------
    place : list of (int or None)
        For each cell of the master, the position of its answer.
    how : dict of int to str
        For each cell of the master that was found: ``id``, ``source``, ``name``, ``position``.
    extra : list of int
        Positions of copies that hold nothing of the student's and are left out.
    twice : set of int
        Cells of the master that were handed in more than once.
    """

    place: list[int | None]
    how: dict[int, str] = field(default_factory=dict)
    extra: list[int] = field(default_factory=list)
    twice: set[int] = field(default_factory=set)

    def take(self, master: int, position: int, how: str) -> None:
        """Settle one cell."""
        self.place[master], self.how[master] = position, how


def match_cells(master: Master, cells: Sequence[Cell]) -> Match:
    """Find each cell of the master: by its id, its source, the names it binds, its place.

    Parameters
    ----------
    master : Master
    cells : sequence of Cell
        As they were handed in.
    """
    match = Match([None] * len(master.cells))
    _by_id(master, cells, match)
    _by_source(master, cells, match)
    _by_name(master, cells, match)
    _by_position(master, cells, match)
    return match


def same_text(one: str, other: str) -> bool:
    """Compare two sources, blanks at the ends of lines and of the cell aside."""
    return _stripped(one) == _stripped(other)


def is_untouched(known: MasterCell, source: str) -> bool:
    """Tell whether a source is what the release gave, or what the gradebook holds."""
    return same_text(source, known.released) or same_text(source, known.source)


def _stripped(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip().splitlines()]


def _free(master: Master, cells: Sequence[Cell], match: Match) -> list[int]:
    """Positions that belong to nothing yet."""
    taken = {*(p for p in match.place if p is not None), *match.extra}
    return [i for i in range(len(cells)) if i not in taken]


def _by_id(master: Master, cells: Sequence[Cell], match: Match) -> None:
    index = master.index()
    found: dict[int, list[int]] = {}
    for position, cell in enumerate(cells):
        if cell.grade_id in index:
            found.setdefault(index[cell.grade_id], []).append(position)
    for place, positions in found.items():
        known = master.cells[place]
        best = max(positions, key=lambda p: (*_worth(known, cells[p]), p))
        match.take(place, best, "id")
        if len(positions) > 1:
            match.twice.add(place)
        match.extra += [
            p for p in positions
            if p != best and (is_untouched(known, cells[p].source)
                              or same_text(cells[p].source, cells[best].source))
        ]  # fmt: skip


def _worth(known: MasterCell, cell: Cell) -> tuple[bool, int, bool]:
    """Rank the copies of one cell: an answer first, that with the right names, then the type."""
    wanted = defined_in(known.released)
    answered = known.solution and bool(cell.source.strip()) and not is_untouched(known, cell.source)
    return answered, len(wanted & defined_in(cell.source)), cell.kind == known.kind


def _by_source(master: Master, cells: Sequence[Cell], match: Match) -> None:
    free = _free(master, cells, match)
    texts: dict[tuple[str, ...], list[int]] = {}
    for position in free:
        texts.setdefault(tuple(_stripped(cells[position].source)), []).append(position)
    last = -1
    for place, known in enumerate(master.cells):
        if match.place[place] is not None:
            last = match.place[place] or 0
            continue
        same: list[int] = []
        for text in {tuple(_stripped(known.released)), tuple(_stripped(known.source))}:
            same = same or texts.get(text, [])
        if same and any(_stripped(cells[same[0]].source)):
            position = next((p for p in same if p > last), same[0])
            same.remove(position)
            match.take(place, position, "source")
            last = position


def _by_name(master: Master, cells: Sequence[Cell], match: Match) -> None:
    """Take, for an answer that lost its id, the last cell that defines most of its functions."""
    for place, known in _missing_answers(master, match):
        if known.kind != "code":
            continue
        for names_in in (defined_in, bound_in):
            wanted = names_in(known.released) | names_in(known.solved or "")
            free = _free(master, cells, match)
            scored = [(len(wanted & names_in(cells[p].source)), p) for p in free]
            score, position = max(scored, default=(0, 0))
            if score:
                match.take(place, position, "name")
                break


def _by_position(master: Master, cells: Sequence[Cell], match: Match) -> None:
    """Take, for an answer that lost its id, the only cell between its neighbours."""
    known_texts = {tuple(_stripped(c.released)) for c in master.cells if c.grade_id is None}
    for place, known in _missing_answers(master, match):
        if known.kind == "code" and defined_in(known.released):
            continue
        before = [p for p in match.place[:place] if p is not None]
        after = [p for p in match.place[place + 1 :] if p is not None]
        start, stop = before[-1] if before else -1, after[0] if after else len(cells)
        candidates = [
            p for p in _free(master, cells, match)
            if start < p < stop and cells[p].kind == known.kind and cells[p].source.strip()
            and tuple(_stripped(cells[p].source)) not in known_texts
        ]  # fmt: skip
        if len(candidates) == 1:
            match.take(place, candidates[0], "position")


def _missing_answers(master: Master, match: Match) -> Iterator[tuple[int, MasterCell]]:
    for place, known in enumerate(master.cells):
        if known.solution and match.place[place] is None:
            yield place, known
