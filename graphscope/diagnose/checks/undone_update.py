"""Updates that the program undoes: behind each step it writes back what a parameter was ahead of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphscope.diagnose.check_table import check
from graphscope.diagnose.explanation import Explanation, listed, step_of, where
from graphscope.diagnose.finding import Finding, finding
from graphscope.diagnose.training.optimized import LEAST
from graphscope.diagnose.training.optimizer_order import Order, orders
from graphscope.diagnose.training.parameter_rows import parameter_rows
from graphscope.eventlog.names import place_of
from graphscope.eventlog.schema import Flag
from graphscope.graph.sizes import norms_of
from graphscope.graph.words import sources

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Graph, Node
    from graphscope.graph.training import Training

_NEARLY_ALL: Final = 0.95
"""Of the updates of a parameter; who tries a step and takes it back where it was none undoes some."""
_PUTTING: Final = ("copy_", "set", "copy_slices", "setitem_")
"""Ops that put other numbers in the place of those that are there."""
_TOLD: Final = 4


class _Undone(NamedTuple):
    """The updates of one parameter, which all are undone."""

    tensor: int
    update: Node
    """The first."""
    writes: tuple[Node, ...]
    """What undoes the first ones."""
    norms: tuple[float, float, float]
    """Of the parameter ahead of the first update, behind it, and behind the write."""
    undone: int
    updates: int


@check(
    "update undone by a write",
    reads=("marks", "training", "rows", "values"),
    shows="run",
    sample="""
        import torch

        weight = torch.nn.Parameter(torch.ones(3))
        optimizer = torch.optim.SGD([weight], lr=0.01)
        kept = weight.detach().clone()
        for _ in range(8):
            optimizer.zero_grad()
            loss = (weight * 2 - 1).square().sum()
            loss.backward()
            optimizer.step()
            with torch.no_grad():
                weight.copy_(kept)
        """,
    healthy="""
        import torch

        weight = torch.nn.Parameter(torch.ones(3))
        optimizer = torch.optim.SGD([weight], lr=0.01)
        kept = weight.detach().clone()
        for _ in range(8):
            optimizer.zero_grad()
            loss = (weight * 2 - 1).square().sum()
            loss.backward()
            optimizer.step()
            with torch.no_grad():
                kept.copy_(weight)
        """,
)
def undone_update(graph: Graph) -> Iterator[Finding]:
    """What each step adds to a parameter is undone: the program writes back what it was ahead of the step."""
    for order in orders(graph.log, LEAST):
        if not order.is_alone:
            continue  # who tries a step with one optimizer takes it back, and makes another one
        lines: dict[tuple[str, int], list[_Undone]] = {}
        for found in _undone(order):
            lines.setdefault(place_of(found.writes[0].site), []).append(found)
        for of_line in lines.values():
            yield _finding(order, of_line)


def _finding(order: Order, found: list[_Undone]) -> Finding:
    first = found[0]
    names = tuple(_name(order.read, each.tensor) for each in found)
    write = first.writes[0]
    verdict = (
        f"what {order.optimizer.type}{where(first.update)} adds to {listed(names, _TOLD)} is undone "
        f"in {first.undone} of {first.updates} steps: {write.op}{where(write)} writes back what was there before"
    )
    cure = (
        "write what is made of the weights as they are now, as weight.mul_(mask) does, not of a copy kept from before; "
        "weights that are to stay as they are need no optimizer: requires_grad_(False)"
    )
    before, behind, written = first.norms
    evidence = {
        "norm before the step": before,
        "norm behind the step": behind,
        "norm behind the write": written,
        "undone": first.undone,
        "updates": first.updates,
    }
    explained = Explanation("fine", "written back", verdict, (step_of(write, "writes back what was there"),), cure)
    return finding("undone_update", "warning", first.writes[-1].row, explained, names, evidence, write.row)


def _name(known: Training, tensor: int) -> str:
    """What the modules call a parameter: who writes all of them in a loop calls each the same."""
    return known.names_in_modules.get(tensor) or known.name(tensor) or f"#{tensor}"


def _undone(order: Order) -> Iterator[_Undone]:
    log = order.read.log
    made = _made(order)
    follows = made["tensor"][:-1] == made["tensor"][1:]
    is_written = follows & (made["row"][:-1] < made["before"][1:])
    update, following = made[:-1][is_written], made[1:][is_written]
    norms = np.stack([norms_of(log, rows) for rows in (update["before"], update["row"], following["before"])], axis=1)
    is_back = (norms[:, 0] == norms[:, 2]) & (norms[:, 0] != norms[:, 1])
    for tensor in np.unique(update["tensor"][is_back]).tolist():
        places = np.flatnonzero(is_back & (update["tensor"] == tensor))
        updates = int((follows & (made["tensor"][:-1] == tensor)).sum())
        if len(places) < max(LEAST, _NEARLY_ALL * (updates - 1)):  # the first may find what was there before any write
            continue
        firsts = places[:LEAST]
        if all(_is_undone(log, update[place], following[place]) for place in firsts):
            writes = tuple(map(log.graph.node, following["before"][firsts].tolist()))
            before, behind, written = norms[firsts[0]].tolist()
            made_first = log.graph.node(int(update["row"][firsts[0]]))
            yield _Undone(tensor, made_first, writes, (before, behind, written), len(places), updates)


_MADE: Final = np.dtype([("tensor", "<i8"), ("before", "<i8"), ("row", "<i8")])


def _made(order: Order) -> np.ndarray:
    """What each step made of each parameter: the row that held it before, and that which holds it behind the step."""
    log, written = order.read.log, parameter_rows(order.read.log).written.of(order.optimizer.tensors)
    at = np.searchsorted(order.steps, written.rows)
    begins = np.append(order.read.begins(order.steps), log.end)
    is_inside = written.rows >= begins[at]
    rows, tensors, at = (each[is_inside].astype(np.int64) for each in (written.rows, written.tensors, at))
    by_tensor = np.lexsort((rows, tensors))
    rows, tensors, at = rows[by_tensor], tensors[by_tensor], at[by_tensor]
    parted = (np.diff(tensors) != 0) | (np.diff(at) != 0)
    firsts, lasts = np.append(True, parted)[: len(rows)], np.append(parted, True)[: len(rows)]
    made = np.zeros(int(lasts.sum()), _MADE)
    made["tensor"], made["before"], made["row"] = tensors[lasts], sources(log, rows[firsts]), rows[lasts]
    return made[made["before"] >= log.first]


def _is_undone(log: Log, update: np.void, following: np.void) -> bool:
    """Whether the following update finds what an update found, as a write put it there that took nothing of what is."""
    before, made, write = (log.graph.node(int(row)) for row in (update["before"], update["row"], following["before"]))
    is_put = write.kind == "op" and write.op in _PUTTING and before.summary == write.summary
    return is_put and _is_unused(made, write)


def _is_unused(node: Node, write: Node) -> bool:
    """Whether nothing but a write takes a value: who tries new weights and puts back the old ones does use them."""
    targets = (edge.target for edge in node.users)
    return all(
        each.row == write.row or (each.row < write.row and bool(each.flags & Flag.VIEW) and _is_unused(each, write))
        for each in targets
    )
