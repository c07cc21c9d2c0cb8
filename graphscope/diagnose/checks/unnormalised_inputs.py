"""Inputs of a first layer that are so large that they saturate what follows, or keep the loss above any guess."""

from __future__ import annotations

import math
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
    RECURRENT,
    first_layers,
    is_data,
    same_site,
)
from graphscope.diagnose.values.op_rows import op_rows
from graphscope.diagnose.values.origins import JOINS, argument, first_told, is_forward, moves, operand
from graphscope.eventlog.schema import Kind
from graphscope.graph import series

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.eventlog.values import Summary
    from graphscope.graph import Graph, Node

LARGE: Final = 100.0
"""Inputs are large whose root of the mean square is a third of this, and whose largest is this."""

_LEAST_STEPS: Final = 3
_SATURATED: Final = 0.9
"""So much of the way to their limits the outputs of a squashing function are, in the mean square."""

_AFTER: Final = 4
"""So many ops after a layer its squashing function comes."""

_NORMS: Final = frozenset(
    {"batch_norm", "layer_norm", "group_norm", "instance_norm", "rms_norm", "normalize", "local_response_norm"}
)
_LIMITS: Final = {"tanh": (-1.0, 1.0), "sigmoid": (0.0, 1.0), "softsign": (-1.0, 1.0)}


def candidates(log: Log) -> list[int]:
    """The last row of each line of a first layer that is given large numbers from the beginning."""
    graph = log.graph
    groups = [group for group in first_layers(log) if len(group) >= _LEAST_STEPS]
    return sorted(group[-1] for group in groups if _is_large(graph.node(group[0]).inputs[0].source.summary))


def _is_large(summary: Summary | None) -> bool:
    return summary is not None and max(-summary.minimum, summary.maximum) >= LARGE and size_of(summary) >= LARGE / 3


def size_of(summary: Summary) -> float:
    """The root of the mean square."""
    return math.hypot(summary.mean, summary.std)


@check(
    "inputs that are not normalised",
    reads=("marks", "rows", "values"),
    rows=candidates,
    shows="run",
    sample="""
        import torch

        x = torch.tensor([[120.0, 300.0], [250.0, -180.0], [90.0, 400.0], [310.0, 220.0]])
        y = torch.tensor([[0.0], [1.0], [0.0], [1.0]])
        w = torch.tensor([[0.3, -0.5], [0.4, 0.4]], requires_grad=True)
        v = torch.tensor([[0.3], [0.2]], requires_grad=True)
        for step in range(4):
            hidden = torch.tanh(x @ w)
            loss = ((hidden @ v - y) ** 2).mean()
            loss.backward()
        """,
    healthy="""
        import torch

        x = torch.tensor([[120.0, 300.0], [250.0, -180.0], [90.0, 400.0], [310.0, 220.0]])
        x = (x - x.mean()) / x.std()
        y = torch.tensor([[0.0], [1.0], [0.0], [1.0]])
        w = torch.tensor([[0.3, -0.5], [0.4, 0.4]], requires_grad=True)
        v = torch.tensor([[0.3], [0.2]], requires_grad=True)
        for step in range(4):
            hidden = torch.tanh(x @ w)
            loss = ((hidden @ v - y) ** 2).mean()
            loss.backward()
        """,
)
def unnormalised_inputs(graph: Graph, row: int) -> Iterator[Finding]:
    """A first layer is given numbers of hundreds and more, and what follows it can't cope with them.

    Either the squashing function behind it is saturated by them, or the loss stays above what a constant guess would
    come to. A norm behind the layer takes the size away: then the inputs are left alone.
    """
    layer = graph.node(row)
    if not is_forward(layer, LAYERS):
        return
    data = layer.inputs[0].source
    summary = data.summary
    if summary is None or not _is_large(summary) or not is_data(data):
        return
    following = list(_following(layer))
    if any(each.op in _NORMS for each in following):
        return
    squashed = next((each for each in following if _saturation(each) >= _SATURATED), None)
    squashed = layer if _swamped(layer, summary) else squashed
    killed = None if squashed is not None else _killed(graph)
    guess = None if squashed is not None or killed is not None else _above_a_guess(graph)
    if squashed is None and killed is None and guess is None:
        return
    made = _begin(data, int(next(iter(graph.index.marks(Kind.BACKWARD_BEGIN)), layer.row)))
    size = size_of(summary)
    consequence = (
        "its gates are saturated, and let no gradient through"
        if squashed is layer
        else f"{squashed.op}{where(squashed)} behind it is saturated, and lets no gradient through"
        if squashed is not None
        else f"no unit of {killed.op}{where(killed)} lets anything through any more"
        if killed is not None
        else "the loss stays above what a constant guess comes to"
    )
    verdict = (
        f"{layer.op}{where(layer)} is given numbers of about {size:.3g} (up to "
        f"{max(-summary.minimum, summary.maximum):.3g}) that come from {title(made)}{where(made)}: {consequence}"
    )
    cure = "bring the inputs to a mean of 0 and a deviation of 1, feature by feature, ahead of the first layer"
    evidence = {"size": size, "largest": summary.maximum, "smallest": summary.minimum}
    if squashed is not None and squashed is not layer:
        evidence["saturated"] = _saturation(squashed)
    if guess is not None:
        evidence |= {"loss": guess[0], "loss of a constant guess": guess[1]}
    place = (is_collated(made) and example_place(made, last=False)) or (step_of(made).file, step_of(made).line)
    names, cause = (title(data),), "saturating inputs" if squashed is not None else "dominating inputs"
    yield Finding("unnormalised_inputs", "warning", row, made.row, *place, names, cause, verdict, cure, evidence)


def _following(layer: Node) -> Iterator[Node]:
    """The ops behind a layer, the nearest first, up to the next layer."""
    nodes = [layer]
    for _ in range(_AFTER):
        nodes = [edge.target for node in nodes for edge in node.users if edge.target.kind == "op"][:8]
        yield from nodes
        nodes = [node for node in nodes if node.op.rstrip("_") in ("add", "view", "reshape", "relu", "max_pool2d")]


def _saturation(node: Node) -> float:
    """How near to its limits the outputs of a squashing function are, from 0 to 1."""
    limits, summary = _LIMITS.get(node.op.rstrip("_")), node.summary
    if limits is None or summary is None or not summary.count:
        return 0.0
    middle, half = sum(limits) / 2, (limits[1] - limits[0]) / 2
    return math.hypot(summary.mean - middle, summary.std) ** 2 / half**2


def _swamped(layer: Node, given: Summary) -> bool:
    """Whether the gates of a recurrent layer are given sums so large that most of them are open or shut for good."""
    if layer.op not in RECURRENT:
        return False
    size = layer.inputs[0].source.shape[-1]
    weights = (edge.source for edge in layer.inputs[1:] if len(edge.source.shape) == 2)
    weight = next((each.summary for each in weights if each.shape[-1] == size), None)
    return weight is not None and size_of(weight) * size_of(given) * math.sqrt(size) > _SHUT


_SHUT: Final = 20.0
"""Of gates that are given so much, five of six are within a fiftieth of their limits."""


def _above_a_guess(graph: Graph) -> tuple[float, float] | None:
    """What the losses of a program came to in its last quarter, and a constant guess: None where that is no worse."""
    found = series.losses(graph.log)
    found = found[found["root"] <= graph.now]
    if len(found) < 4 * _LEAST_STEPS or len(np.unique(found["site"])) > 1:
        return None
    last = found[-(len(found) // 4) :]
    guesses = [guess for guess in map(_guess, map(graph.node, last["root"].tolist())) if guess]
    if len(guesses) < len(last):
        return None
    loss, guess = float(np.mean(last["value"])), float(np.mean(guesses))
    return (loss, guess) if not loss <= _WORSE * guess else None


_WORSE: Final = 2.0
"""So many times the loss of a constant guess is worse than it, whatever chance does."""


def _guess(loss: Node) -> float | None:
    """What the loss would be if the model answered the same to everything, and knew the mean of the labels."""
    if loss.op in CLASSIFYING:
        given = operand(loss, "input", 0)
        classes = 0 if given is None or not given.shape else given.shape[min(1, len(given.shape) - 1)]
        return math.log(2 if "binary" in loss.op else max(classes, 2))
    label, squared = _compared(loss)
    summary = None if label is None else label.summary
    if summary is None or not summary.std:
        return None
    return summary.std**2 if squared else summary.std


def _compared(loss: Node) -> tuple[Node | None, bool]:
    """The labels that a mean error is taken from, also where it is written out; and whether its square is meant."""
    if loss.op in LABELLED:
        return operand(loss, "target", 1), loss.op == "mse_loss"
    error = loss.inputs[0].source if loss.op == "mean" and loss.inputs else loss
    squared = error.op == "square" or (error.op == "pow" and argument(error, "exponent", 1) == 2)
    if not squared and error.op not in ("abs", "absolute"):
        return None, False
    difference = error.inputs[0].source
    operands = [edge.source for edge in difference.inputs]
    if difference.op != "sub" or len(operands) != 2 or operands[0].shape != operands[1].shape:
        return None, False
    labels = [each for each in operands if is_data(each)]
    return (labels[0] if len(labels) == 1 else None), squared


def _killed(graph: Graph) -> Node | None:
    """A relu that let something through in the first step, and nothing in the last."""
    for group in same_site(graph.log, op_rows(graph.log, {"relu"})):
        before, after = (graph.node(int(group[place])).summary for place in (0, -1))
        if before is None or after is None or not after.count:
            continue
        if before.zero < before.count * _ALIVE and after.zero == after.count:
            return graph.node(int(group[-1]))
    return None


_ALIVE: Final = 0.9


def _begin(data: Node, begun: int) -> Node:
    """What computed a batch in the program's code of its data: ahead of what picked, moved and put it together.

    Args:
        data: The batch.
        begun: The row at which the training began: what ran later and left the size as it is, as noise, is passed by.
    """
    node, is_batch = data, True
    while True:
        node = first_told(node)
        parts = [edge.source for edge in node.inputs] if node.kind == "op" else []
        sizes = [0.0 if (found := each.summary) is None else size_of(found) for each in parts]
        largest = parts[int(np.argmax(sizes))] if parts else node
        if moves(node):
            if "float" in node.dtype and "int" in parts[0].dtype:
                return node
            is_batch = is_batch and int(np.prod(parts[0].shape)) == int(np.prod(node.shape))
            node = parts[0]
        elif node.op in JOINS and is_batch and node.shape[:1] == data.shape[:1] and len(parts) > 1:
            is_batch, node = False, largest
        elif parts and node.row > begun and node.op not in JOINS and _is_as_large(node, largest):
            node = largest
        else:
            return node


def _is_as_large(node: Node, other: Node) -> bool:
    """Whether an op left the shape and the size of its input about as they were."""
    sizes = [0.0 if (found := each.summary) is None else size_of(found) for each in (node, other)]
    return node.shape == other.shape and sizes[1] * 0.8 < sizes[0] < sizes[1] * 1.25
