"""The dual drawing: tensors as boxes, ops as arrows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import graphscope as gs
from graphscope.eventlog.reader import Log
from graphscope.exporters import export
from graphscope.graph.graph import Graph
from graphscope.graph.passes import whole
from graphscope.graph.passes.dual import dual
from graphscope.graph.view import GraphView


def arrows(view: GraphView) -> set[tuple[str, str, str, str]]:
    """Kind, ends and words of each."""
    return {(edge.kind, edge.source, edge.target, edge.label) for edge in view.edges}


def test_the_product_of_the_tutorial(product: GraphView) -> None:
    found = dual(product)
    assert [(box.id, box.kind, box.label) for box in found.nodes] == [
        ("n0", "leaf", "a"),
        ("n1", "leaf", "b"),
        ("n2:op", "joint", ""),
        ("n2", "tensor", "c"),
        ("n4:grad", "gradient", "∂c"),
        ("n5:grad", "gradient", "∂a"),
        ("n6:grad", "gradient", "∂b"),
    ]
    assert arrows(found) == {
        ("data", "n0", "n2:op", ""),
        ("data", "n1", "n2:op", ""),
        ("data", "n2:op", "n2", "mul"),
        ("gradient", "n4:grad", "n5:grad", "MulBackward"),
        ("gradient", "n4:grad", "n6:grad", "MulBackward"),
        ("link", "n2", "n4:grad", ""),
        ("link", "n0", "n5:grad", ""),
        ("link", "n1", "n6:grad", ""),
    }


def test_an_op_of_several_results_leads_to_each(recorded: Callable[[Callable[[], Any]], Log]) -> None:
    def program() -> None:
        a, b = gs.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True).unbind(0)
        (a * b).sum().backward()

    view = whole(Graph(recorded(program)))
    unbind = next(node.id for node in view.nodes if node.op == "unbind")
    made = {edge.target for edge in dual(view).edges if edge.label.startswith("unbind")}
    assert made == {unbind, f"{unbind}.1"}


def test_gradients_that_meet_are_one_tensor(recorded: Callable[[Callable[[], Any]], Log]) -> None:
    def program() -> None:
        x = gs.tensor(3.0, requires_grad=True)
        y = x * 2
        (y * 5 + y.sin()).backward()

    found = dual(whole(Graph(recorded(program))))
    (y,) = (box.id for box in found.nodes if box.kind == "gradient" and box.label == "∂y")
    assert sorted(edge.label for edge in found.edges if edge.target == y and edge.kind == "gradient") == [
        "MulBackward",
        "SinBackward",
    ]


def test_it_is_written_as_every_picture(recorded: Callable[[Callable[[], Any]], Log]) -> None:
    def program() -> None:
        gs.tensor(3.0, requires_grad=True).exp().backward()

    log = recorded(program)
    assert "exp" in str(export(log, format="svg", view="tensors"))
    assert bytes(export(log, format="png", view="tensors")).startswith(b"\x89PNG")  # type: ignore[arg-type]
    page = str(export(log, format="html", view="tensors", rankdir="LR"))
    assert "<svg" in page
    assert "<script" not in page
