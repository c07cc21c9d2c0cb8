"""Where numbers leave the graph, as Python's or NumPy's, and come back as a tensor that knows nothing of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from math import prod
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from graphscope.diagnose.explanation import Explanation, steps, title, where
from graphscope.diagnose.gradients.ancestry import ancestry
from graphscope.diagnose.gradients.paths import FLOATING, leaf_of
from graphscope.eventlog.schema import Kind, Pass

if TYPE_CHECKING:
    from graphscope.diagnose.subject import Subject
    from graphscope.graph import Graph, Node

_LEAVING: Final = frozenset({"detach", "detach_", "data", "cpu"})
"""Ops by which tensors are made ready for NumPy."""

MAKING: Final = frozenset({"tensor", "as_tensor", "asarray", "from_numpy", "new_tensor"})
"""Functions that make tensors of plain numbers."""

_MOST: Final = 64
"""So many leaves that came later are looked at."""


def left_graph(subject: Subject) -> Explanation | None:
    """The loss was computed from numbers of it that had left the graph, and come back as a new tensor."""
    paths = subject.paths_to_loss
    if paths is None or subject.backward is None or paths.target in paths.reached:
        return None
    graph = subject.graph
    begin = subject.backward.begin
    made = [each for each in graph.descendants(subject.node) if each.row < begin and each.graph_pass == "forward"]
    ends = [each for each in made if not any(edge.target.row < begin for edge in each.users)]
    if not ends:
        return None
    rows, oldest = ancestry(graph.log, paths.target).rows, min(end.row for end in ends)
    rows = rows[(rows > oldest) & (rows < paths.target)]
    came = [row for row in rows.tolist() if _is_new(graph, row)][:_MOST]
    for end in reversed(ends):
        back = next((leaf for row in came if row > end.row and _holds(leaf := graph.node(row), end)), None)
        if back is not None:
            return Explanation(
                "none",
                "left the graph",
                f"no gradient flows from {title(graph.node(paths.target))} to {subject.title}: what {end.op}"
                f"{where(end)} made of it left the graph as plain numbers, and came back{where(back)} as a new tensor",
                steps([subject.node, end], {end.row: "leaves the graph"}),
                _CURE,
            )
        taken = _taken_as_number(graph, end, paths.target)
        if taken is not None:
            blamed, note = (end, "leaves the graph") if leaves_here(end) else (taken, "takes it as a number")
            return Explanation(
                "none",
                "left the graph",
                f"no gradient flows from {title(graph.node(paths.target))} to {subject.title}: {taken.op}{where(taken)}"
                f" takes what {end.op}{where(end)} made of it as a plain number",
                steps([subject.node, end, taken], {blamed.row: note}),
                _CURE,
            )
    return None


_CURE: Final = "compute with tensors all the way: .numpy(), .tolist(), .item(), float() and torch.tensor(...) cut it"


def _taken_as_number(graph: Graph, end: Node, loss: int) -> Node | None:
    """The first op of a loss that was given an element of a result as a number: one that can be no chance."""
    made = end.inputs[0].source if len(end.outputs) > 1 and end.inputs else end
    held = made.value
    if held is None or held.size > _MOST or held.dtype.kind != "f":
        return None
    telling = {value for value in map(float, held.reshape(-1)) if is_telling(value)}
    known = ancestry(graph.log, loss)
    for row in range(end.row + 1, min(loss + 1, end.row + _MOST_ROWS)) if telling else ():
        event = graph.index.event(row)
        if event.kind == Kind.OP and event.graph_pass == Pass.FORWARD and event.attrs and known.holds(row):
            given = graph.log.arguments(row)
            numbers = _numbers([given.operands, given.attributes])
            if not telling.isdisjoint(numbers):
                return graph.node(row)
            node = graph.node(row)
            if leaves_here(node) and any(_is_weighted(number, held) for number in numbers):
                return node
    return None


def is_telling(value: float) -> bool:
    """Whether a number is none that a person writes down: who meets it again meets what was computed."""
    return not (value * _ROUND).is_integer()


def _is_weighted(number: float, held: np.ndarray) -> bool:
    """Whether a number is that of a single value with a weight that a person writes down: `0.1 * loss.item()`."""
    value = float(held.reshape(-1)[0]) if held.size == 1 else 0.0
    if not value or not is_telling(number):
        return False
    weight = number / value
    written = round(weight * _ROUND) / _ROUND
    return written != 0 and abs(weight - written) <= _EXACT * abs(written)


_EXACT: Final = 1e-12
"""What a product of two numbers may be off, in proportion."""
_ROUND: Final = 1e4
"""Numbers that people write have no more decimals."""
_MOST_ROWS: Final = 2000
"""So many rows behind a result are looked at."""


def _numbers(value: Any) -> set[float]:
    if isinstance(value, Mapping):
        return set().union(*map(_numbers, value.values()))
    if isinstance(value, (list, tuple)):
        return set().union(*map(_numbers, value))
    return {value} if isinstance(value, float) else set()


def leaves_here(node: Node) -> bool:
    """Whether it is at the line of a node that what it makes becomes plain numbers."""
    return node.op in _LEAVING or _TAKING.search(node.source_line) is not None


_TAKING: Final = re.compile(r"\.(item|tolist|numpy|detach)\(|\.data\b|\b(float|int|list)\(")
"""What takes the numbers of a tensor, as it is written."""


def made_by(leaf: Node) -> str:
    """What makes a new leaf of numbers, and where: `torch.tensor(...) at losses.py:14`."""
    function = leaf.attrs.get("function")
    return f"{f'torch.{function}(...)' if function in MAKING else title(leaf)}{where(leaf)}"


def title_of(loss: Node) -> str:
    """What to call a loss and where it is made; one without a name by what makes it."""
    return f"{loss.name}{where(loss)}" if loss.name else made_by(loss)


def taken_at_lines(ends: Iterable[Node], back: Node) -> list[str]:
    """The lines, in words, that hand on a number of results, as many as a new leaf holds; not those that print it."""
    size = prod(back.shape)
    lines = (where(end) for end in ends if prod(end.shape) == size and _HANDING.match(end.source_line))
    return [*dict.fromkeys(lines)]


_HANDING: Final = re.compile(r"(return\b|\w+ *=).*\.item\(\)")
"""What hands a number on, as it is written."""


def _is_new(graph: Graph, row: int) -> bool:
    event = graph.index.event(row)
    first = event.kind == Kind.LEAF and event.tensor == row and event.dtype.startswith(FLOATING)
    return first and not graph.node(row).attrs.get("name")


def _holds(leaf: Node, end: Node) -> bool:
    """Whether a new leaf holds the numbers that an op made: the very same, or as many at a place made for them."""
    made = end.inputs[0].source if len(end.outputs) > 1 and end.inputs else end
    given, came = made.value, leaf.value
    if given is not None and came is not None and given.size and came.size >= given.size:
        blocks = came.reshape(-1, given.size) if came.size % given.size == 0 else came[:0]
        telling = np.ptp(given) > 0 or where(leaf) == where(end)  # ones are everywhere
        if telling and (blocks == given.reshape(-1)).all(axis=-1).any():
            return True
    shaped = leaf.shape == made.shape and leaf.shape != () and leaf.attrs.get("function", "tensor") in MAKING
    return shaped and end.op in _LEAVING and not any(_compares(edge.target, leaf) for edge in leaf.users)


def _compares(user: Node, leaf: Node) -> bool:
    """Whether an op takes a leaf together with something computed: it may be the target of a loss."""
    others = [edge.source for edge in user.inputs if edge.source.row != leaf.row]
    return any(leaf_of(each.graph, each.event) is None for each in others)
