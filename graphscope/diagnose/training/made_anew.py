"""Parameters that are made anew in each forward pass, so that none of them ever learns."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphscope.diagnose.source.definitions import definition
from graphscope.diagnose.training.parameter_rows import parameter_rows
from graphscope.eventlog.schema import Flag, Kind
from graphscope.graph.callers import callers
from graphscope.graph.reading import once_a_length
from graphscope.graph.training import training

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log

_LEAST: Final = 3
"""In so many passes another one must have got a gradient."""


class MadeAnew(NamedTuple):
    """Parameters of one line, each of which got one gradient."""

    row: int
    """Where the third of them got it."""
    first: int
    """Where the first did."""
    place: tuple[str, int]
    """The line that makes them."""
    names: tuple[str, ...]
    passes: int


@once_a_length
def made_anew(log: Log) -> list[MadeAnew]:
    """Those of a log, by the line of a `forward` that makes them; none where the program moves gradients by itself."""
    return [*_made_anew(log)]


def _made_anew(log: Log) -> Iterator[MadeAnew]:
    read, rows = training(log), parameter_rows(log)
    tensors, first, counts = np.unique(rows.grown.tensors, return_index=True, return_counts=True)
    once = (counts == 1) & ~np.isin(tensors, np.fromiter(read.optimized, np.int64))
    once &= (tensors >= log.first) & (tensors < log.end)
    tensors, grown = tensors[once], rows.grown.rows[first[once]]
    is_parameter = (log.pick("flags", tensors) & int(Flag.PARAMETER)) != 0
    tensors, grown = tensors[is_parameter], grown[is_parameter]
    if len(tensors) < _LEAST or not len(read.step_ends) or _moves_gradients(log):
        return
    passes = np.searchsorted(read.backward_begins, grown)
    is_new = np.searchsorted(read.backward_begins, tensors) == passes - 1  # made since the pass before
    sites = log.pick("site", tensors)
    for site in np.unique(sites[is_new]).tolist():
        mine = is_new & (sites == site)
        numbers = np.unique(passes[mine])
        if len(numbers) < _LEAST or not _is_in_forward(log, int(tensors[mine][0])):
            continue
        names = dict.fromkeys(filter(None, map(read.name, tensors[mine & (passes == numbers[0])].tolist())))
        first, third = (grown[mine & (passes == numbers[place])][0] for place in (0, _LEAST - 1))
        yield MadeAnew(int(third), int(first), _place(log, int(site), tuple(names)), tuple(names), len(numbers))


def _place(log: Log, number: int, names: tuple[str, ...]) -> tuple[str, int]:
    """Where parameters are made, of which a log may tell the line that takes them first."""
    site = log.site(number)
    if site is None:
        return "", 0
    made = definition(log, site, names[0]) if len(names) == 1 else None
    is_made = made is not None and isinstance(made.expression, ast.Call)
    return made.place if made is not None and is_made else (site.file, site.line)


def _moves_gradients(log: Log) -> bool:
    """Whether the program gives some tensor the gradient of another."""
    marks = log.rare(among=lambda rows: (rows["kind"] == Kind.ASSIGN) & (rows["input_count"] > 0))
    entries = np.unique(log.pick("attrs", marks)).tolist()
    return any(log.attrs(number).get("set") == "grad" for number in entries)


def _is_in_forward(log: Log, row: int) -> bool:
    """Whether a row came about while some module of the program computed its result."""
    lines = [each for taker in log.graph.index.using(row, log.end)[:1] for each in callers(log, taker).lines]
    return any(each.function.rpartition(".")[2] in ("forward", "__call__") for each in lines)
