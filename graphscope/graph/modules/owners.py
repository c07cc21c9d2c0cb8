"""Which of several models a module is of: what the program calls the outermost module that it lies in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphscope.graph.names import Names
from graphscope.graph.training import training

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from graphscope.eventlog.reader import Log


def names_of_owners(log: Log, scopes: Iterable[int]) -> Mapping[int, str]:
    """What tells modules of several models apart, as `generator.`; nothing where they are all of one.

    Args:
        log: The log.
        scopes: Modules that lie in none that the log has a scope of.
    """
    owners: dict[int, int] = {}
    for number in scopes:
        scope = log.scope(number)
        if scope is None or number in owners:
            continue
        for model in training(log).modules.values():
            if model.modules.get(scope.name) == scope.type and model.sites.get(scope.name, 0) == scope.site:
                owners[number] = model.number
                break
    if len(set(owners.values())) < 2:
        return {}
    names = Names(log)
    known = {model.number: names.variable(model.sites.get("", 0)) for model in training(log).modules.values()}
    return {scope: f"{known[owner]}." for scope, owner in owners.items() if known[owner]}
