"""What a person asked a view to draw."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from graphscope.errors import ExportError
from graphscope.exporters.step_choice import chosen_rows
from graphscope.exporters.view_selection import MOST, check_count, graph_of, selected_view

if TYPE_CHECKING:
    from collections.abc import Sequence

    from graphscope.exporters.choice import Choice
    from graphscope.exporters.registry import Exporter
    from graphscope.exporters.view_selection import Fold
    from graphscope.graph.graph import Graph
    from graphscope.graph.node import Node
    from graphscope.graph.view import GraphView

__all__ = ["Request"]


@dataclass(frozen=True)
class Request:
    """A thing, what of it, and how it is folded."""

    thing: Any
    choice: Choice
    folds: Sequence[Fold] | None
    made_by: Exporter
    """What will write it."""

    @property
    def said(self) -> set[str]:
        """The names of what was asked for."""
        return self.choice.said | ({"fold"} if self.folds is not None else set())

    def boxes(self) -> GraphView:
        """What was chosen, as boxes and arrows for people to read.

        Raises:
            ExportError: There is nothing to draw, or too much.
        """
        return selected_view(self.thing, self.choice, self.folds)

    def boxes_for_exporter(self) -> GraphView:
        """The same, as the exporter wants it: it may read data, and not draw.

        Raises:
            ExportError: There is nothing to draw, or too much.
        """
        made_by = self.made_by
        return selected_view(self.thing, self.choice, self.folds, is_whole=made_by.is_whole, most=made_by.most)

    def recording(self) -> Graph:
        """The graph of the recording, at the time that was chosen.

        Raises:
            ExportError: The thing is none.
        """
        graph = graph_of(self.thing)
        if graph is None:
            raise ExportError(
                "this view needs a recording, which tells values and both passes",
                "record the program (with graphscope.record() as log: ...) and export the log",
            )
        return graph if self.choice.at is None else graph.at(self.choice.at)

    def nodes(self) -> tuple[list[Node], tuple[str, ...]]:
        """The nodes that were chosen, else those of one training step; and which of how many steps that is.

        Raises:
            ExportError: There is no such step, or it is too long.
        """
        graph = self.recording()
        if self.choice.is_part:
            return self.choice.nodes(graph), ()
        rows, heading = chosen_rows(graph, self.choice.step)
        check_count(graph, len(rows), MOST)
        return list(map(graph.node, rows.tolist())), heading
