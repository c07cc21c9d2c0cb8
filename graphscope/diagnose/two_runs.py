"""Where two recordings of one program part: the first row that is another, although all before it is the same."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.diagnose.explanation import step_of, title, where
from graphscope.diagnose.finding import Finding
from graphscope.diagnose.source.chance import chance_behind
from graphscope.diagnose.values.origins import moves
from graphscope.eventlog.names import place_of
from graphscope.eventlog.schema import NODES, Flag
from graphscope.graph import Graph
from graphscope.graph.alike import PLACES, STRUCTURE, extent, first_unlike, unequal

if TYPE_CHECKING:
    from graphscope.diagnose.source.chance_calls import Chance
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Node

RANDOM: Final = frozenset(
    {"rand", "randn", "randint", "randperm", "normal", "bernoulli", "multinomial", "poisson", "rand_like", "randn_like",
     "randint_like", "uniform", "random", "exponential", "geometric", "log_normal", "cauchy", "dropout", "rrelu",
     "alpha_dropout", "feature_dropout", "dropout1d", "dropout2d", "dropout3d", "kaiming_uniform", "xavier_uniform"}
)  # fmt: skip
"""Functions that draw numbers."""


def parting(one: Log, other: Log) -> Finding | None:
    """The first row where two recordings of one program part; None where they don't.

    It is an op that was given the same and made something else, or data that came in: what comes after follows from it.
    """
    first, stop = extent(one, other)
    structure = first_unlike(one, other, (*STRUCTURE, *PLACES))
    row = first_unequal(one, other, first, structure)
    if row is not None:
        return _finding(Graph(one).node(row), other)
    if structure < stop:
        return _of_structure(Graph(one), other, structure)
    return None


def first_unequal(one: Log, other: Log, first: int, stop: int) -> int | None:
    """The first node of two runs that holds something else, of rows of one structure; None where none does.

    Memory that nobody had written, and what only hands it on, is left out.
    """
    blank: set[int] = set()
    for row in unequal(one, other, first, stop):
        if not _is_blank(one, row, blank):
            return row
        blank.add(row)
    return None


def _is_blank(log: Log, row: int, blank: set[int]) -> bool:
    node = log.graph.node(row)
    if node.kind == "leaf":
        return bool(node.op.startswith(("empty", "new_empty")))
    return bool(moves(node) and node.inputs[0].source.row in blank)


def _finding(node: Node, other: Log) -> Finding:
    place = step_of(node)
    drawn = node.op.rstrip("_") in RANDOM
    what = f"{node.op}{where(node)}" if node.kind == "op" else f"{title(node)}{where(node)}"
    if drawn:
        cause = "random"
        why = "draws other numbers"
        cure = "seed it: torch.manual_seed(...), and a seeded generator for a DataLoader that shuffles"
    elif node.kind == "leaf":
        cause = "data" if not node.flags & Flag.PARAMETER else "initialisation"
        why = "begins with other numbers"
        cure = "seed what fills it: torch.manual_seed(...), numpy.random.seed(...) and random.seed(...) at the begin"
    else:
        cause = "op"
        why = "was given the same, and makes something else"
        cure = (
            "torch.use_deterministic_algorithms(True) tells of ops that add in any order; look for other threads, too"
        )
    verdict = f"the two recordings are the same up to #{node.row}, where {what} {why}"
    evidence = _distance(node, other)
    found = Finding(
        "nondeterminism", "warning", node.row, node.row, place.file, place.line, (title(node),), cause, verdict, cure,
        evidence,
    )  # fmt: skip
    return _by_chance(found, chance_behind(node.graph.log, node.site, drawn=drawn))


def _by_chance(found: Finding, chance: Chance | None) -> Finding:
    """A finding at the place of the program that its numbers come from, where the source says so."""
    if chance is None:
        return found
    name = PurePath(chance.file).name
    verdict = f"{found.verdict}; what differs comes from the {chance.cause} at {name}:{chance.line}"
    return replace(found, file=chance.file, line=chance.line, cause=chance.cause, verdict=verdict, cure=chance.cure)


def _distance(node: Node, other: Log) -> dict[str, float]:
    one, two = node.value, other.value(node.row)
    if one is None or two is None or one.shape != two.shape or one.dtype.kind not in "fiub":
        return {}
    with np.errstate(all="ignore"):
        apart = np.abs(one.astype(np.float64) - two.astype(np.float64))
    return {"elements": one.size, "different": int(np.count_nonzero(one != two)), "largest difference": apart.max()}


def _of_structure(graph: Graph, other: Log, row: int) -> Finding:
    """Two runs that do something else, though all that was kept of what they computed is the same."""
    event = graph.index.event(row)
    site = graph.log.site(event.site)
    file, line = place_of(site)
    told = other.event(row)
    ops = [graph.log.op(event.op).name or event.kind.name.lower(), other.op(told.op).name or told.kind.name.lower()]
    there = other.site(told.site)
    places = [f" at {PurePath(each.file).name}:{each.line}" if each is not None else "" for each in (site, there)]
    parted = f"one runs {ops[0]}{places[0]}, the other {ops[1]}{places[1]}"
    verdict = f"the two recordings do the same up to #{row}: then {parted}"
    cure = "look at what decides there: the order of a set, files or threads, a time, or random numbers of Python's own"
    node = row if event.kind in NODES else None
    found = Finding("nondeterminism", "warning", row, node, file, line, (), "another way", verdict, cure, {})
    return _by_chance(found, chance_behind(graph.log, site))
