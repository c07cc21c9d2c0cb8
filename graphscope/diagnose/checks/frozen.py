"""Parameters that an optimizer is to learn, and that were told not to require grad."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphscope.diagnose.check_table import check
from graphscope.diagnose.explanation import listed
from graphscope.diagnose.finding import Finding
from graphscope.diagnose.training.flagged_modules import Flagged, flagged_modules
from graphscope.diagnose.training.frozen_afresh import Afresh, frozen_afresh
from graphscope.diagnose.training.frozen_aliases import FrozenAlias, frozen_aliases
from graphscope.diagnose.training.never_thawed import NeverThawed, never_thawed
from graphscope.diagnose.training.parameter_rows import parameter_rows
from graphscope.eventlog.schema import Flag, Kind
from graphscope.graph.training import Optimizer, Training, training

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Graph

_LEAST: Final = 3
"""So many steps must pass them over."""


Settings = dict[int, list[tuple[int, bool, int]]]
"""By tensor: the rows where `requires_grad` was set, to what, and the sites; -1 for what was set before its use."""


class Frozen(NamedTuple):
    """Parameters of an optimizer that were frozen at a line."""

    row: int
    """The third step that passes them over."""
    first: int
    """The first."""
    optimizer: Optimizer
    site: int
    names: tuple[str, ...]
    steps: int
    before: int
    """So many steps changed them before."""


@check(
    "parameters frozen by accident",
    reads=("marks", "training", "rows"),
    shows="run",
    sample="""
        import torch

        def images(net):
            for parameter in net.parameters():
                parameter.requires_grad_(False)

        net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))
        optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
        for step in range(8):
            optimizer.zero_grad()
            loss = net(torch.ones(2, 3)).square().sum()
            loss.backward()
            optimizer.step()
            if step == 2:
                images(net[0])
        """,
    healthy="""
        import torch

        net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))
        net[0].requires_grad_(False)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
        for step in range(8):
            optimizer.zero_grad()
            loss = net(torch.ones(2, 3)).square().sum()
            loss.backward()
            optimizer.step()
        """,
)
def frozen(graph: Graph) -> Iterator[Finding]:
    """Parameters of an optimizer don't require grad: after steps that changed them, or none of all it has does.

    What is frozen before an optimizer is made that has others as well is frozen on purpose, unless the program is to
    let it learn later, and looks for names that nothing has.
    """
    log, read = graph.log, training(graph.log)
    settings = _settings(read)
    for each in frozen_afresh(log, settings):
        yield _never_trained(read, each)
    for closed in never_thawed(log, settings):
        yield _never_thawed(closed)
    for flagged in flagged_modules(log, settings):
        yield _of_flagged(read, flagged)
    aliases = [*frozen_aliases(log, settings)]
    for alias in aliases:
        yield _of_alias(read, alias)
    for found in _frozen(log, settings):
        if found.site in {each.site for each in aliases}:
            continue
        place = read.place(found.site)
        since = f"after {found.before} steps that changed them" if found.before else "though it has no others"
        verdict = (
            f"{listed(found.names, 3) if found.names else 'parameters'} no longer require grad, and "
            f"{found.optimizer.type} passes over them in {found.steps} steps, {since}"
        )
        cure = "set requires_grad back to True where they are to be learned, or take this line out"
        evidence = {"parameters": len(found.names), "steps": found.steps, "steps before": found.before}
        yield Finding(
            "frozen", "error", found.row, None, *place, found.names, "frozen", verdict, cure, evidence,
            first_row=found.first,
        )  # fmt: skip


def _never_trained(read: Training, found: Afresh) -> Finding:
    names = tuple(filter(None, map(read.name, found.tensors)))
    verdict = (
        f"{listed(names, 3) if names else 'a new layer'} never learns: it is frozen here as it was made, together with "
        f"{found.others} parameters that had been trained, and gradients pass through it in {found.passes} backward "
        "passes"
    )
    cure = "leave the new layers out of what is frozen, or set their requires_grad back to True and give them to the "
    evidence = {"parameters": len(found.tensors), "trained before": found.others, "backward passes": found.passes}
    return Finding(
        "frozen", "error", found.row, None, *read.place(found.site), names, "frozen", verdict, cure + "optimizer",
        evidence, first_row=found.first,
    )  # fmt: skip


def _never_thawed(found: NeverThawed) -> Finding:
    file, line = found.condition.text.place
    wanted = listed(tuple(repr(text) for text in found.condition.texts), 3)
    verdict = (
        f"{listed(found.names, 3)} stay frozen: what is to let parameters require grad at "
        f"{found.condition.file.rpartition('/')[2]}:{found.condition.first} looks for {wanted}, and no name fits that"
    )
    cure = f"name what is to be learned as named_parameters() does: {found.names[0]}"
    evidence = {"frozen parameters": len(found.names), "texts": len(found.condition.texts)}
    return Finding(
        "frozen", "error", found.row, None, file, line, found.names, "stays frozen", verdict, cure, evidence,
        first_row=found.first,
    )  # fmt: skip


def _of_flagged(read: Training, found: Flagged) -> Finding:
    names = tuple(filter(None, map(read.name, found.tensors)))
    verdict = (
        f"{listed(names, 3) if names else 'parameters'} stay frozen: `requires_grad = True` of a module, a "
        f"{found.type}, sets an attribute that nothing reads, and {found.steps} steps follow"
    )
    cure = "call the method: module.requires_grad_(True)"
    evidence = {"frozen parameters": len(found.tensors), "steps": found.steps}
    place = read.place(found.site)
    return Finding(
        "frozen", "error", found.row, None, *place, names, "set on a module", verdict, cure, evidence,
        first_row=found.first,
    )  # fmt: skip


def _of_alias(read: Training, found: FrozenAlias) -> Finding:
    names = tuple(filter(None, map(read.name, found.tensors)))
    file, line = read.place(found.site)
    other, (at, where, name, of, _) = found.optimizer.type, found.alias
    verdict = (
        f"{name} is no copy of {of}, but {of} itself: what freezes it at {file.rpartition('/')[2]}:{line} freezes "
        f"{listed(names, 3) if names else 'the parameters'} of {other}, and the network that is to learn never does"
    )
    cure = f"make a copy: {name} = copy.deepcopy({of})"
    evidence = {"parameters": len(found.tensors)}
    return Finding("frozen", "error", found.row, None, at, where, names, "no copy", verdict, cure, evidence)


def _frozen(log: Log, settings: Settings) -> Iterator[Frozen]:
    if not settings:
        return
    read, rows = training(log), parameter_rows(log)
    for optimizer in read.optimizers.values():
        steps = read.rows("step", owner=optimizer.number)
        off = {each: last for each in optimizer.tensors if (last := _since(settings.get(each, [])))}
        groups: dict[int, list[int]] = {}
        for tensor, (row, site) in off.items():
            if (steps > row).sum() >= _LEAST and not (rows.grown.of([tensor]).rows > row).any():
                groups.setdefault(site, []).append(tensor)
        is_all = len(off) == len(optimizer.tensors)
        for site, tensors in groups.items():
            since = max(off[tensor][0] for tensor in tensors)
            grown = rows.grown.of(tensors).rows
            before = int((steps > grown[0]).sum() - (steps > since).sum()) if len(grown) else 0
            toggled = any(_is_toggled(settings[tensor]) for tensor in tensors)
            if is_all or (before >= _LEAST - 1 and not toggled):
                names = tuple(sorted(filter(None, map(read.name, tensors))))
                after = steps[steps > since]
                yield Frozen(int(after[_LEAST - 1]), int(after[0]), optimizer, site, names, len(after), before)


def _since(settings: list[tuple[int, bool, int]]) -> tuple[int, int] | None:
    """The row and the site from which on a parameter does not require grad; None where it does in the end."""
    found = None
    for row, value, site in settings:
        found = None if value else found or (row, site)
    return found


def _is_toggled(settings: list[tuple[int, bool, int]]) -> bool:
    """Whether a parameter that did not require grad did so again, for some time."""
    values = [value for _, value, _ in settings]
    return False in values and True in values[values.index(False) :]


def _settings(read: Training) -> Settings:
    log, found = read.log, Settings()
    for module in read.modules.values():
        for name, (value, site) in module.told.items():
            tensor = module.parameters.get(name)
            if tensor is not None:
                found.setdefault(tensor, []).append((-1, value, site))
    marks = log.marks(Kind.ASSIGN)
    numbers = log.pick("attrs", marks)
    known = {number: log.attrs(number) for number in np.unique(numbers).tolist()}  # shared by many rows
    toggling = [number for number, facts in known.items() if facts.get("set") == "requires_grad"]
    chosen = np.isin(numbers, toggling)
    for row, number in zip(marks[chosen].tolist(), numbers[chosen].tolist(), strict=True):
        facts = known[number]
        tensors = np.array(facts.get("tensors", ()), np.int64)
        for tensor, flags in zip(tensors.tolist(), log.pick("flags", tensors).tolist(), strict=True):
            if flags & Flag.PARAMETER:
                found.setdefault(tensor, []).append((row, bool(facts.get("to")), int(log.raw(row)["site"])))
    return found
