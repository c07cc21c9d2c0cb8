"""A value that is not finite because a collective wrote it: what this rank brought was finite, another's was not."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.diagnose.explanation import where
from graphscope.diagnose.values.births import first_birth
from graphscope.diagnose.values.hazards import Birth
from graphscope.errors import LogError
from graphscope.eventlog.names import place_of, short_place
from graphscope.eventlog.nonfinite import rows_with_nonfinite
from graphscope.eventlog.numbering import is_numbered
from graphscope.eventlog.reader import Log, load
from graphscope.eventlog.schema import Kind
from graphscope.eventlog.siblings import bare, siblings, title
from graphscope.graph import Graph
from graphscope.graph.numbered_rows import numbered_rows
from graphscope.graph.step_numbers import step_numbers

if TYPE_CHECKING:
    from graphscope.graph import Node

_MOST: Final = 16
"""So many logs of other ranks are looked at: `graphscope ranks` reads those of thousands at once."""


def of_collective(node: Node) -> bool:
    """Whether a collective wrote a value."""
    return is_numbered(node.graph.log.entry(node.event.attrs))


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
    met = numbered_rows(log)
    place = int(np.searchsorted(met.rows, row))
    group, number = met.groups[met.which[place]], int(met.numbers[place])
    ranks = (path for path in siblings(log.path) if title(path).startswith("rank "))
    for path in islice(ranks, _MOST):
        try:
            other = load(path)
            stop = _row_of(other, group, number)
            if next(rows_with_nonfinite(other, None, stop), None) is None:
                continue
            graph = Graph(other)
            born = first_birth(graph)
        except LogError:
            continue
        if born is not None and born.row < stop and not of_collective(born):
            step = step_numbers(other).title(born.row)
            at = short_place(*place_of(born.site))
            yield title(path), f" at {at}{f', {step}' if step else ''}" if at else ""


def _row_of(log: Log, group: tuple[str, tuple[int, ...]], number: int) -> int:
    """The row that a collective wrote in a log; its end where the log does not hold that."""
    met = numbered_rows(log)
    if group not in met.groups:
        return log.end
    is_it = (met.which == met.groups.index(group)) & (met.numbers == number)
    rows = met.rows[is_it]
    written = rows[log.pick("kind", rows) != Kind.WAIT]
    return int(written[0]) if len(written) else log.end
