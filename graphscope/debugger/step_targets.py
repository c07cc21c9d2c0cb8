"""The calls that the line is about to make where the program waits: a step may lead into a chosen one of them."""

from __future__ import annotations

import ast
import dis
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from graphscope.debugger.frames import text_of_file
from graphscope.debugger.line_trace import statement_at, statement_of
from graphscope.debugger.source_blocks import calls_by_end

if TYPE_CHECKING:
    from types import FrameType

    from graphscope.debugger.debugger import Debugger

_OF_PASSES: Final = ("backward", "grad")
"""What functions are called that run a backward pass."""


@dataclass(frozen=True, slots=True)
class Target:
    """A call; columns count from 0."""

    name: str
    """What is called, as it is written."""
    line: int
    column: int
    end_line: int
    end_column: int

    @property
    def begins_pass(self) -> bool:
        """Whether a backward pass is what it leads into."""
        return self.name.rpartition(".")[2] in _OF_PASSES


def step_targets(debugger: Debugger) -> list[Target]:
    """The calls that are to come in the line where the program waits, in the order in which they are made."""
    edge, node = debugger.edge, debugger.node
    if edge is None or not debugger.at_edge or not edge.stack:
        return []
    in_backward = node is not None and node.graph_pass == "backward" and edge.line is None
    return [] if in_backward else list(_calls_ahead(edge.stack[-1]).values())


def _calls_ahead(frame: FrameType) -> dict[tuple[int, int], Target]:
    code, here, found = frame.f_code, statement_of(frame), dict[tuple[int, int], Target]()
    written = calls_by_end(text_of_file(code.co_filename))
    for each in dis.get_instructions(code):
        place = each.positions
        if not each.opname.startswith("CALL") or each.offset <= frame.f_lasti or place is None:
            continue
        end = place.end_lineno or 0, place.end_col_offset or 0
        call = written.get(end)
        if call is not None and statement_at(code.co_filename, call.lineno) == here:
            found[end] = Target(ast.unparse(call.func), call.lineno, call.col_offset, *end)
    return found
