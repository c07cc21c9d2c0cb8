"""The part of a run that the timeline shows: all of it, or a window that goes along with where one stands."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Window:
    """Rows of a run, in cells.

    It is halved as often as a person has asked for, but never below a row a cell.
    """

    first: int = 0
    """The first row of the run."""
    count: int = 1
    """How many rows the run has."""
    cells: int = 1
    halvings: int = 0
    middle: int = 0
    """The row that it was put around."""

    @property
    def size(self) -> int:
        """How many rows it shows."""
        return max(self.count >> self.halvings, min(self.cells, self.count))

    @property
    def start(self) -> int:
        """The first row that it shows."""
        return min(max(self.middle - self.size // 2, self.first), self.first + self.count - self.size)

    @property
    def is_whole(self) -> bool:
        """Whether it shows all of the run."""
        return self.size == self.count

    def __contains__(self, row: int) -> bool:
        return self.start <= row < self.start + self.size

    def cell(self, row: int) -> int:
        """The cell of a row; of what lies outside, the nearest."""
        return min(max((row - self.start) * self.cells // self.size, 0), self.cells - 1)

    def row(self, cell: int) -> int:
        """The first row of a cell."""
        return self.start + min(-(-max(cell, 0) * self.size // self.cells), self.size - 1)

    def zoomed(self, by: int, row: int) -> Window:
        """Twice or half as close, around a row; as it is where that shows no more."""
        halvings = max(self.halvings + by, 0)
        found = replace(self, halvings=halvings, middle=row)
        return found if found.size != self.size else self

    def around(self, row: int) -> Window:
        """The one that holds a row: it stays as long as that lies in it."""
        return self if row in self else replace(self, middle=row)
