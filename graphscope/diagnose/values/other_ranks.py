"""A value that is not finite because a collective wrote it: what this rank brought was finite, another's was not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from graphscope.diagnose.explanation import where
from graphscope.diagnose.values.births import birth_behind, first_birth
from graphscope.diagnose.values.exchanges import (
    Exchange,
    exchange_of,
    given_to,
    of_collective,
    other_ranks,
    row_of,
)
from graphscope.diagnose.values.hazards import Birth
from graphscope.errors import LogError
from graphscope.eventlog.names import place_of, short_place
from graphscope.eventlog.nonfinite import rows_with_nonfinite
from graphscope.eventlog.siblings import bare, title
from graphscope.graph import Graph
from graphscope.graph.step_numbers import step_numbers

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Node


def of_other_ranks(node: Node) -> Birth:
    """Why what a collective wrote is not finite, though all that this rank gave to it is."""
    log = node.graph.log
    run = bare(log.path)
    through = f"through {'the all_reduce' if node.kind == 'accumulate' else node.op}{where(node)}"
    own = ", and what this rank gave is finite" if node.inputs else ""
    known = next(_born_elsewhere(log, node.row), None)
    if known is not None:
        rank, place = known
        why = f"it comes from {rank}, {through}{own}; there it begins{place}"
        cure = f"see `graphscope ranks {run}`, and what `graphscope doctor` says of the log of {rank}"
        return Birth(_ANOTHER, why, cure)
    cure = f"look at the logs of the others with `graphscope ranks {run}`"
    summary = node.summary
    if summary is None or summary.nan:
        return Birth(_ANOTHER, f"it comes from another rank, {through}{own}", cure)
    why = f"it comes from another rank, {through}{own}; or the sum of all ranks overflows"
    return Birth(f"{_ANOTHER}, or overflow of a sum", why, cure)


_ANOTHER: Final = "another rank"


def _born_elsewhere(log: Log, row: int) -> Iterator[tuple[str, str]]:
    """The other ranks in which a value became not finite by itself ahead of a collective, and where: ` at line, step`.

    Of those that lie beside a log, the first ones are looked at.
    """
    exchange = exchange_of(log, row)
    for path, other in other_ranks(log):
        try:
            born = _born_ahead(other, exchange)
        except LogError:
            continue
        if born is not None and not of_collective(born):
            step = step_numbers(other).title(born.row)
            at = short_place(*place_of(born.site))
            yield title(path), f" at {at}{f', {step}' if step else ''}" if at else ""


def _born_ahead(log: Log, exchange: Exchange) -> Node | None:
    """Where what a rank gave to a collective came to be not finite; else the first value that did harm ahead of it."""
    gave = given_to(log, exchange)
    if gave:
        return birth_behind(gave[0])
    stop = row_of(log, exchange)
    if next(rows_with_nonfinite(log, None, stop), None) is None:
        return None
    born = first_birth(Graph(log))
    return born if born is not None and born.row < stop else None
