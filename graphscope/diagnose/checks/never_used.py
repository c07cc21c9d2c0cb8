"""Layers that a network holds and never uses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphscope.diagnose.check_table import check
from graphscope.diagnose.explanation import listed
from graphscope.diagnose.finding import Finding
from graphscope.diagnose.source.places import mentions
from graphscope.diagnose.training.parameter_rows import parameter_rows
from graphscope.eventlog.schema import Kind
from graphscope.graph.index import edges_of
from graphscope.graph.training import Module, training

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Graph

_LEAST: Final = 3
"""In so many backward passes the rest of the module must have got gradients."""


class Idle(NamedTuple):
    """A part of a module that nothing uses."""

    row: int
    module: Module
    part: str
    """Its name in the module."""
    names: tuple[str, ...]
    """Its parameters."""
    passes: int


def idle_parts(log: Log) -> list[int]:
    """Where the rest of a module with an unused part got gradients for the third time."""
    return sorted({each.row for each in _idle(log)})


@check(
    "layer never used",
    reads=("marks", "training", "rows"),
    rows=idle_parts,
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
def never_used(graph: Graph, row: int) -> Iterator[Finding]:
    """A part of a network is handed to an optimizer and never used, and the program does not even name it elsewhere."""
    read = training(graph.log)
    for found in _idle(graph.log):
        if found.row != row:
            continue
        place = read.place(found.module.sites.get(found.part, 0))
        kind = found.module.modules.get(found.part, "")
        verdict = (
            f"{found.part} ({kind}) is never used, in {found.passes} backward passes: the optimizer holds its "
            f"{listed(found.names, 3)}, and no line but this one names it"
        )
        cure = f"call {found.part} in forward(), or take it out"
        evidence = {"parameters": len(found.names), "backward passes": found.passes}
        yield Finding("never_used", "warning", row, None, *place, found.names, "never used", verdict, cure, evidence)


def _idle(log: Log) -> Iterator[Idle]:
    read = training(log)
    candidates = [
        (module, part, names)
        for module in read.modules.values()
        for part, names in _parts(module).items()
        if read.optimized.issuperset(_tensors(module, names))
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
        passes = np.unique(np.searchsorted(read.backward_begins, own.rows))
        if len(passes) < _LEAST or any(tensor in used for tensor in _tensors(module, names)):
            continue
        site = log.site(module.sites.get(part, 0))
        if site is None or site.caller:
            continue  # what a library makes and does not use is not the program's
        file = site.file
        if log.source(file) is not None and not mentions(log, part.rpartition(".")[2]):
            third = own.rows[np.searchsorted(read.backward_begins, own.rows) == passes[_LEAST - 1]][0]
            yield Idle(int(third), module, part, names, len(passes))


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


def _used(log: Log, tensors: set[int]) -> set[int]:
    """Those of some tensors that an op of the program takes in, but for the updates of optimizers."""
    wanted = np.array(sorted(tensors), np.uint64)
    found: set[int] = set()
    for first, rows in log.chunks():
        for offsets, named in edges_of(log, first, rows):
            mine = np.isin(named, wanted)
            users, sources = offsets[mine], named[mine]
            others = (rows["kind"][users] == Kind.OP) & (rows["tensor"][users] != sources)
            found |= set(sources[others].tolist())
    return found
