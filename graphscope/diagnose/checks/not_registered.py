"""Parameters that hang on a module in a list, a dict or a plain tensor, where `parameters()` does not see them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING

from graphscope.diagnose.check_table import check
from graphscope.diagnose.explanation import listed
from graphscope.diagnose.finding import Finding
from graphscope.diagnose.source.places import attribute_place
from graphscope.diagnose.training.made_anew import MadeAnew, made_anew
from graphscope.diagnose.training.unlearned import Unlearned, unlearned
from graphscope.graph.training import training

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Graph


@check(
    "parameters not registered",
    reads=("marks", "training", "rows"),
    shows="run",
    sample="""
        import torch

        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.first = torch.nn.Linear(3, 4)
                self.blocks = [torch.nn.Linear(4, 4) for _ in range(2)]

            def forward(self, x):
                x = self.first(x)
                for block in self.blocks:
                    x = torch.tanh(block(x))
                return x

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
                self.blocks = torch.nn.ModuleList([torch.nn.Linear(4, 4) for _ in range(2)])

            def forward(self, x):
                x = self.first(x)
                for block in self.blocks:
                    x = torch.tanh(block(x))
                return x

        net = Net()
        optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
        for _ in range(4):
            optimizer.zero_grad()
            loss = net(torch.ones(2, 3)).square().sum()
            loss.backward()
            optimizer.step()
        """,
)
def not_registered(graph: Graph) -> Iterator[Finding]:
    """Parameters get gradients and are in no optimizer, as the module that uses them does not know of them.

    Or they are made in each forward pass anew.
    """
    log = graph.log
    for each in made_anew(log):
        yield _of_each_pass(log, each)
    for group in _groups(log):
        row, held = group[0].row, group[0].unregistered
        if held is None:
            continue
        read = training(log)
        owner = f"{held.module}.{held.attribute}".lstrip(".")
        place = read.place(held.site)
        if not place[0]:
            place = next(_attribute_places(log, held.module, held.attribute), place)
        names = tuple(each.name for each in group)
        remedy = {
            "list": "an nn.ModuleList (of parameters, an nn.ParameterList)",
            "tuple": "an nn.ModuleList (of parameters, an nn.ParameterList)",
            "dict": "an nn.ModuleDict (of parameters, an nn.ParameterDict)",
        }.get(held.type, "an nn.Parameter, or register what it holds")
        if held.is_made:
            remedy = "an nn.Parameter as the last step: what is made of a parameter is none"
        verdict = (
            f"{listed(names, 3)} get gradients in {group[0].passes} backward passes and never change: {owner} is a "
            f"plain {held.type}, so that parameters() leaves them out and no optimizer holds them"
        )
        evidence = {"parameters": len(group), "backward passes": group[0].passes}
        cure = f"make {owner} {remedy}"
        yield Finding("not_registered", "error", row, None, *place, names, "not registered", verdict, cure, evidence)


def _of_each_pass(log: Log, found: MadeAnew) -> Finding:
    verdict = (
        f"{listed(found.names, 3) if found.names else 'parameters'} are made anew in each forward pass, {found.passes} "
        "times: they get gradients and are gone before anything is learned"
    )
    cure = "make the layer in __init__() and call it in forward()"
    evidence = {"passes": found.passes}
    return Finding(
        "not_registered", "error", found.row, None, *found.place, found.names, "made in forward()", verdict, cure,
        evidence, first_row=found.first,
    )  # fmt: skip


def _attribute_places(log: Log, module: str, attribute: str) -> Iterator[tuple[str, int]]:
    for each in training(log).modules.values():
        kind = each.modules.get(module, "")
        if kind in each.classes and any(held.attribute == attribute for held in each.unregistered):
            found = attribute_place(log, *each.classes[kind], attribute)
            if found is not None:
                yield found


def _groups(log: Log) -> Iterator[list[Unlearned]]:
    """Unlearned parameters by what they hang on, where other parameters of that module are learned."""
    read = training(log)
    learned = {
        id(held)
        for module in read.modules.values()
        if not read.optimized.isdisjoint(module.parameters.values())
        for held in module.unregistered
    }
    mine = [each for each in unlearned(log) if each.unregistered is not None and id(each.unregistered) in learned]
    for _, group in groupby(mine, lambda each: id(each.unregistered)):
        yield list(group)
