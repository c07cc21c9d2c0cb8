"""Commands that print what an expression is."""

from __future__ import annotations

from types import FunctionType, MethodType
from typing import Any

import numpy as np

from graphscope.debugger import expression_names, value_results
from graphscope.debugger.command_table import Rest, command
from graphscope.debugger.debugger import Debugger
from graphscope.debugger.expressions import RAISED, Expression, describe, parse
from graphscope.debugger.results import ValueResult
from graphscope.errors import CommandError, GraphscopeError
from graphscope.eventlog.values import advice


@command("p", "print", group="looking", needs="edge")
def print_(dbg: Debugger, expression: Rest) -> ValueResult:
    """Print the value of a Python expression.

    `value`, `grad`, `inputs`, `op`, `name`, `shape`, `dtype` and `node` speak of the node where one stands; at a line
    that is about to run one stands at none, and they are names like others. Those are the program's while it waits
    here, else those of tensors in the log. `#12` is node 12: `p #12.grad`. `!` reaches a name of the program that is
    hidden by one of these.
    """
    found = evaluate(dbg, expression)
    node = dbg.node_at_hand if found is None and expression.strip() == "value" else None
    owner = None if node is None else expression_names.owner_of(node)
    if owner is None or (statistics := value_results.kept_statistics(owner)) is None:
        return value_results.result(expression, found)
    return value_results.statistics_alone(expression, owner, statistics)


@command("pp", group="looking", needs="edge")
def pretty_print(dbg: Debugger, expression: Rest) -> ValueResult:
    """As `p`, laid out over lines."""
    return value_results.result(expression, evaluate(dbg, expression), pretty=True)


@command("whatis", group="looking", needs="edge")
def whatis(dbg: Debugger, expression: Rest) -> ValueResult:
    """Say of what type (shape and dtype) the value of an expression is, in pdb's words."""
    value = evaluate(dbg, expression)
    found = value_results.result(expression, value)
    return ValueResult(expression, _kind(value), found.type, found.shape, found.dtype)


def _kind(value: object) -> str:
    """What something is, as `whatis` of pdb has it."""
    if isinstance(value, MethodType):
        return f"Method {value.__name__}"
    if isinstance(value, FunctionType):
        return f"Function {value.__name__}"
    if isinstance(value, type):
        return f"Class {value.__module__}.{value.__qualname__}"
    return str(type(value))


def _whereabouts(dbg: Debugger, name: str | None) -> str | None:
    """Where a name has a meaning that has none here."""
    if dbg.at_edge:
        return None
    later = expression_names.newest(dbg.graph.at(dbg.last_row), name) if name else None
    if later is not None:
        return f"it is made later in time: goto {later.row}"
    return f"the program waits at #{dbg.edge.row}, `!` reaches its names" if dbg.edge else None


def evaluate(dbg: Debugger, expression: str) -> Any:
    """The value of an expression here.

    Raises:
        CommandError: It can't be compiled, or raised.
    """
    parsed = parse(expression)
    try:
        return parsed.evaluate(dbg.lookup())
    except GraphscopeError:
        raise
    except NameError as error:
        raise CommandError(describe(error), _whereabouts(dbg, error.name)) from None
    except RAISED as error:  # a person's expression may raise anything
        raise CommandError(describe(error), _reason(dbg, parsed, error)) from None


def _reason(dbg: Debugger, expression: Expression, error: BaseException) -> str | None:
    """What a person may not have thought of who wrote an expression that raised."""
    missing = getattr(error, "obj", None)
    if isinstance(error, AttributeError) and isinstance(missing, np.ndarray):
        known = callable(getattr(np, error.name or "", None))
        return f"a NumPy array is what the log holds: np.{error.name}(...)" if known else None
    for word in sorted(expression.names & {"value", "grad"}) if dbg.node_at_hand is not None else ():
        if isinstance(error, AttributeError | TypeError) and dbg.lookup()(word) is None:
            reached = word == "value" or dbg.graph.backward_of(dbg.need_node())
            lost = f"it was not kept ({advice(dbg.need_node().dtype)})"
            why = lost if reached else "no gradient has reached it up to now"
            return f"`{word}` is None here: {why}"
    return None
