"""Layers that a network holds and never uses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphscope.diagnose.check_table import check
from graphscope.diagnose.explanation import listed
from graphscope.diagnose.finding import Finding, Severity
from graphscope.diagnose.source.dropped import dropping_line
from graphscope.diagnose.source.places import mentions
from graphscope.diagnose.training.parameter_rows import parameter_rows
from graphscope.eventlog.each_once import each_once
from graphscope.eventlog.schema import Flag, Kind, Pass
from graphscope.graph import walk
from graphscope.graph.callers import callers
from graphscope.graph.training import Module, training
from graphscope.graph.words import edges

if TYPE_CHECKING:
    from graphscope.eventlog.names import Site
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Graph

_LEAST: Final = 3
"""In so many backward passes the rest of the module must have got gradients."""

_REPLICA: Final = "DistributedDataParallel"
"""Such a module waits for the gradients of all its parameters: after one pass without, the next raises."""
_LOOKING: Final = ("find_unused_parameters", "static_graph")
"""By these it is told to look for what a loss leaves out."""


class Idle(NamedTuple):
    """A part of a module that nothing uses."""

    row: int
    module: Module
    part: str
    """Its name in the module."""
    names: tuple[str, ...]
    """Its parameters."""
    passes: int
    dropped: Site | None = None
    """The line that drops what it makes, where it is used and its result is not."""
    is_awaited: bool = False
    """Whether replicas wait for its gradient."""


@check(
    "layer never used",
    reads=("marks", "training", "rows"),
    shows="run",
    sample="""
        import torch

        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.first = torch.nn.Linear(3, 4)
                self.second = torch.nn.Linear(4, 4)
                self.head = torch.nn.Linear(4, 2)

            def forward(self, x):
                return self.head(torch.tanh(self.first(x)))

        net = Net()
        optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
        for _ in range(4):
            optimizer.zero_grad()
            loss = net(torch.ones(2, 3)).square().sum()
            loss.backward()
            optimizer.step()
        """,
    healthy="""
        import torch

        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.first = torch.nn.Linear(3, 4)
                self.second = torch.nn.Linear(4, 4)
                self.head = torch.nn.Linear(4, 2)

            def forward(self, x, deep=False):
                x = torch.tanh(self.first(x))
                return self.head(torch.tanh(self.second(x)) if deep else x)

        net = Net()
        optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
        for _ in range(4):
            optimizer.zero_grad()
            loss = net(torch.ones(2, 3)).square().sum()
            loss.backward()
            optimizer.step()
        """,
)
def never_used(graph: Graph) -> Iterator[Finding]:
    """A part of a network is handed to an optimizer and never used, or what it makes is dropped.

    The program does not even name it elsewhere, or the name that its result is given is never read.
    """
    read = training(graph.log)
    for found in _unused(graph.log):
        row = found.row
        place = read.place(found.module.sites.get(found.part, 0))
        kind = found.module.modules.get(found.part, "")
        evidence = {"parameters": len(found.names), "backward passes": found.passes}
        if found.dropped is not None:
            place = found.dropped.file, found.dropped.line
            verdict = (
                f"what {found.part} ({kind}) makes is dropped here, in {found.passes} backward passes: it never learns"
            )
            cure = f"use what {found.part} returns, or take it out"
            yield Finding("never_used", "warning", row, None, *place, found.names, "dropped", verdict, cure, evidence)
            continue
        holder = f"{_REPLICA} waits for the gradients of" if found.is_awaited else "the optimizer holds"
        passes = "1 backward pass" if found.passes == 1 else f"{found.passes} backward passes"
        verdict = (
            f"{found.part} ({kind}) is never used, in {passes}: {holder} its {listed(found.names, 3)}, and no line "
            "but this one names it"
        )
        cure = f"call {found.part} in forward(), or take it out"
        severity: Severity = "error" if found.is_awaited else "warning"  # the next forward pass raises
        yield Finding("never_used", severity, row, None, *place, found.names, "never used", verdict, cure, evidence)


def _unused(log: Log) -> Iterator[Idle]:
    read = training(log)
    candidates = [
        (module, part, names)
        for module in read.modules.values()
        for part, names in _parts(module).items()
        if _waits(log, module) or read.optimized.issuperset(_tensors(module, names))
    ]
    if not candidates:
        return
    grown = parameter_rows(log).grown
    rows = parameter_rows(log).times(grown)
    candidates = [each for each in candidates if not any(rows.get(tensor) for tensor in _tensors(each[0], each[2]))]
    if not candidates:
        return
    used = _used(log, {tensor for module, _, names in candidates for tensor in _tensors(module, names)})
    for module, part, names in candidates:
        own = grown.of([each for each in module.parameters.values() if each is not None])
        passes = each_once(np.searchsorted(read.backward_begins, own.rows))
        site = log.site(module.sites.get(part, 0))
        taken = _tensors(module, names) & used.keys()
        is_awaited = len(passes) == 1 and not taken and _waits(log, module)
        is_held = len(passes) >= _LEAST and read.optimized.issuperset(_tensors(module, names))
        if not (is_awaited or is_held) or site is None or site.caller:
            continue  # what a library makes and does not use is not the program's
        if taken:
            inside = [row for tensor in taken for scope, row in used[tensor].items() if _is_within(log, scope, part)]
            line = _dropped(log, max(inside)) if inside else None  # what others make of its parameters is not its own
            if line is not None:
                yield Idle(int(own.rows[-1]), module, part, names, len(passes), line)
            continue
        file = site.file
        if log.source(file) is not None and not mentions(log, part.rpartition(".")[2]):
            enough = own.rows[np.searchsorted(read.backward_begins, own.rows) == passes[:_LEAST][-1]][0]
            yield Idle(int(enough), module, part, names, len(passes), is_awaited=is_awaited)


def _waits(log: Log, module: Module) -> bool:
    """Whether a module waits for the gradients of all its parameters, as the program does not say otherwise."""
    if module.type != _REPLICA:
        return False
    sources = [str(each.get("text", "")) for each in log.table("sources") if isinstance(each, dict)]
    return bool(sources) and not any(word in text for text in sources for word in _LOOKING)


def _parts(module: Module) -> dict[str, tuple[str, ...]]:
    """The parameters of the parts of a module that are held by name, outside of lists and dicts of alternatives."""
    found: dict[str, list[str]] = {}
    for name in module.parameters:
        part = name.rpartition(".")[0]
        if part and name not in module.frozen:
            found.setdefault(part, []).append(name)
    return {
        part: tuple(names)
        for part, names in found.items()
        if not part.rpartition(".")[2].isdecimal()
        and module.modules.get(part.rpartition(".")[0], "") not in _CONTAINERS
        and len(names) == sum(each.rpartition(".")[0] == part for each in module.parameters)
    }


_CONTAINERS: Final = frozenset({"ModuleDict", "ModuleList", "Sequential", "ParameterDict", "ParameterList"})


def _tensors(module: Module, names: tuple[str, ...]) -> set[int]:
    return {tensor for name in names if (tensor := module.parameters.get(name)) is not None}


def _used(log: Log, tensors: set[int]) -> dict[int, dict[int, int]]:
    """Those of some tensors that an op of the program takes in, but for the updates of optimizers.

    Of each the last such op in each scope.
    """
    wanted = np.array(sorted(tensors), np.int64)
    found: dict[int, dict[int, int]] = {}
    for users, named in edges(log, lambda rows: rows["kind"] == Kind.OP):
        mine = np.isin(named, wanted)
        users, sources = users[mine], named[mine]
        others = log.pick("tensor", users) != sources
        users, sources = users[others], sources[others]
        scopes = log.pick("scope", users)
        for source, scope, user in zip(sources.tolist(), scopes.tolist(), users.tolist(), strict=True):
            found.setdefault(source, {})[scope] = user
    return found


def _is_within(log: Log, scope: int, part: str) -> bool:
    """Whether a scope is that of a part of a module, or lies in it."""
    return f".{part}." in f".{log.scope_path(scope)}."


def _dropped(log: Log, row: int) -> Site | None:
    """The line that drops what became of an op; None where something else was made of it in the end."""
    graph, ends = log.graph, list[int]()
    for each in [row, *walk.reach(row, lambda at: graph.index.using(at, log.end), _FAR)]:
        event = log.event(each)
        if event.kind != Kind.OP or event.graph_pass != Pass.FORWARD or not event.flags & Flag.REQUIRES_GRAD:
            return None
        if not graph.index.using(each, log.end):
            ends.append(each)
    lines = {dropping_line(log, callers(log, end).inside) for end in ends}
    return lines.pop() if len(lines) == 1 else None


_FAR: Final = 24
"""So many ops away the end of what is dropped lies at most."""
