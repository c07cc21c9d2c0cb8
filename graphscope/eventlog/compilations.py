"""What the passes of a compiler made of a graph, one after the other, as a log keeps it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from graphscope.eventlog.generated import GeneratedGraph, graph_of


@dataclass(frozen=True, slots=True)
class Stage:
    """What a pass has made; the first stage is what was compiled, before all passes."""

    name: str
    doc: str
    """What the pass does, in a sentence."""
    graph: GeneratedGraph
    """The same object as of the stage before where the pass has changed nothing."""


@dataclass(frozen=True, slots=True)
class Compilation:
    """What was compiled, and each pass over it."""

    function: str
    framework: str
    stages: tuple[Stage, ...]


def entry(function: str, framework: str, stages: Iterable[tuple[str, str, dict[str, Any]]]) -> dict[str, Any]:
    """What the table `compilations` says.

    Args:
        function: What was compiled, by its name.
        framework: Whose compiler it is.
        stages: Name, sentence and graph of each, as the table `ops` has graphs.
    """
    told: list[dict[str, Any]] = []
    last: dict[str, Any] | None = None
    for name, doc, graph in stages:
        told.append({"name": name, "doc": doc, "graph": None if graph == last else graph})
        last = graph
    return {"function": function, "framework": framework, "stages": told}


def of_entry(told: Any) -> Compilation | None:
    """A compilation of an entry of the table; None where that is damaged."""
    stages: list[Stage] = []
    try:
        for each in told["stages"]:
            graph = stages[-1].graph if each["graph"] is None else graph_of(each["graph"])
            stages.append(Stage(str(each["name"]), str(each["doc"]), graph))
        return Compilation(str(told["function"]), str(told["framework"]), tuple(stages)) if stages else None
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        return None
