"""What is drawn: from a log, a graph, a view or a tensor to the requested view."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, runtime_checkable

from graphscope.errors import ExportError
from graphscope.eventlog.reader import Log, load
from graphscope.exporters.tensor import is_tensor, tensor_view
from graphscope.graph import passes
from graphscope.graph.graph import Graph
from graphscope.graph.view import GraphView

if TYPE_CHECKING:
    from graphscope.graph.node import Node

__all__ = ["Fold", "OnePass", "selected_view"]

Fold: TypeAlias = Literal["repeats", "scopes"] | int
"""What is folded: iterations of a loop into one, calls of outer module scopes (or of those at a depth) into a box."""

OnePass: TypeAlias = Literal["forward", "backward"]


@runtime_checkable
class Drawable(Protocol):
    """What knows best itself how it is drawn, as two runs that were compared."""

    def graph_view(self, graph_pass: OnePass | None = None, radius: int | None = None) -> GraphView:
        """What is to be drawn: one pass alone, or so much of what surrounds its centre."""
        ...


def selected_view(
    thing: Any,
    *,
    select: str | None = None,
    graph_pass: OnePass | None = None,
    fold: Fold | Iterable[Fold] | None = None,
    at: int | None = None,
    radius: int | None = None,
    breakpoints: Iterable[int | str] = (),
    current: int | None = None,
    is_whole: bool = False,
) -> GraphView:
    """The view of a thing that can be drawn; `export` says what the arguments mean.

    Where it `is_whole`, nothing is done to it for the sake of a picture: each leaf is there once.

    Raises:
        ExportError: The thing has no graph, or nothing of it is left to draw.
        SelectorError: A SPEC is not understood.
        LogError: A row is not there.
    """
    graph = graph_of(thing)
    if isinstance(thing, Drawable) and select is None and at is None and current is None and not breakpoints:
        view = thing.graph_view(graph_pass, radius)
    elif graph is not None:
        graph = graph if at is None else graph.at(at)
        view = passes.whole(graph, graph_pass, selected_nodes(graph, select, radius, current))
        view = marked(view, rows_of(graph, breakpoints), current)
    elif select is not None or graph_pass or at is not None or radius is not None or current is not None or breakpoints:
        raise ExportError(
            "only of a recording can a part, a pass or a time be chosen and nodes be marked",
            "record the program (with graphscope.record() as log: ...) and export the log",
        )
    else:
        view = thing if isinstance(thing, GraphView) else tensor_view(thing)
    if not view.nodes:
        wanted = f" that is {select!r}" if select else ""
        raise ExportError(f"there is nothing to draw: no node{wanted} was recorded", "choose another SPEC or pass")
    view = folded(view, fold)
    return view if is_whole else passes.split_shared_leaves(view)


def graph_of(thing: Any) -> Graph | None:
    """The graph of a recording; None of a tensor or a view, which are drawn as they are.

    Raises:
        ExportError: It is none of these.
        LogError: There is no log at this path.
    """
    if isinstance(thing, Graph):
        return thing
    if isinstance(thing, str | os.PathLike):
        thing = load(Path(thing))
    if isinstance(thing, Log):
        thing.refresh()  # it may be of a run that is still going on
        return Graph(thing)
    if isinstance(thing, GraphView | Drawable) or is_tensor(thing):
        return None
    raise ExportError(f"a {type(thing).__name__} can't be drawn", "give a log or its path, a graph or a tensor")


def selected_nodes(graph: Graph, select: str | None, radius: int | None, current: int | None) -> list[Node] | None:
    """The nodes to draw; None means all."""
    if radius is None:
        return None if select is None else graph.select(select)
    if select is None and current is None and not graph.placed:
        raise ExportError("a radius needs a centre", "say which nodes it is around: select=..., current=... or at=...")
    centres = graph.select(select) if select is not None else [graph.node(graph.now if current is None else current)]
    around = {node.row: node for centre in centres for node in graph.neighbours(centre, radius)}
    return [around[row] for row in sorted(around)]


def rows_of(graph: Graph, breakpoints: Iterable[int | str]) -> set[int]:
    """The rows that breakpoints lie on."""
    rows: set[int] = set()
    for each in breakpoints:
        rows |= {each} if isinstance(each, int) else {node.row for node in graph.select(each)}
    return rows


def marked(view: GraphView, breakpoints: set[int], current: int | None) -> GraphView:
    """The view with its current node and its breakpoints marked."""
    nodes = tuple(
        replace(
            node,
            breakpoint=node.breakpoint or not breakpoints.isdisjoint(node.rows),
            current=node.current if current is None else current in node.rows,
        )
        for node in view.nodes
    )
    return replace(view, nodes=nodes)


def folded(view: GraphView, fold: Fold | Iterable[Fold] | None) -> GraphView:
    """The view after the folds that were asked for, in their order.

    Raises:
        ExportError: There is no such fold.
    """
    folds: Iterable[Any] = () if fold is None else [fold] if isinstance(fold, str | int) else fold
    for each in folds:
        if isinstance(each, int):
            view = passes.fold_scopes(view, each)
        elif each in passes.FOLDS:
            view = passes.FOLDS[each](view)
        else:
            known = ", ".join(sorted(passes.FOLDS))
            raise ExportError(f"there is no fold {each!r}", f"choose one of {known}, or the depth of module scopes")
    return view
