"""An optimizer that holds parameters which the network no longer has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from graphscope.diagnose.check_table import check
from graphscope.diagnose.explanation import listed
from graphscope.diagnose.finding import Finding
from graphscope.diagnose.training.parameter_rows import parameter_rows
from graphscope.diagnose.training.unlearned import Unlearned, made_or_stepped_at, stepping_optimizers, unlearned
from graphscope.eventlog.schema import Kind
from graphscope.graph.reading import once_a_length
from graphscope.graph.training import Optimizer, training

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Graph


class Stale(NamedTuple):
    """An optimizer, what it holds that gets no gradient any more, and what gets gradients in its place."""

    optimizer: Optimizer
    held: list[int]
    taking: list[Unlearned]


@check(
    "optimizer of replaced parameters",
    reads=("marks", "training", "rows"),
    shows="run",
    sample="""
        import torch

        net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))
        optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
        net[2] = torch.nn.Linear(4, 2)
        for _ in range(4):
            optimizer.zero_grad()
            loss = net(torch.ones(2, 3)).square().sum()
            loss.backward()
            optimizer.step()
        """,
    healthy="""
        import torch

        net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))
        net[2] = torch.nn.Linear(4, 2)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
        for _ in range(4):
            optimizer.zero_grad()
            loss = net(torch.ones(2, 3)).square().sum()
            loss.backward()
            optimizer.step()
        """,
)
def stale_optimizer(graph: Graph) -> Iterator[Finding]:
    """An optimizer was made before its parameters were replaced: it steps those that nothing uses any more."""
    read = training(graph.log)
    for found in stale(graph.log):
        row = found.taking[0].row
        place = made_or_stepped_at(read, found.optimizer)
        names = tuple(each.name for each in found.taking if each.name)
        verdict = (
            f"{found.optimizer.type} holds {len(found.held)} parameters that get no gradient, as others have taken "
            f"their place: {listed(names, 3) if names else 'others'} get gradients and never change"
        )
        cure = "make the optimizer after the last change to the network's layers, or give it the new ones"
        evidence = {"parameters held": len(found.held), "parameters that never change": len(found.taking)}
        yield Finding("stale_optimizer", "error", row, None, *place, names, "made too early", verdict, cure, evidence)


@once_a_length
def stale(log: Log) -> list[Stale]:
    """The optimizers that hold replaced parameters."""
    return [*_stale(log)]


def _stale(log: Log) -> Iterator[Stale]:
    read = training(log)
    taking = [each for each in unlearned(log) if each.unregistered is None]
    if not taking:
        return
    grown = parameter_rows(log).grown
    for optimizer in stepping_optimizers(read):
        mine = grown.of(optimizer.tensors)
        for begin in sorted({_first_growth(log, each) for each in taking}):
            late = [each for each in taking if _first_growth(log, each) == begin]
            alive = set(mine.tensors[mine.rows > begin].tolist())
            held = [each for each in optimizer.tensors - alive if _could_grow(log, each)]
            named = {tensor for module in read.modules.values() for tensor in module.parameters.values()}
            gone = [each for each in held if each not in named or each in set(mine.tensors.tolist())]
            if _inputs(log, gone) & _inputs(log, [each.tensor for each in late]):
                yield Stale(optimizer, sorted(gone), late)
                return


def _inputs(log: Log, tensors: list[int]) -> set[tuple[int, ...]]:
    """The shapes of parameters without the number of their outputs, in which a new head differs; biases have none."""
    shapes = [log.event(each).shape for each in tensors]
    return {shape[1:] if len(shape) > 1 else shape for shape in shapes}


def _first_growth(log: Log, found: Unlearned) -> int:
    """The backward pass in which a parameter got its first gradient, as its first row."""
    read, grown = training(log), parameter_rows(log).grown
    first = int(grown.rows[grown.tensors == found.tensor][0])
    begins = read.backward_begins
    return int(begins[max(int(begins.searchsorted(first)) - 1, 0)])


def _could_grow(log: Log, tensor: int) -> bool:
    return bool(log.pick("kind", np.array([tensor]))[0] == Kind.LEAF)
