"""What of a recording is drawn, as a person says it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Literal, TypeAlias

from graphscope.errors import ExportError
from graphscope.exporters.step_choice import Step, chosen_rows

if TYPE_CHECKING:
    from graphscope.graph.graph import Graph
    from graphscope.graph.node import Node

__all__ = ["Choice", "OnePass"]

OnePass: TypeAlias = Literal["forward", "backward"]


@dataclass(frozen=True, slots=True)
class Choice:
    """What a person asked for; what is None, or empty, nobody said anything of."""

    select: str | None = None
    """The nodes that this SPEC selects."""
    graph_pass: OnePass | None = None
    step: Step | None = None
    at: int | None = None
    """The graph as it was when the log had come to this row."""
    radius: int | None = None
    """So many edges away from what is selected, else from `current`."""
    current: int | None = None
    """The row where the debugger stands."""
    breakpoints: tuple[int | str, ...] = ()
    """Rows or SPECs to mark."""

    @property
    def said(self) -> set[str]:
        """The names of what was asked for."""
        return {each.name for each in fields(self) if getattr(self, each.name) not in (None, ())}

    @property
    def is_part(self) -> bool:
        """Whether single nodes were chosen, and not steps."""
        return self.select is not None or self.radius is not None

    def nodes(self, graph: Graph) -> list[Node]:
        """The nodes of a part: of all steps where none is named.

        Raises:
            ExportError: A radius has no centre, or there is no such step.
            SelectorError: A SPEC is not understood.
            LogError: A row is not there.
        """
        found = self._selected(graph)
        if self.step is None or self.step == "all":
            return found
        rows = set(chosen_rows(graph, self.step).rows.tolist())
        return [node for node in found if node.row in rows]

    def _selected(self, graph: Graph) -> list[Node]:
        if self.radius is None:
            return graph.select(self.select or "")
        if self.select is None and self.current is None and not graph.placed:
            raise ExportError(
                "a radius needs a centre", "say which nodes it is around: select=..., current=... or at=..."
            )
        if self.select is not None:
            centres = graph.select(self.select)
        else:
            centres = [graph.node(graph.now if self.current is None else self.current)]
        around = {node.row: node for centre in centres for node in graph.neighbours(centre, self.radius)}
        return [around[row] for row in sorted(around)]

    def stops(self, graph: Graph) -> set[int]:
        """The rows that breakpoints lie on."""
        rows: set[int] = set()
        for each in self.breakpoints:
            rows |= {each} if isinstance(each, int) else {node.row for node in graph.select(each)}
        return rows
