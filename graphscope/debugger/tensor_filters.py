"""Filters over tensors, as tfdbg has them: by what a value holds, by name, by op."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from graphscope.debugger import expression_names
from graphscope.debugger.expressions import RAISED, describe
from graphscope.errors import CommandError
from graphscope.graph.faults import is_finite

if TYPE_CHECKING:
    from graphscope.debugger.expressions import Expression
    from graphscope.debugger.motion import Test
    from graphscope.graph import Node


def _has_inf_or_nan(node: Node) -> bool:
    return not is_finite(node)


def _has_nan(node: Node) -> bool:
    summary = node.summary
    return summary is not None and summary.nan > 0


def _has_inf(node: Node) -> bool:
    summary = node.summary
    return summary is not None and summary.inf > 0


@dataclass(frozen=True)
class Condition:
    """A filter that a person wrote at the prompt: an expression over the words of a node."""

    expression: Expression

    @property
    def text(self) -> str:
        """As it was typed."""
        return self.expression.text

    def __call__(self, node: Node) -> bool:
        try:
            return self.expression.holds(expression_names.lookup(node.graph, node))
        except NameError:
            raise
        except Exception:  # noqa: BLE001 - a value that was not kept, or of another shape or dtype
            return False


@dataclass(frozen=True)
class Datum:
    """An output of a node as tfdbg tells a filter of it; what else it is asked for is the node's: `op`, `scope`."""

    node: Node
    output_slot: int = 0
    debug_op: str = "DebugIdentity"

    @property
    def node_name(self) -> str:
        """The program's name for the node; where it has none, the op and the row."""
        return self.node.name or f"{self.node.op}_{self.node.row}"

    @property
    def tensor_name(self) -> str:
        """The name of the output."""
        return f"{self.node_name}:{self.output_slot}"

    @property
    def watch_key(self) -> str:
        """The name of the output, and how it was looked at."""
        return f"{self.tensor_name}:{self.debug_op}"

    @property
    def timestamp(self) -> int:
        """Microseconds."""
        return self.node.event.time // 1000

    @property
    def shape(self) -> tuple[int, ...]:
        """The output's."""
        return self.node.outputs[self.output_slot][0]

    @property
    def dtype(self) -> str:
        """The output's."""
        return self.node.outputs[self.output_slot][1]

    @property
    def dump_size_bytes(self) -> int:
        """Bytes of the value."""
        value = self.get_tensor()
        return 0 if value is None else int(value.nbytes)

    def get_tensor(self) -> Any:
        """The value, an array; None where the log did not keep it."""
        return self.node.output(self.output_slot)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.node, name)


@dataclass(frozen=True)
class OfTensor:
    """A filter as tfdbg takes it: a function of an output of a node (`datum`) and of its value."""

    function: Callable[[Any, Any], bool]

    def __call__(self, node: Node) -> bool:
        outputs = [Datum(node, slot) for slot in range(max(len(node.outputs), 1))]
        pairs = ((datum, datum.get_tensor()) for datum in outputs)
        return any(bool(self.function(datum, value)) for datum, value in pairs if value is not None)


def add_tensor_filter(name: str, function: Callable[[Any, Any], bool]) -> None:
    """Let `lt -f NAME` and `run -f NAME` know a filter of a program: `function(datum, tensor)`, as tfdbg has it.

    Args:
        name: What `-f` is given.
        function: Called with what tfdbg calls a datum (`node_name`, `output_slot`, `dtype`, `shape`; and all that a
            node of the log has) and the value, an array; says whether the filter holds.
    """
    FILTERS[name] = OfTensor(function)


FILTERS: Final[dict[str, Callable[[Node], bool]]] = {
    "has_inf_or_nan": _has_inf_or_nan,
    "has_nan": _has_nan,
    "has_inf": _has_inf,
}
"""What `-f` takes; `filter` and `add_tensor_filter` add to it."""


def wanted(filter: str = "", name: str = "", op: str = "", excluded: str = "") -> Test:
    """A test for nodes; what is empty lets all pass. Expressions match where a name or an op begins, as in tfdbg.

    A filter that raises is told of by the test as a CommandError.

    Args:
        filter: A filter of the table.
        name: A regular expression for names.
        op: One for ops, in capitals or not.
        excluded: One for names that the filter is not asked of.

    Raises:
        CommandError: There is no such filter, or an expression is not understood.
    """
    if filter and filter not in FILTERS:
        raise CommandError(f"There is no tensor filter {filter!r}", f"there is {', '.join(FILTERS)}")
    if excluded and not filter:
        raise CommandError("-fenn says which names a filter leaves out, and no filter is given", "add -f FILTER")
    holds = FILTERS.get(filter)
    names, ops = _pattern(name), _pattern(op, re.IGNORECASE)
    left_out = _pattern(excluded) if excluded else None

    def test(node: Node) -> bool:
        if not (ops.match(node.op) and names.match(node.name)) or (left_out and left_out.match(node.name)):
            return False
        try:
            return holds is None or holds(node)
        except RAISED as error:
            what = f"The tensor filter {filter!r} raised {describe(error)} at #{node.row} {node.op}"
            raise CommandError(what, "mend it and add it again under its name") from None

    return test


def _pattern(text: str, flags: re.RegexFlag = re.NOFLAG) -> re.Pattern[str]:
    try:
        return re.compile(text, flags)
    except re.error as error:
        raise CommandError(f"{text!r} is no regular expression: {error}") from None
