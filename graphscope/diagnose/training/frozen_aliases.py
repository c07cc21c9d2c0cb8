"""Networks that are frozen under a second name: what was meant to be a copy is what the optimizer trains."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphscope.diagnose.source.aliases import Alias, alias_frozen_at
from graphscope.eventlog.schema import Flag, Kind, Pass
from graphscope.graph.training import Optimizer, training

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log

Settings = Mapping[int, Sequence[tuple[int, bool, int]]]
"""By tensor: the rows where `requires_grad` was set, to what, and the sites."""


class FrozenAlias(NamedTuple):
    """Parameters of an optimizer that a line froze under another name."""

    row: int
    """The first op that takes one of them for the second time ahead of a backward pass."""
    alias: Alias
    site: int
    optimizer: Optimizer
    tensors: tuple[int, ...]


def frozen_aliases(log: Log, settings: Settings) -> Iterator[FrozenAlias]:
    """The parameters that stay frozen though an optimizer holds them, where the source gives their network two names.

    Args:
        log: The log.
        settings: What was set, as far as the log tells.
    """
    read = training(log)
    frozen = {tensor: told[-1][2] for tensor, told in settings.items() if told and not told[-1][1]}
    for number in sorted({site for site in frozen.values() if site}):
        mine = {tensor for tensor, site in frozen.items() if site == number}
        site = log.site(number)
        optimizer = next((each for each in read.optimizers.values() if mine <= each.tensors), None)
        twice = None if optimizer is None else _taken_twice(log, mine)
        alias = None if twice is None or site is None or site.caller else alias_frozen_at(log, site)
        if optimizer is None or twice is None or alias is None or not (alias.is_named_so or _is_mixed(log, *twice)):
            continue
        yield FrozenAlias(twice[1], alias, number, optimizer, tuple(sorted(mine)))


def _taken_twice(log: Log, tensors: set[int]) -> tuple[int, int] | None:
    """The first two ops that take the same parameter in one pass: its network runs twice in it."""
    graph, begins = log.graph, training(log).backward_begins
    for tensor in sorted(tensors):
        rows = [row for row in graph.index.using(tensor, log.end)[:_MOST] if _is_forward(log, row)]
        places = np.searchsorted(begins, rows)
        for one, other in zip(range(len(rows)), range(1, len(rows)), strict=False):
            if places[one] == places[other]:
                return rows[one], rows[other]
    return None


_MOST: Final = 64


def _is_mixed(log: Log, one: int, other: int) -> bool:
    """Whether one of two ops runs without gradients: that network is another one to the program."""
    return bool((log.event(one).flags ^ log.event(other).flags) & Flag.NO_GRAD)


def _is_forward(log: Log, row: int) -> bool:
    event = log.event(row)
    return event.kind == Kind.OP and event.graph_pass == Pass.FORWARD
