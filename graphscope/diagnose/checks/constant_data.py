"""Labels or inputs that never change: the same in all rows of all batches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np

from graphscope.diagnose.check_table import check
from graphscope.diagnose.explanation import step_of, title, where
from graphscope.diagnose.finding import Finding
from graphscope.diagnose.source.datasets import example_place, is_collated
from graphscope.diagnose.training.batches import (
    CLASSIFYING,
    LABELLED,
    LAYERS,
    ancestors,
    first_layers,
    is_data,
    is_made,
    losses,
    uniform,
)
from graphscope.diagnose.training.begun_anew import BegunAnew, begun_anew
from graphscope.diagnose.values.origins import JOINS, first_told, is_forward, moves, operand

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Graph, Node

_LEAST_STEPS: Final = 5
_LEAST_ELEMENTS: Final = 48
"""So many batches, and so many labels in them, must be the same."""

_MOST_STEPS: Final = 64
"""So many batches are compared, spread over the log."""


def candidates(log: Log) -> list[int]:
    """The last row of each line of a loss whose labels, and of each first layer whose inputs, are all the same."""
    groups = [group for group in losses(log) if _labels(log, group)] if _one_answer(log) else []
    groups += [group for group in first_layers(log) if _inputs(log, group)]
    anew = begun_anew(log)
    return sorted({*(group[-1] for group in groups), *([] if anew is None else [anew.row])})


def _spread(rows: list[int]) -> list[int]:
    places: np.ndarray = np.unique(np.linspace(0, len(rows) - 1, _MOST_STEPS).astype(np.int64))
    return [rows[place] for place in places.tolist()]


def _one_answer(log: Log) -> bool:
    """Whether no loss of the program has labels of two kinds: a discriminator has, at two lines."""
    graph = log.graph
    answers = set()
    for group in losses(log):
        label = operand(graph.node(group[0]), "target", 1)
        answers.add(None if label is None else uniform(label))
        if label is None or None in answers:
            return False
    return len(answers) == 1


def _labels(log: Log, group: list[int]) -> bool:
    """Whether all labels that a loss was given are one number."""
    graph = log.graph
    if len(group) < _LEAST_STEPS:
        return False
    answers, elements = set(), 0
    for row in _spread(group):
        label = operand(graph.node(row), "target", 1)
        answers.add(None if label is None else uniform(label))
        if label is None or None in answers or len(answers) > 1:
            return False
        elements += int(np.prod(label.shape))
    return elements >= _LEAST_ELEMENTS


def _inputs(log: Log, group: list[int]) -> bool:
    """Whether all rows of all batches that a layer was given are the same."""
    graph = log.graph
    if len(group) < _LEAST_STEPS:
        return False
    first: np.ndarray | None = None
    for row in _spread(group):
        given = graph.node(row).inputs[0].source
        if len(given.shape) < 2 or given.shape[0] < 2:
            return False
        value = given.value
        if value is None:
            single = uniform(given)
            value = None if single is None else np.full((1, *given.shape[1:]), single)
        first = value[:1] if first is None and value is not None else first
        if value is None or first is None or value.shape[1:] != first.shape[1:] or not (value == first).all():
            return False
    return True


@check(
    "data that never changes",
    reads=("rows", "values"),
    rows=candidates,
    shows="run",
    sample="""
        import torch

        x = torch.randn(64, 3)
        labels = torch.tensor([1] * 64)
        w = torch.randn(3, 2, requires_grad=True)
        for first in range(0, 64, 8):
            rows = slice(first, first + 8)
            loss = torch.nn.functional.cross_entropy(x[rows] @ w, labels[rows])
            loss.backward()
        """,
    healthy="""
        import torch

        x = torch.randn(64, 3)
        labels = torch.tensor([1, 0] * 32)
        w = torch.randn(3, 2, requires_grad=True)
        for first in range(0, 64, 8):
            rows = slice(first, first + 8)
            loss = torch.nn.functional.cross_entropy(x[rows] @ w, labels[rows])
            loss.backward()
        """,
)
def constant_data(graph: Graph, row: int) -> Iterator[Finding]:
    """The labels of a loss, or the inputs of a first layer, are the same in all rows of all batches.

    Or all batches are the first one of the data.

    What a program makes for a batch as a constant, as the ones and zeros of a discriminator, is meant so.
    """
    node = graph.node(row)
    anew = begun_anew(graph.log)
    if anew is not None and anew.row == row:
        yield _of_first_batch(graph, anew)
        return
    if not is_forward(node, LABELLED | LAYERS):
        return
    label = operand(node, "target", 1) if node.op in LABELLED else None
    of_loss = label is not None
    data = label if of_loss else node.inputs[0].source
    if data is None or is_made(data) or not is_data(data) or _spread_out(data):
        return
    if of_loss and node.op not in CLASSIFYING and not _picked(data):
        return
    made = _begin(data, uniform(data) is not None)
    what = f"the labels of {node.op}{where(node)}" if of_loss else f"the inputs of {node.op}{where(node)}"
    value = uniform(data)
    answer = f"always {value:g}" if of_loss and value is not None else "the same in every row of every batch"
    verdict = f"{what} are {answer}, since {title(made)}{where(made)}: there is nothing to learn from them"
    cure = _OF_CAST.format(op=made.op) if _cuts_off(made) else _OF_OTHERS.format(name=title(made))
    evidence = {} if value is None else {"value": value}
    place = (is_collated(made) and example_place(made, of_loss)) or (step_of(made).file, step_of(made).line)
    cause = "constant labels" if of_loss else "constant inputs"
    yield Finding(
        "constant_data",
        "warning",
        row,
        made.row,
        *place,
        (title(data),),
        cause,
        verdict,
        cure,
        evidence,
    )


def _of_first_batch(graph: Graph, found: BegunAnew) -> Finding:
    name = title(graph.node(found.data))
    verdict = (
        f"{name} is the same batch in all of {found.batches} steps: next(iter(...)) begins anew each time, and the "
        "rest of the data is never seen"
    )
    cure = "go through the loader itself: for batch in loader, or make the iterator once, ahead of the loop"
    evidence = {"batches": found.batches}
    return Finding(
        "constant_data", "warning", found.row, found.data, found.file, found.line, (name,), "first batch", verdict,
        cure, evidence,
    )  # fmt: skip


_OF_CAST: Final = "{op} cuts fractions off: compare or scale the numbers first, and take {op} of what comes of that"
_OF_OTHERS: Final = "look at what fills {name}: an index that is not used, a value that is parsed wrongly, or never set"


def _cuts_off(made: Node) -> bool:
    """Whether fractions were made whole numbers."""
    return bool(made.inputs) and made.dtype.startswith("int") and made.inputs[0].source.dtype.startswith("float")


def _spread_out(node: Node) -> bool:
    """Whether one row was handed out to all on purpose."""
    at = node
    while moves(at):
        if at.op in ("expand", "expand_as", "broadcast_to"):
            return True
        at = at.inputs[0].source
    return at.op in ("repeat", "tile", "repeat_interleave", "linspace", "arange")


def _picked(node: Node) -> bool:
    """Whether a tensor was picked out of a larger one, or put together of many: batches of a data set are."""
    sizes = [int(np.prod(each.shape)) for each in ancestors(node)]
    return max(sizes) > sizes[0] or any(each.op in JOINS for each in ancestors(node))


def _begin(node: Node, whole: bool) -> Node:
    """Where numbers that differ became the same: the oldest node that is constant.

    Args:
        node: A constant node.
        whole: Whether all its elements are one number; else its rows are the same.
    """
    return _begin_of_number(node) if whole else _begin_of_rows(node)


def _begin_of_number(node: Node) -> Node:
    nodes = [first_told(node)]  # of a batch that was put together, all its examples
    while nodes[0].inputs:
        first = nodes[0]
        if first.op in JOINS:
            columns = [[edge.source for node in nodes for edge in node.inputs][:_MOST_STEPS]]
        else:
            count = 1 if moves(first) else min(len(node.inputs) for node in nodes)
            columns = [[node.inputs[place].source for node in nodes] for place in range(count)]
        constant = [each for each in columns if each and _is_one_number(each)]
        if not columns or len(constant) < len(columns):
            return first
        nodes = [first_told(each) for each in constant[0]]
    return nodes[0]


def _is_one_number(nodes: list[Node]) -> bool:
    values = {uniform(node) for node in nodes}
    return len(values) == 1 and None not in values


def _begin_of_rows(node: Node) -> Node:
    while node.inputs:
        given = [edge.source for edge in node.inputs][: 1 if moves(node) else None]
        constant = [each for each in given if _has_one_row(each)]
        if node.op in JOINS:
            return constant[0] if constant and constant[0].kind == "op" else node
        if len(constant) < len(given):
            return node
        node = first_told(constant[0])
    return node


def _has_one_row(node: Node) -> bool:
    value = node.value
    return value is not None and (value.ndim < 2 or bool((value == value[:1]).all()))
