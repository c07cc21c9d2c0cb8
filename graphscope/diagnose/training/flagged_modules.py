"""Modules of which a program sets `requires_grad`, which changes nothing of their parameters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from graphscope.diagnose.training.never_thawed import Settings
from graphscope.graph.training import training

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log

_LEAST: Final = 3
"""So many steps must follow."""


class Flagged(NamedTuple):
    """A module that was told to require grad, and whose parameters are frozen to the end."""

    row: int
    """The third step after that."""
    first: int
    """The first."""
    site: int
    type: str
    tensors: tuple[int, ...]
    """The parameters that stay frozen."""
    steps: int


def flagged_modules(log: Log, settings: Settings) -> Iterator[Flagged]:
    """The first call of each line that does so, where parameters of the module are frozen to the end."""
    read, seen = training(log), set[int]()
    frozen = {tensor for tensor, told in settings.items() if told and not told[-1][1]}
    for module in read.modules.values():
        frozen |= {
            module.parameters[name] or 0 for name in module.frozen if not settings.get(module.parameters[name] or 0)
        }
    for call in read.calls("requires_grad"):
        after = read.step_ends[read.step_ends > call.row]
        tensors = tuple(each for each in call.facts.get("tensors", ()) if each in frozen)
        if call.facts.get("to") is True and tensors and len(after) >= _LEAST and call.site not in seen:
            seen.add(call.site)
            kind = str(call.facts.get("type", ""))
            yield Flagged(int(after[_LEAST - 1]), int(after[0]), call.site, kind, tensors, len(after))
