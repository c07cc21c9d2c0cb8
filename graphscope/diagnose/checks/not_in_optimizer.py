"""Parameters that get gradients and are in no optimizer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphscope.diagnose.check_table import check
from graphscope.diagnose.checks.stale_optimizer import stale
from graphscope.diagnose.explanation import shortened
from graphscope.diagnose.finding import Finding
from graphscope.diagnose.training.parameter_rows import parameter_rows
from graphscope.diagnose.training.unlearned import (
    Unlearned,
    elements,
    made_or_stepped_at,
    stepping_optimizers,
    unlearned,
)
from graphscope.eventlog.names import short_place
from graphscope.eventlog.schema import Kind
from graphscope.graph.training import Module, Optimizer, Training, training

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Graph

_MOST: Final = 4
"""Who trains a part that is so many times smaller than the rest leaves out the rest on purpose."""


class Forgotten(NamedTuple):
    """An optimizer, and what it was not given."""

    optimizer: Optimizer
    parameters: list[Unlearned]


@check(
    "parameters in no optimizer",
    reads=("marks", "training", "rows"),
    shows="run",
    sample="""
        import torch

        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.encoder = torch.nn.Linear(3, 4)
                self.head = torch.nn.Linear(4, 2)

            def forward(self, x):
                return self.head(torch.tanh(self.encoder(x)))

        net = Net()
        optimizer = torch.optim.SGD(net.encoder.parameters(), lr=0.01)
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
                self.encoder = torch.nn.Linear(3, 4)
                self.head = torch.nn.Linear(4, 2)

            def forward(self, x):
                return self.head(torch.tanh(self.encoder(x)))

        net = Net()
        optimizer = torch.optim.SGD(net.head.parameters(), lr=0.01)  # the encoder stays as it is
        for _ in range(4):
            optimizer.zero_grad()
            loss = net(torch.ones(2, 3)).square().sum()
            loss.backward()
            optimizer.step()
        """,
)
def not_in_optimizer(graph: Graph) -> Iterator[Finding]:
    """Parameters get gradients behind others that are learned, and no optimizer holds them.

    A part ahead of all that is learned stays as it is on purpose: who trains a head on features does that.
    """
    read = training(graph.log)
    for found in _forgotten(graph.log):
        row = found.parameters[0].row
        place = made_or_stepped_at(read, found.optimizer)
        names = tuple(each.name for each in found.parameters if each.name)
        passes = found.parameters[0].passes
        gets, it, they_are = ("get", "them", "they are") if len(names) != 1 else ("gets", "it", "it is")
        verdict = (
            f"{shortened(names) if names else 'parameters'} {gets} gradients in {passes} backward passes and never "
            f"{'change' if gets == 'get' else 'changes'}: no optimizer holds {it}, and this {found.optimizer.type} "
            "holds others of the same loss"
        )
        at = f" at {short_place(*place)}" if place[0] else ""
        cure = f"add {_expression(found.parameters, names)} to the optimizer{at}"
        if _has_empty_group(found.optimizer, found.parameters):
            verdict += " and has a group without any"
            cure = "give each group a list of parameters: a generator that was gone through before has none left"
        else:
            cure += f"; if {they_are} to stay as now, requires_grad_(False) says so"
        evidence = {"parameters": len(found.parameters)} if len(found.parameters) > len(names) else {}
        first = min(each.first for each in found.parameters)
        yield Finding(
            "not_in_optimizer", "error", row, None, *place, names, "not in the optimizer", verdict, cure, evidence,
            first_row=first,
        )  # fmt: skip


def _expression(forgotten: list[Unlearned], names: tuple[str, ...]) -> str:
    """What is to be added, as the program may write it: `encoder.parameters()`, where all of a module is left out."""
    if not names:
        return "all parameters that are to be learned"
    module = forgotten[0].module
    owners = {name.rpartition(".")[0] for name in names}
    common = owners.pop() if len(owners) == 1 else ""
    learned = {tensor for tensor in module.parameters.values() if tensor is not None} if module is not None else set()
    is_whole = learned == {each.tensor for each in forgotten}
    return f"{common}.parameters()" if common and (is_whole or len(names) > 1) else shortened(names)


def _forgotten(log: Log) -> Iterator[Forgotten]:
    read = training(log)
    stale_ones = {each.tensor for found in stale(log) for each in found.taking}
    groups: dict[int, list[Unlearned]] = {}
    for each in unlearned(log):
        if each.tensor not in stale_ones and each.unregistered is None:
            groups.setdefault(each.module.number if each.module else 0, []).append(each)
    for group in groups.values():
        optimizer = _beside(log, read, group)
        if optimizer is not None:
            yield Forgotten(optimizer, group)


def _beside(log: Log, read: Training, group: list[Unlearned]) -> Optimizer | None:
    """The optimizer that a group was forgotten in: it holds parameters whose gradients come later in the same pass."""
    grown = parameter_rows(log).grown
    last = max(each.last for each in group)
    place = int(np.searchsorted(read.backward_begins, last)) - 1
    begin = int(read.backward_begins[max(place, 0)])
    following = read.backward_begins[place + 1] if place + 1 < len(read.backward_begins) else log.end
    inside = (grown.rows > begin) & (grown.rows < following)
    size = sum(elements(log, each.tensor) for each in group)
    module = group[0].module
    of_modules = {tensor for each in read.modules.values() for tensor in each.parameters.values()}
    for optimizer in stepping_optimizers(read):
        mine = inside & np.isin(grown.tensors, np.fromiter(optimizer.tensors, np.int64))
        if not mine.any() or (module is not None and optimizer.tensors.isdisjoint(of_modules)):
            continue  # who learns an input leaves the network as it is
        learned = sum(elements(log, tensor) for tensor in np.unique(grown.tensors[mine]).tolist())
        is_behind = grown.rows[mine].max() > min(
            _row_in(grown.rows[inside], grown.tensors[inside], each) for each in group
        )
        is_expected = size <= _MOST * learned and (is_behind or _spans(module, optimizer))
        twins = [each for each in read.optimizers.values() if each.tensors == optimizer.tensors]
        is_expected |= _has_empty_group(optimizer, group) or _take_turns(read, twins) or _are_thawed(log, group)
        if is_expected and not _is_given(read, module, optimizer):
            return _other(read, twins, group)
    return None


def _are_thawed(log: Log, group: list[Unlearned]) -> bool:
    """Whether the program let parameters require grad when it had made steps without them."""
    tensors, steps = {each.tensor for each in group}, training(log).rows("step")
    marks = log.marks(Kind.ASSIGN)
    for row, number in zip(marks.tolist(), log.pick("attrs", marks).tolist(), strict=True):
        facts = log.attrs(number)
        is_on = facts.get("set") == "requires_grad" and bool(facts.get("to"))
        if is_on and not tensors.isdisjoint(facts.get("tensors", ())) and (steps < row).any():
            return all(each.row > row for each in group)
    return False


def _take_turns(read: Training, twins: list[Optimizer]) -> bool:
    """Whether several optimizers of the same parameters step by turns."""
    steps = [read.rows("step", owner=each.number) for each in twins]
    return len(twins) > 1 and all(len(each) and each[0] < min(other[-1] for other in steps) for each in steps)


def _other(read: Training, twins: list[Optimizer], group: list[Unlearned]) -> Optimizer:
    """Of optimizers that hold the same, the one that was meant to hold something else.

    That is the one which steps after the passes that bring the group its gradients, else the last.
    """
    last = max(each.last for each in group)
    steps = [read.rows("step", owner=each.number) for each in twins]
    following = [(int(rows[rows > last][0]), place) for place, rows in enumerate(steps) if (rows > last).any()]
    return twins[min(following)[1]] if following else twins[-1]


def _row_in(rows: np.ndarray, tensors: np.ndarray, found: Unlearned) -> int:
    mine = rows[tensors == found.tensor]
    return int(mine[0]) if len(mine) else int(np.iinfo(np.int64).max)


def _spans(module: Module | None, optimizer: Optimizer) -> bool:
    """Whether an optimizer holds several parts of a module: somebody has listed them."""
    named = module.parameters.items() if module is not None else ()
    return len({name.partition(".")[0] for name, tensor in named if tensor in optimizer.tensors}) > 1


def _has_empty_group(optimizer: Optimizer, forgotten: list[Unlearned]) -> bool:
    """Whether a group was made without parameters, and not as none of them goes without weight decay.

    Where a layer learns its bias and not its weight, somebody has sorted the parameters by name, and lost a part.
    """
    empty = [group for group in optimizer.groups if not group.count]
    decays = {group.settings.get("weight_decay") for group in optimizer.groups if group.count}
    layers = {(each.module.number, each.name.rpartition(".")[0]) for each in forgotten if each.module is not None}
    modules = {each.module.number: each.module for each in forgotten if each.module is not None}
    halves = any(
        tensor in optimizer.tensors and (module.number, name.rpartition(".")[0]) in layers
        for module in modules.values()
        for name, tensor in module.parameters.items()
    )
    return bool(empty) and (halves or any(group.settings.get("weight_decay", _NEVER) in decays for group in empty))


_NEVER: Final = object()


def _is_given(read: Training, module: Module | None, optimizer: Optimizer) -> bool:
    """Whether a module of its own is used as it is: it is evaluated, or was loaded."""
    if module is None or not optimizer.tensors.isdisjoint(module.parameters.values()):
        return False
    calls = read.rows("eval", "load_state_dict", owner=module.number)
    return bool(len(calls)) or not module.is_training or bool(module.frozen)
