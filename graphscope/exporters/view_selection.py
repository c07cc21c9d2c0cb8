"""What is drawn: from a log, a graph, a view or a tensor to the requested view."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, Literal, Protocol, TypeAlias, runtime_checkable

from graphscope.errors import ExportError
from graphscope.eventlog.reader import Log, load
from graphscope.exporters.choice import Choice, OnePass
from graphscope.exporters.step_choice import Step, chosen_rows, proposed, without_making
from graphscope.exporters.tensor import is_tensor, tensor_view
from graphscope.graph import passes
from graphscope.graph.graph import Graph
from graphscope.graph.view import GraphView

__all__ = ["Choice", "Fold", "OnePass", "Step", "selected_view"]

Fold: TypeAlias = Literal["none", "repeats", "scopes"] | int
"""What is folded: nothing, iterations of a loop into one, calls of outer module scopes (or of those at a depth) into a
box."""

MOST: Final = 100_000
"""A picture of more nodes would take hours, and nobody could read it."""

_OF_DRAWABLES: Final = {"graph_pass", "radius"}


@runtime_checkable
class Drawable(Protocol):
    """What knows best itself how it is drawn, as two runs that were compared."""

    def graph_view(self, graph_pass: OnePass | None = None, radius: int | None = None) -> GraphView:
        """What is to be drawn: one pass alone, or so much of what surrounds its centre."""
        ...


def selected_view(
    thing: Any,
    choice: Choice,
    folds: Sequence[Fold] | None = None,
    *,
    is_whole: bool = False,
    most: int | None = None,
) -> GraphView:
    """The view of a thing that can be drawn.

    Args:
        thing: A log or its path, a graph, a view, what knows how it is drawn, or a tensor.
        choice: What of it.
        folds: In their order; None folds as far as it takes to be read.
        is_whole: Nothing is done for the sake of a picture: all steps, and each leaf once.
        most: So many nodes at most where nothing is folded.

    Raises:
        ExportError: The thing has no graph, or nothing of it is left to draw.
        SelectorError: A SPEC is not understood.
        LogError: A row is not there.
    """
    graph = graph_of(thing)
    if graph is not None:
        is_all = is_whole or "none" in (folds or ())
        step = "all" if is_whole and choice.step is None else choice.step
        view = of_recording(graph, replace(choice, step=step), is_all=is_all, most=most)
    elif choice.said - (_OF_DRAWABLES if isinstance(thing, Drawable) else set()):
        raise ExportError(
            "only of a recording can a part, a pass or a time be chosen and nodes be marked",
            "record the program (with graphscope.record() as log: ...) and export the log",
        )
    elif isinstance(thing, Drawable):
        view = thing.graph_view(choice.graph_pass, choice.radius)
    else:
        view = thing if isinstance(thing, GraphView) else tensor_view(thing)
    if not view.nodes:
        wanted = f" that is {choice.select!r}" if choice.select else ""
        cure = "choose another SPEC or pass" if choice.said else "record a program that computes with tensors"
        raise ExportError(f"there is nothing to draw: no node{wanted} was recorded", cure)
    if is_whole or folds is not None:
        view = folded(view, folds or ())
    elif not choice.is_part and not isinstance(thing, GraphView | Drawable):
        view, told = passes.readable(view)
        view = replace(view, heading=(*view.heading, *([f"{told}: --fold none draws all"] if told else [])))
    return view if is_whole else passes.split_shared_leaves(view)


def of_recording(graph: Graph, choice: Choice, *, is_all: bool, most: int | None) -> GraphView:
    """A part of a recording, or a training step; with where the debugger stands, and stops."""
    graph = graph if choice.at is None else graph.at(choice.at)
    if choice.is_part:
        chosen = choice.nodes(graph)
        check_count(graph, len(chosen), most)
        view = passes.whole(graph, choice.graph_pass, (node.row for node in chosen))
    else:
        view = overview(graph, choice.graph_pass, choice.step, is_all=is_all, most=most if is_all else MOST)
    return marked(view, choice.stops(graph), choice.current)


def overview(
    graph: Graph, graph_pass: OnePass | None, step: Step | None, *, is_all: bool, most: int | None
) -> GraphView:
    """A training step, or all of a log that tells of none.

    Args:
        graph: The graph.
        graph_pass: One pass alone.
        step: Which step.
        is_all: With the making of parameters, and what an optimizer did to each of them.
        most: So many nodes at most.

    Raises:
        ExportError: There is no such step, or it is too long.
    """
    rows, heading = chosen_rows(graph, step)
    rows = rows if is_all else without_making(graph.log, rows)
    check_count(graph, len(rows), most)
    if is_all:
        drawn = passes.whole(graph, graph_pass, rows, givens=True)
        return replace(drawn, heading=heading)
    ends = passes.ends_of_updates(graph.log, rows)
    computed = passes.whole(graph, graph_pass, rows[ends == 0], givens=True)
    drawn = passes.beside_users(passes.without_unused_data(passes.join_sums(computed)))
    updates = () if graph_pass else passes.update_boxes(graph, rows, ends)
    return replace(drawn, nodes=(*drawn.nodes, *updates), heading=heading)


def check_count(graph: Graph, count: int, most: int | None) -> None:
    """Look how much there is before it is drawn.

    Raises:
        ExportError: It is too much.
    """
    if most is not None and count > most:
        raise ExportError(
            f"{count:,} nodes are too many for one file of this kind",
            f"at most {most:,} can be drawn: {proposed(graph, most)}; .json takes any number",
        )


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


def marked(view: GraphView, breakpoints: set[int], current: int | None) -> GraphView:
    """The view with its current node and its breakpoints marked."""
    if not breakpoints and current is None:
        return view
    nodes = tuple(
        replace(
            node,
            breakpoint=node.breakpoint or not breakpoints.isdisjoint(node.rows),
            current=node.current if current is None else current in node.rows,
        )
        for node in view.nodes
    )
    return replace(view, nodes=nodes)


def folded(view: GraphView, folds: Iterable[Any]) -> GraphView:
    """The view after the folds that were asked for, in their order.

    Raises:
        ExportError: There is no such fold.
    """
    for each in folds:
        if isinstance(each, int):
            view = passes.fold_scopes(view, each)
        elif each in passes.FOLDS:
            view = passes.FOLDS[each](view)
        else:
            known = ", ".join(sorted(passes.FOLDS))
            raise ExportError(f"there is no fold {each!r}", f"choose one of {known}, or the depth of module scopes")
    return view
