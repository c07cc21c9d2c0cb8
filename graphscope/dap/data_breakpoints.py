"""What a data breakpoint can be at: the value or the gradient of a tensor, by the name that a person sees."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from graphscope.dap.stop_events import title
from graphscope.debugger import expression_names, nodes
from graphscope.debugger.expressions import PREDICATES, RAISED, Expression, describe, parse
from graphscope.debugger.recorded_tensor import Recorded
from graphscope.debugger.value_results import as_array
from graphscope.errors import CommandError, GraphscopeError, LogError
from graphscope.graph import Node

if TYPE_CHECKING:
    from graphscope.dap.log_session import Session
    from graphscope.debugger.inspection import Entry

_NUMBERED: Final = re.compile(r"#(\d+)\.(value|grad)")
_PATH: Final = re.compile(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*|\[\d+\])*?)(\.grad)?")
_ONLY: Final = "only the value and the gradient of a tensor can be watched"


@dataclass(frozen=True)
class Watchable:
    """What can be watched."""

    identity: str
    """The row of the tensor that `value` and `grad` in the expression are of, if they occur; behind `:` that."""
    title: str


async def watchable(session: Session, expression: str, frame: int | None, shown: Entry | None = None) -> Watchable:
    """What an expression means that a person wants to watch.

    Args:
        session: Where one stands.
        expression: The expression.
        frame: The Python frame that its names belong to; None stands for that of the node.
        shown: What was told of it, where it is one of the variables that were shown.

    Raises:
        GraphscopeError: It can't be watched; the message says why.
    """
    parsed = parse(expression)
    about = parsed.names & expression_names.WORDS.keys()
    if shown is not None and shown.bytes is None and not about and not shown.name.startswith("["):
        raise _no_tensor(expression, shown.type)
    graph = session.debugger.graph
    if (numbered := _NUMBERED.fullmatch(expression.strip())) is not None:
        return _of_node(session, _node(session, int(numbered[1])), numbered[2])
    if about:
        node = session.debugger.node_at_hand
        if node is None:
            raise expression_names.nothing_at_hand(min(about), session.debugger.node)
        node = session.debugger.need_node()  # one that is not computed yet can't be watched
        _check(expression, parsed, expression_names.lookup(graph, node))
        return Watchable(f"{node.row}:{expression}", f"{expression} of {title(nodes.describe(node))}")
    path = None if "nodes" in parsed.names else _PATH.fullmatch(expression.strip())
    meaning = None if path is None else await session.tensor(path[1], frame)
    if path is not None and isinstance(meaning, str):
        raise _no_tensor(path[1], meaning)
    if path is not None and isinstance(meaning, int) and meaning >= 0:
        return _of_node(session, _node(session, meaning), "grad" if path[2] else "value")
    known = {"nodes", *PREDICATES}
    unknown = sorted(name for name in parsed.names - known if expression_names.newest(graph, name) is None)
    if unknown and path is not None and path[1].isidentifier() and _comes(session, path[1]):
        return Watchable(f":{expression}", f"{expression}, once a tensor is called so")
    if unknown:
        raise CommandError(f"No tensor of the log is called {unknown[0]}: {_ONLY}")
    _check(expression, parsed, expression_names.lookup(graph, None))
    return _of_every_pass(expression)


def _comes(session: Session, name: str) -> bool:
    """Whether there may yet be a tensor of a name behind where one stands."""
    debugger = session.debugger
    return session.grows or expression_names.newest(debugger.graph.at(debugger.last_row), name) is not None


def _of_node(session: Session, node: Node, word: str) -> Watchable:
    """The value or gradient of a tensor: by its name where that leads to it, else of this tensor alone."""
    name = node.name
    newest = expression_names.newest(session.debugger.graph, name) if name else None
    if newest is None or newest.tensor != node.tensor:
        return Watchable(f"{node.row}:{word}", f"{word} of {title(nodes.describe(node))}")
    told = name if word == "value" else f"{name}.grad"
    meant = name if name.isidentifier() else f"nodes[{name!r}]"
    return _of_every_pass(meant if word == "value" else f"{meant}.grad", told)


def _of_every_pass(expression: str, told: str = "") -> Watchable:
    return Watchable(f":{expression}", f"{told or expression}, of every pass")


def _node(session: Session, row: int) -> Node:
    try:
        return session.debugger.graph.node(row)
    except LogError:
        raise CommandError(f"There is no node #{row} here") from None


def _check(expression: str, parsed: Expression, lookup: Any) -> None:
    """That an expression over the log is a tensor, or a number that was found from one."""
    try:
        value = parsed.evaluate(lookup)
    except GraphscopeError:
        raise
    except RAISED as error:  # a person's expression may raise anything
        raise CommandError(f"{expression}: {describe(error)}") from None
    plain = isinstance(value, Recorded | np.generic | bool | int | float | None)
    if not plain and as_array(value) is None:
        raise _no_tensor(expression, type(value).__name__)


def _no_tensor(expression: str, kind: str) -> CommandError:
    return CommandError(f"{expression} is no tensor{f' but of type {kind}' if kind else ''}: {_ONLY}")
