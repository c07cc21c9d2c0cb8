"""Softmax over another axis than the one that its result is summed, multiplied or picked along."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from graphscope.diagnose.check_table import check
from graphscope.diagnose.explanation import title, where
from graphscope.diagnose.finding import Finding, Row
from graphscope.diagnose.training.batches import first_layers, is_data, losses
from graphscope.diagnose.values.axes import MERGED, SHAPES, TURNS, carried, contracted, summed_over
from graphscope.diagnose.values.op_rows import distinct, op_rows
from graphscope.diagnose.values.origins import argument, axis, is_forward, operand, origin
from graphscope.diagnose.values.squashing import blamed
from graphscope.eventlog.schema import Flag

if TYPE_CHECKING:
    from graphscope.eventlog.reader import Log
    from graphscope.graph import Graph, Node

SOFTMAX: Final = frozenset({"softmax", "log_softmax"})

_ALONG: Final = frozenset(
    {"log", "clamp", "clamp_min", "clip", "neg", "add", "sub", "mul", "div", "dropout", "float", "double", "half", "to",
     "contiguous", "clone", "detach", "masked_fill", "nan_to_num", "alias"}
)  # fmt: skip
"""Ops that leave each element at its place."""

_SCALED: Final = frozenset({"mul", "div", "add", "masked_fill", "where", "sub", "clamp", "true_divide", "dropout"})
_PRODUCTS: Final = frozenset({"matmul", "bmm", "mm", "einsum", "baddbmm"})
_LOSSES: Final = frozenset({"cross_entropy"})
"""Losses that apply a softmax themselves, over the second axis."""
_TABLES: Final = frozenset({"embedding"})
"""Layers that take indices; those of positions have one axis."""
_MOST: Final = 200


class Use(NamedTuple):
    """An op that takes the result of a softmax along an axis."""

    node: Node
    axis: int
    """The axis of what it takes that it runs along."""
    held: int
    """Where the axis of the softmax lies by then; MERGED: in another."""
    does: str


def candidates(log: Log) -> list[int]:
    """The first softmax of each line and kind."""
    return distinct(log, op_rows(log, SOFTMAX | _LOSSES))


@check(
    "softmax over the wrong axis",
    reads=("rows", "values"),
    rows=candidates,
    shows="run",
    sample="""
        import torch

        scores = torch.tensor([[1.0, 2.0, 0.5], [0.0, 0.3, 0.2]], requires_grad=True)
        labels = torch.tensor([1, 0])
        loss = torch.nn.functional.nll_loss(scores.log_softmax(0), labels)
        loss.backward()
        """,
    healthy="""
        import torch

        scores = torch.tensor([[1.0, 2.0, 0.5], [0.0, 0.3, 0.2]], requires_grad=True)
        values = torch.tensor([[1.0], [2.0]], requires_grad=True)
        labels = torch.tensor([1, 0])
        pooled = (scores.softmax(0) * values).sum(0)
        loss = torch.nn.functional.nll_loss(scores.log_softmax(1), labels) + pooled.sum()
        loss.backward()
        """,
)
def softmax_axis(graph: Graph, row: int) -> Iterator[Finding]:
    """A softmax runs over another axis than what is done with its result.

    What is done with it tells which axis was meant: a loss that picks labels, labels that are summed over, attention
    weights that a product of matrices takes, a mean of which they are the weights. A softmax over the only output of a
    layer is always 1.
    """
    node = graph.node(row)
    if is_forward(node, _LOSSES) and node.inputs:
        yield from _of_one_class(node)
        return
    if not is_forward(node, SOFTMAX) or not node.inputs:
        return
    over = over_axis(node)
    if over is None:
        return
    use = next((use for use in _uses(node, over) if use.axis != use.held), None)
    single = _single(node, over)
    if use is None and not single:
        return
    sizes = tuple(node.shape)
    verdict = f"{node.op}{where(node)} runs over axis {over} of {sizes}, the only output of a layer: it is always 1"
    cure = "use sigmoid for one output, or give the softmax the axis over which the weights are to sum to 1"
    evidence: dict[str, float] = {"axis": over}
    if use is not None:
        what, taken = use.node, tuple(use.node.inputs[0].source.shape)
        verdict = (
            f"{node.op}{where(node)} runs over axis {over} of {sizes}; {what.op}{where(what)} {use.does} of {taken}"
        )
        axis_meant = f" dim={use.axis}," if what.inputs[0].source.row == row else ""
        cure = f"give the {node.op}{axis_meant} the axis that is used so"
        evidence |= {"used at": Row(use.node.row)}
    names, place = (title(node),), blamed(node, settings=True)
    yield Finding("softmax_axis", "warning", row, node.row, *place, names, "wrong axis", verdict, cure, evidence)


def _of_one_class(loss: Node) -> Iterator[Finding]:
    """A loss that picks one class of one: it is 0 whatever the layer says."""
    scores = origin(loss.inputs[0].source)
    if scores.op != "linear" or scores.shape[1:] != (1,) or scores.shape[0] < 2:
        return
    if loss.inputs[0].source.shape != scores.shape or not scores.flags & Flag.REQUIRES_GRAD:
        return
    verdict = f"{loss.op}{where(loss)} chooses among the one output of {scores.op}{where(scores)}: it is always 0"
    cure = "use binary_cross_entropy_with_logits for one output, or give the layer one output for each class"
    place = blamed(loss, settings=True)
    yield Finding(
        "softmax_axis", "error", loss.row, loss.row, *place, (title(loss),), "one class", verdict, cure, {"classes": 1}
    )


def over_axis(node: Node) -> int | None:
    """The axis of a softmax; torch chooses one by the number of axes where the program names none."""
    found = axis(node)
    if found is None and argument(node, "dim", 1) is None:
        return 0 if len(node.shape) in (0, 1, 3) else 1
    return found


def _single(node: Node, over: int) -> bool:
    """Whether a softmax runs over the one output of a layer."""
    made = origin(node.inputs[0].source)
    last = over == len(node.shape) - 1 and made.op == "linear" and made.shape[-1:] == (1,)
    return last and node.shape[over] == 1 and any(size > 1 for size in node.shape)


def _uses(node: Node, over: int) -> Iterator[Use]:
    """What is done with the result of a softmax, as far as it tells an axis."""
    waiting: list[tuple[Node, int, bool, bool]] = [(node, over, node.op == "log_softmax", True)]
    seen = {node.row}
    while waiting and len(seen) < _MOST:
        at, held, is_log, plain = waiting.pop(0)
        for edge in at.users:
            target, name = edge.target, edge.target.op.rstrip("_")
            if target.kind != "op" or target.graph_pass != "forward":
                continue
            yield from _use(target, edge.argument, at, held, is_log, plain, node)
            place: int | None = None
            if name in TURNS | SHAPES and target.inputs[0].source == at:
                place = held if held == MERGED else carried(held, target)
            elif name in _ALONG and target.shape == at.shape:
                place = held
            if place is not None and target.row not in seen:
                seen.add(target.row)
                same = plain and name not in TURNS and (name in ("dropout", "contiguous", "clone", "to", "masked_fill"))
                waiting.append((target, place, is_log or name == "log", same))


def _use(
    target: Node, argument_place: int, at: Node, held: int, is_log: bool, plain: bool, softmax: Node
) -> Iterator[Use]:
    name = target.op.rstrip("_")
    dimensions = len(at.shape)
    if name == "nll_loss" and argument_place == 0 and not _is_diagonal(target, at):
        classes = min(1, dimensions - 1)
        yield Use(target, classes, held, f"picks the label along axis {classes}")
    elif name == "gather" and argument_place == 0 and is_log:
        along = axis(target)
        if along is not None:
            yield Use(target, along, held, f"picks along axis {along}")
    elif name == "argmax" and not is_log:
        along = axis(target)
        if along is not None:
            yield Use(target, along, held, f"chooses along axis {along}")
    elif name == "mul" and is_log:
        yield from _labelled(target, at, held)
    elif name == "mul" and held == 0 and (plain or _has_one_axis_more(at, softmax)):
        yield from _pooled(target, softmax)
    elif name in ("binary_cross_entropy", "mse_loss", "l1_loss", "kl_div") and argument_place == 0:
        yield from _compared(target, held)
    elif name in ("matmul", "bmm", "mm", "einsum") and plain:
        yield from _attention(target, at, held, softmax)


def _is_diagonal(loss: Node, given: Node) -> bool:
    """Whether the labels are 0, 1, 2 and so on, of a square: then rows and columns are alike."""
    label = operand(loss, "target", 1)
    value = None if label is None else label.value
    square = len(given.shape) == 2 and given.shape[0] == given.shape[1]
    return square and (value is None or bool(np.array_equal(value, np.arange(len(value)))))


def _labelled(product: Node, logs: Node, held: int) -> Iterator[Use]:
    """Logarithms of probabilities times labels, summed up."""
    others = [edge.source for edge in product.inputs if edge.source != logs]
    if not others or product.shape != logs.shape or others[0].shape != logs.shape or not is_data(others[0]):
        return
    for at in [product, *(edge.target for edge in product.users if edge.target.op.rstrip("_") == "neg")]:
        for edge in at.users:
            along = summed_over(edge.target) if edge.target.op == "sum" else None
            if along is not None and len(along) == 1:
                yield Use(edge.target, along[0], held, f"sums labels up along axis {along[0]}")


def _has_one_axis_more(at: Node, softmax: Node) -> bool:
    """Whether a node is the result of a softmax with an axis of 1 behind: weights of vectors."""
    return at.shape == (*softmax.shape, 1) and origin(at) == softmax


def _pooled(product: Node, softmax: Node) -> Iterator[Use]:
    """Weights over the rows of the batch, of a mean that runs over another axis."""
    if len(product.shape) < 3 or softmax.shape[0] not in _batch_sizes(product.graph):
        return  # weights of the rows of a loss have no axis between
    for edge in product.users:
        along = summed_over(edge.target) if edge.target.op == "sum" else None
        if along is not None and 0 not in along:
            yield Use(edge.target, along[0], 0, f"takes its result as the weights of a sum over axis {along[0]}")


def _batch_sizes(graph: Graph) -> set[int]:
    """How many rows the batches have that labels and first layers are given, one of each line."""
    sizes = set()
    for group in losses(graph.log):
        label = operand(graph.node(group[0]), "target", 1)
        sizes |= set() if label is None else set(label.shape[:1])
    fed = {graph.node(group[0]).inputs[0].source.shape[0] for group in first_layers(graph.log)}
    ids = (operand(graph.node(row), "input", 0) for row in distinct(graph.log, op_rows(graph.log, _TABLES)))
    fed |= {each.shape[0] for each in ids if each is not None and len(each.shape) > 1}
    return sizes & fed if sizes else fed


def _compared(loss: Node, held: int) -> Iterator[Use]:
    """Probabilities beside labels of which each row is a distribution."""
    label = operand(loss, "target", 1)
    if label is None or len(label.shape) != 2 or label.shape != loss.inputs[0].source.shape:
        return
    value = label.value if is_data(label) else None
    if value is None:
        return
    sums = [bool(np.allclose(value.sum(place), 1)) for place in (0, 1)]
    if sums[1] and not sums[0] and (value >= 0).all():
        yield Use(loss, 1, held, "compares it with labels that sum to 1 along axis 1")


def _attention(product: Node, weights: Node, held: int, softmax: Node) -> Iterator[Use]:
    """Attention weights as they are, times values: they are to sum to 1 along the axis that the product runs over."""
    place = 0 if product.inputs[0].source == weights else 1
    along = contracted(product, place)
    scores = softmax.inputs[0].source
    for _ in range(6):
        if scores.op.rstrip("_") not in _SCALED or not scores.inputs:
            break
        scores = max((edge.source for edge in scores.inputs), key=lambda each: (each.shape == scores.shape, each.row))
    if along is None or scores.op not in _PRODUCTS or (product.op != "einsum" and place != 0):
        return
    dimensions = len(weights.shape)
    square = weights.shape[-1] == weights.shape[-2]
    if along == dimensions - 1 and (square or held < dimensions - 2):
        yield Use(product, along, held, f"takes it as weights of a sum over axis {along}")
