"""Weights that began as one and became two: a copy was made where the tensor itself was meant."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphscope.diagnose.check_table import check
from graphscope.diagnose.explanation import title, where
from graphscope.diagnose.finding import Finding, Row
from graphscope.diagnose.gradients.ancestry import ancestry
from graphscope.diagnose.values.op_rows import op_rows
from graphscope.diagnose.values.origins import is_forward, origin
from graphscope.eventlog.names import place_of
from graphscope.eventlog.schema import DTYPE_CODES, Flag
from graphscope.graph import series
from graphscope.graph.reading import once_a_length
from graphscope.graph.training import training
from graphscope.graph.words import sources

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Graph, Node
    from graphscope.graph.training import Parting, Training

LAYERS: Final = ("embedding", "linear")
"""Ops whose second operand is a weight, in the order in which a model runs them."""

_COPIES: Final = frozenset({"clone", "copy", "set", "tensor", "deepcopy", "__deepcopy__", "empty_like"})


_FLOATING: Final = [DTYPE_CODES[name] for name in ("float32", "float64", "float16", "bfloat16")]


class Weight(NamedTuple):
    """A weight as a layer takes it: the layer's first row and the last, and the rows of the weight there."""

    op: str
    tensor: int
    first: int
    last: int
    begin: int
    end: int


def candidates(log: Log) -> list[int]:
    """The first row of each layer whose weight is, bit by bit, that of another, and is another tensor."""
    return sorted({max(one.first, other.first) for one, other in _pairs(log)} | _parted(log).keys())


@once_a_length
def _pairs(log: Log) -> list[tuple[Weight, Weight]]:
    """The weights that were tied no longer than to the beginning; only those of the same range are compared."""
    ranges: dict[tuple[float, float, int], list[Weight]] = {}
    for weight in (each for name in LAYERS for each in weights(log, name)):
        start = log.summary(weight.begin)
        if start is not None and start.minimum < start.maximum:
            ranges.setdefault((start.minimum, start.maximum, start.zero), []).append(weight)
    pairs = (pair for alike in ranges.values() for pair in combinations(alike, 2))
    return [(one, other) for one, other in pairs if other.op == "linear" and _untied(log, one, other)]


def _parted(log: Log) -> dict[int, Parting]:
    """Parameters that were one until one of them was replaced, by the row where it shows.

    That is where the new one was first updated, as the other is; or its first use, where no optimizer has it.
    """
    found = series.updates(log)
    tensors, firsts = np.unique(found["tensor"], return_index=True)
    rows = dict(zip(tensors.tolist(), found["row"][firsts].tolist(), strict=True))
    told: dict[int, Parting] = {}
    read = training(log)
    for each in (each for module in read.modules.values() for each in module.parted):
        one, other = each.tensors
        if one is None or other is None or one == other or other not in rows or not _is_of_one_shape(log, one, other):
            continue
        if _is_given_apart(read, one, other) or _SAYS_SO.search(read.function(each.site)):
            continue
        row = rows.get(one) if one in rows or one in read.optimized else one
        if row is not None and (read.step_ends > row).sum() >= _PASSED:
            told.setdefault(row, each)
    return told


_PASSED: Final = 2
"""So many steps must follow."""
_SAYS_SO: Final = re.compile("untie|unshare|decouple", re.IGNORECASE)


def _is_of_one_shape(log: Log, one: int, other: int) -> bool:
    return all(log.first <= each < log.end for each in (one, other)) and log.event(one).shape == log.event(other).shape


def _is_given_apart(read: Training, one: int, other: int) -> bool:
    """Whether an optimizer was given one of two parameters by itself: then both are meant."""
    groups = [group.tensors for each in read.optimizers.values() for group in each.groups]
    return any((one in group) and len(group) == 1 and other not in group for group in groups)


def weights(log: Log, name: str) -> list[Weight]:
    """The trained weights of all layers of a kind."""
    rows = op_rows(log, {name})
    given = sources(log, rows, 1)
    if name == "embedding":  # torch takes the weight behind the indices, others ahead of them
        ahead = sources(log, rows)
        given = np.where(np.isin(log.pick("dtype", ahead), _FLOATING), ahead, given)
    rows, given = rows[given >= log.first], given[given >= log.first]
    tensors = log.pick("tensor", given).astype(np.int64)
    found, optimized = [], training(log).optimized  # a teacher follows its student
    for tensor in np.unique(tensors).tolist():
        own = np.flatnonzero(tensors == tensor)
        numbers = (rows[own[0]], rows[own[-1]], given[own[0]], given[own[-1]])
        if int(log.pick("flags", np.array([tensor]))[0]) & Flag.PARAMETER and (tensor in optimized or not optimized):
            found.append(Weight(name, tensor, *map(int, numbers)))
    return found


def _untied(log: Log, one: Weight, other: Weight) -> bool:
    """Whether two weights were the same in the beginning, and both were trained, apart from each other."""
    if one.tensor == other.tensor or one.end == one.begin or other.end == other.begin:
        return False
    turned = one.op == other.op
    if not _same(log, one.begin, other.begin, turned) or _same(log, one.end, other.end, turned):
        return False
    return _leads(log, one, other) or _leads(log, other, one)


def _leads(log: Log, one: Weight, other: Weight) -> bool:
    """Whether the layer of one weight comes ahead of the other's in a network: those of copies of networks don't."""
    return bool((log.pick("tensor", ancestry(log, other.first).rows) == one.tensor).any())


def _same(log: Log, one: int, other: int, turned: bool) -> bool:
    """Whether two weights, of which one may be turned, hold the same numbers, and not all one number."""
    shapes = log.event(one).shape, log.event(other).shape
    if len(shapes[0]) != 2 or shapes[0] != (shapes[1][::-1] if turned else shapes[1]) or min(shapes[0]) < _LEAST:
        return False
    values = log.value(one), log.value(other)
    if values[0] is not None and values[1] is not None:
        return bool(np.array_equal(values[0], values[1].T if turned else values[1]) and np.ptp(values[0]) > 0)
    found = log.summary(one), log.summary(other)
    if found[0] is None or found[1] is None or not found[0].std:
        return False
    exact = all(getattr(found[0], name) == getattr(found[1], name) for name in ("minimum", "maximum", "zero"))
    return exact and all(np.isclose(getattr(found[0], name), getattr(found[1], name), 1e-9, 0) for name in ("std",))


_LEAST: Final = 2


@check(
    "weights that are no longer tied",
    reads=("marks", "training", "rows", "values"),
    rows=candidates,
    shows="run",
    sample="""
        import torch

        torch.manual_seed(0)
        embedding = torch.nn.Embedding(6, 4)
        output = torch.nn.Linear(4, 6, bias=False)
        output.weight = torch.nn.Parameter(embedding.weight.detach().clone())
        sgd = torch.optim.SGD([embedding.weight, output.weight], lr=0.1)
        for step in range(3):
            sgd.zero_grad()
            scores = output(embedding(torch.tensor([1, 2, 3])))
            torch.nn.functional.cross_entropy(scores, torch.tensor([2, 3, 4])).backward()
            sgd.step()
        """,
    healthy="""
        import torch

        torch.manual_seed(0)
        embedding = torch.nn.Embedding(6, 4)
        output = torch.nn.Linear(4, 6, bias=False)
        output.weight = embedding.weight
        sgd = torch.optim.SGD([embedding.weight], lr=0.1)
        for step in range(3):
            sgd.zero_grad()
            scores = output(embedding(torch.tensor([1, 2, 3])))
            torch.nn.functional.cross_entropy(scores, torch.tensor([2, 3, 4])).backward()
            sgd.step()
        """,
)
def untied_weights(graph: Graph, row: int) -> Iterator[Finding]:
    """Two weights were the same in the beginning, number for number, and each is trained on its own.

    So are two that were one parameter of two layers, until the program put another in the place of one of them.
    Looked at are the weights of an embedding and of a layer of its shape, and those of two layers of which one is the
    other turned: copies of whole modules are alike, too, and meant so.
    """
    layer = graph.node(row)
    parting = _parted(graph.log).get(row)
    if parting is not None:
        yield _of_parting(graph, row, parting)
    if not is_forward(layer, LAYERS):
        return
    told = {frozenset(each.tensors) for each in _parted(graph.log).values()}
    for one, other in _pairs(graph.log):
        if max(one.first, other.first) == row and {one.tensor, other.tensor} not in told:
            yield _finding(graph, row, one, other)


def _of_parting(graph: Graph, row: int, parting: Parting) -> Finding:
    file, line = training(graph.log).place(parting.site)
    names = parting.names
    at = f"{file.rpartition('/')[2]}:{line}"
    verdict = f"{names[0]} and {names[1]} were one parameter until {at} gave {names[0]} another: they are trained apart"
    cure = (
        f"let both layers hold the same tensor: `{names[0]} = {names[1]}` there, or once nothing replaces it any more"
    )
    shape = graph.log.event(row).shape
    evidence = {"elements": int(np.prod(shape)), "first update": Row(row)}
    return Finding("untied_weights", "warning", row, row, file, line, names, "replaced", verdict, cure, evidence)


_CURE: Final = "let both layers hold the same tensor, in place of a copy: `output.weight = embedding.weight`"


def _finding(graph: Graph, row: int, one: Weight, other: Weight) -> Finding:
    first, second = (graph.node(each.begin) for each in (one, other))
    names = (title(first), title(second))
    copied = _copy(graph, one, other)
    blamed = copied or graph.node(other.first)
    log = graph.log
    scope = log.scope(blamed.scope_number)
    site = blamed.site if copied is not None or scope is None or not scope.site else log.site(scope.site)
    file, line = place_of(site)
    how = f", since {copied.op}{where(copied)} copied one" if copied is not None else ""
    verdict = f"{names[0]} and {names[1]} began as the same numbers and are trained apart{how}: they are not tied"
    shape = graph.log.event(one.begin).shape
    evidence = {"rows": shape[0], "columns": shape[1], "first use": Row(other.first)}
    return Finding("untied_weights", "warning", row, blamed.row, file, line, names, "copied", verdict, _CURE, evidence)


def _copy(graph: Graph, one: Weight, other: Weight) -> Node | None:
    """The last copy that was made of either weight before both were in use."""
    stop = max(one.first, other.first)
    rows = op_rows(graph.log, _COPIES)
    for row in rows[rows < stop][::-1][:_MOST].tolist():
        node = graph.node(row)
        if node.shape in (graph.log.event(one.begin).shape, graph.log.event(one.begin).shape[::-1]) and any(
            origin(edge.source).tensor in (one.tensor, other.tensor) for edge in node.inputs
        ):
            return node
    return None


_MOST: Final = 1000
