"""Parameters that stay frozen, as what is to let them learn again looks for names that none of them has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from graphscope.diagnose.source.unmatched import Unmatched, unmatched
from graphscope.graph.training import training

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log

Settings = Mapping[int, Sequence[tuple[int, bool, int]]]
"""By tensor: the rows where `requires_grad` was set, to what, and the sites."""


class NeverThawed(NamedTuple):
    """A condition that no parameter's name meets, and the parameters that are frozen to the end."""

    row: int
    """The last step."""
    first: int
    """The first one, as nothing tells when the condition was asked."""
    condition: Unmatched
    names: tuple[str, ...]


def never_thawed(log: Log, settings: Settings) -> Iterator[NeverThawed]:
    """Where the program lets parameters of some names require grad, and none of its modules has any of these names."""
    read = training(log)
    frozen = {tensor for tensor, told in settings.items() if told and not told[-1][1]}
    names = [
        name
        for module in read.modules.values()
        for name, tensor in module.parameters.items()
        if tensor in frozen or name in module.frozen
    ]
    if not names or not len(read.step_ends):
        return
    known: dict[str, list[str]] = {}
    for module in read.modules.values():
        known.setdefault(module.type, []).extend([*module.parameters, *filter(None, module.modules)])
    places = {read.place(site) for told in settings.values() for _, value, site in told if value}
    for each in unmatched(log, "requires_grad", known):
        if not any(file == each.file and each.first <= line <= each.last for file, line in places):
            yield NeverThawed(int(read.step_ends[-1]), int(read.step_ends[0]), each, tuple(sorted(names)))
