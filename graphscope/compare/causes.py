"""Why two runs part, as far as the two calls say it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from graphscope.compare.sentences import Cause
from graphscope.diagnose.two_runs import RANDOM
from graphscope.eventlog.schema import Flag

if TYPE_CHECKING:
    from graphscope.compare.births import Birth
    from graphscope.compare.calls import Call
    from graphscope.compare.difference import Fact
    from graphscope.graph import Node

_AXES: Final = frozenset({"dim", "axis", "dims", "normalized_shape", "start_dim", "end_dim", "dim0", "dim1"})
_MASKING: Final = frozenset({"masked", "masked_fill", "masked_fill_", "tril", "triu", "where", "tri"})


def cause_of(birth: Birth, calls: Sequence[Call | None], facts: Sequence[Fact]) -> Cause:
    """The cause of a parting in a forward pass."""
    known = [call for call in calls if call is not None]
    if any(_makes_parameter(call.node) for call in known):
        return Cause("initialisation")
    if known and all(call.node.kind == "leaf" for call in known):
        return Cause("random" if all(call.node.op in RANDOM for call in known) else "input")
    if birth.extra:
        return Cause("only one", birth.extra)
    names = {fact.name for fact in facts}
    if names & _AXES and len({call.node.op for call in known}) == 1:
        return Cause("axis")
    if any((call.part.label if call.part else call.node.op) in _MASKING for call in known):
        return Cause("mask")
    if "dtype" in names:
        return Cause("dtype")
    if names - {"shape"}:
        return Cause("attribute")
    if len({call.node.op for call in known}) > 1:
        return Cause("another op")
    return Cause("random" if any(call.node.op in RANDOM for call in known) else "op")


def _makes_parameter(node: Node) -> bool:
    """Whether it is a parameter, or what wrote into one ahead of its use."""
    if node.kind == "leaf":
        return bool(node.flags & Flag.PARAMETER)
    tensor = node.graph.index.versions(node.tensor, node.graph.now + 1) if node.flags & Flag.IN_PLACE else []
    return any(node.graph.index.event(row).flags & Flag.PARAMETER for row in tensor)
