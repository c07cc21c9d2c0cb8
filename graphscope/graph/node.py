"""One node of a graph and its edges: made on demand, everything about it is read from the log at first use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from graphscope.eventlog.schema import Flag, Kind, Pass
from graphscope.graph import gradients
from graphscope.graph.gradients import Contribution
from graphscope.graph.operands import NO_RULE, Operand, attributes_of, operands_of

if TYPE_CHECKING:
    from graphscope.eventlog.arguments import Arguments
    from graphscope.eventlog.names import Site
    from graphscope.eventlog.reader import Event
    from graphscope.eventlog.values import Summary
    from graphscope.graph.graph import Graph

KIND_NAMES: Final[dict[Kind, Literal["leaf", "op", "grad", "accumulate"]]] = {
    Kind.LEAF: "leaf",
    Kind.OP: "op",
    Kind.GRAD: "grad",
    Kind.ACCUMULATE: "accumulate",
}
"""What a person calls the kinds that are nodes."""

OF_BACKWARD: Final = (Kind.GRAD, Kind.ACCUMULATE)
"""The kinds whose `forward` field names the node they belong to."""


@dataclass(frozen=True, slots=True)
class Edge:
    """The output `slot` of `source` is an input of `target`."""

    source: Node
    target: Node
    slot: int
    number: int
    """Which of the target's inputs it is, as the row lists them."""
    kind: Literal["data", "gradient", "link"]

    @property
    def argument(self) -> int:
        """Where among the operands of the target it stands."""
        return self.target.arguments.place(self.number) if self.target.event.kind == Kind.OP else self.number


class Node:
    """A row of the log that is a node, seen at the graph's `now`. Two nodes of one row are equal."""

    def __init__(self, graph: Graph, row: int, event: Event) -> None:
        self.graph = graph
        self.row = row
        self.event = event

    def __repr__(self) -> str:
        return f"<Node #{self.row} {self.label} {self.shape} {self.graph_pass}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Node) and other.row == self.row and other.graph.log is self.graph.log

    def __hash__(self) -> int:
        return hash(self.row)

    # What it is ------------------------------------------------------------------------------------------------------

    @property
    def kind(self) -> Literal["leaf", "op", "grad", "accumulate"]:
        """`leaf`, `op`, `grad` or `accumulate`."""
        return KIND_NAMES[self.event.kind]

    @property
    def graph_pass(self) -> Literal["forward", "backward"]:
        """The pass that it belongs to."""
        return "backward" if self.event.graph_pass == Pass.BACKWARD else "forward"

    @property
    def op(self) -> str:
        """The op that ran; of a GRAD node the op whose rule is due; of a leaf the function that created it."""
        if self.event.kind == Kind.ACCUMULATE:
            return "accumulate"
        if self.event.kind == Kind.LEAF:
            return str(self.attrs.get("function", "leaf"))
        return self.graph.log.op(self.event.op).name

    @cached_property
    def name(self) -> str:
        """The program's name for it; a backward node bears that of its forward node; empty when there is none."""
        owner = self.forward if self.event.kind in OF_BACKWARD else self
        return "" if owner is None else self.graph.names.name(owner.event)

    @property
    def label(self) -> str:
        """What to write on it: `mul`, `MulBackward`, a leaf's name, `accumulate`."""
        if self.event.kind == Kind.GRAD:
            return backward_label(self.op)
        return (self.name or "leaf") if self.event.kind == Kind.LEAF else self.op

    @property
    def formula(self) -> str:
        """What it computes, as people write it: the op's formula, or the rules of a GRAD node."""
        if self.event.kind != Kind.GRAD:
            return self.graph.log.op(self.event.op).formula
        owner = self.forward
        if owner is not None and owner.kind == "op":
            rules = [(each.name, each.rule) for each in owner.operands if each.rule]
        else:  # one of several nodes of a call
            op = self.graph.log.op(self.event.op)
            rules = [pair for pair in zip(op.inputs, op.vjp, strict=False) if pair[1] != NO_RULE]
        return ", ".join(f"grad of {name} = {rule}" for name, rule in rules)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of its first output."""
        return self.event.shape

    @property
    def dtype(self) -> str:
        """The dtype of its first output; empty when unknown."""
        return self.event.dtype

    @property
    def outputs(self) -> tuple[tuple[tuple[int, ...], str], ...]:
        """Shape and dtype of each output."""
        return self.graph.log.outputs(self.row)

    @property
    def tensor(self) -> int:
        """The tensor that it made, named by the row of the first version."""
        return self.event.tensor

    @property
    def version(self) -> int:
        """How often that tensor had been written in place."""
        return self.event.version

    @property
    def duration(self) -> int:
        """Nanoseconds that it ran; 0 of a rule that is due and has yet to run."""
        return int(self.graph.log.raw(self.row)["duration"])  # written when the rule is done: never from the cache

    @property
    def flags(self) -> Flag:
        """Facts about the row."""
        return self.event.flags

    @property
    def attrs(self) -> dict[str, Any]:
        """Facts: names, texts."""
        return self.graph.log.attrs(self.event.attrs)

    @cached_property
    def operands(self) -> list[Operand]:
        """What stood at each place of the op."""
        return operands_of(self)

    @property
    def constants(self) -> list[tuple[str, str]]:
        """The constants that the op was given, attributes among them: what they are called, and what they are."""
        return [(each.name, each.text) for each in self.operands if each.edge is None] + attributes_of(self)

    @property
    def defaults(self) -> Mapping[str, Any]:
        """What arguments of the op are that were left out, of those that its formula or a rule names."""
        return self.graph.log.op(self.event.op).defaults

    @cached_property
    def arguments(self) -> Arguments:
        """What the op was given; of a GRAD node, the op whose rule is due."""
        return self.graph.log.arguments(self.row)

    # Where it is -----------------------------------------------------------------------------------------------------

    @property
    def site(self) -> Site | None:
        """The expression of the program that made it."""
        return self.graph.log.site(self.graph.place(self.event)[0])

    @property
    def source_line(self) -> str:
        """The text of that line."""
        return self.graph.names.source_line(self.graph.place(self.event)[0])

    @property
    def scope(self) -> str:
        """Dotted names of the module scopes around it, from the root."""
        return self.graph.log.scope_path(self.scope_number)

    @property
    def scope_title(self) -> str:
        """The same with the class of the innermost: `encoder.1 (ReLU)`."""
        return self.graph.log.scope_title(self.scope_number)

    @property
    def scope_number(self) -> int:
        """The innermost of these scopes in the table of scopes; 0 at the root."""
        return self.graph.place(self.event)[1]

    # What it is joined to --------------------------------------------------------------------------------------------

    @property
    def inputs(self) -> list[Edge]:
        """Edges that lead here, in the order of the op's arguments."""
        return self.graph.inputs(self)

    @property
    def users(self) -> list[Edge]:
        """Edges that lead from here to nodes at or before `now`."""
        return self.graph.users(self)

    @property
    def forward(self) -> Node | None:
        """Of a backward node, the forward node it belongs to; of an op inside a rule, the GRAD node."""
        return self.graph.forward_of(self.event)

    @property
    def backward(self) -> list[Node]:
        """The backward nodes at or before `now` that belong to it."""
        return self.graph.backward_of(self)

    # What it holds ---------------------------------------------------------------------------------------------------

    @property
    def value(self) -> np.ndarray | None:
        """Its value, as a person edited it; None when it was not kept."""
        return self.graph.log.value(self.graph.value_row(self.row))

    def output(self, slot: int) -> np.ndarray | None:
        """The value of one of several outputs; None when it was not kept, as what a rule made for one of its inputs."""
        if slot == 0:
            return self.value
        return self.graph.log.value(self.row, slot) if slot < self.event.output_count else None

    @property
    def summary(self) -> Summary | None:
        """Statistics of the value; None when neither was kept."""
        return self.graph.log.summary(self.graph.value_row(self.row))

    @property
    def edited(self) -> bool:
        """Whether a person replaced its value."""
        return self.graph.value_row(self.row) != self.row

    @property
    def computed(self) -> np.ndarray | None:
        """The value that the program computed, whatever was put in its place; None when it was not kept."""
        return self.graph.log.value(self.row)

    @property
    def grad(self) -> np.ndarray | None:
        """The gradient that has arrived at `now`; None before the first contribution, or when it was not kept."""
        return gradients.gradient(self)

    @property
    def contributions(self) -> list[Contribution]:
        """The summands of `grad`, in the order in which they were added."""
        return gradients.contributions(self)


def backward_label(op: str) -> str:
    """The name of an op's backward rule as people know it: `log_softmax` has `LogSoftmaxBackward`."""
    return "".join(part[:1].upper() + part[1:] for part in op.split("_")) + "Backward"
