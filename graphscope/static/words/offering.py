"""What is offered under TensorFlow 1's names, and how a call of it becomes nodes of the default graph."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from graphscope.errors import StaticError
from graphscope.static.graphs import dynamic_shapes
from graphscope.static.graphs.graph import Node, Shape
from graphscope.static.graphs.symbols import Symbol, twin
from graphscope.static.graphs.trees import leaves_of, with_leaves
from graphscope.static.sessions.default_graph import builder
from graphscope.static.words.operands import symbol_of
from graphscope.static.words.tensors import Tensor, plain

# A function is written for tensors that have values. Its twin builds nodes; where a size is asked for that is not known
# before the graph runs, one node is made that calls the function itself then.


@dataclass(frozen=True)
class Offered:
    """A function under a name of TensorFlow's.

    Args:
        function: Of tensors with values, with TensorFlow's arguments.
        signature: The names of its arguments, in order, with their defaults.
        type: What TensorFlow calls the node that gives the result.
        node: What that is called unless a `name` is given.
        shape: From the arguments to what is known of the result's shape, where its sizes are told at run time.
        alone: Whether the function makes nodes itself, so that it has no twin.
    """

    function: Callable[..., Any]
    signature: inspect.Signature
    type: str
    node: str
    shape: Callable[[dict[str, Any]], Shape] | None = None
    alone: bool = False


OFFERED: Final[dict[str, Offered]] = {}
"""By name: `reduce_sum`, `nn.relu`."""


def offer(
    *names: str,
    type: str = "",
    node: str = "",
    arguments: str = "",
    shape: Callable[[dict[str, Any]], Shape] | None = None,
    alone: bool = False,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Offer a function under these names: a decorator.

    Args:
        names: As people write them behind `tf.`.
        type: TensorFlow's type of the node; the first name where it is left out.
        node: Its name, where that is not its type.
        arguments: Of a function made by another, TensorFlow's arguments, as Python writes them.
        shape: What is known of the result's shape, where its sizes are told when it runs.
        alone: Whether it makes nodes itself.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        signature = _signature(arguments) if arguments else inspect.signature(function)
        kind = type or names[0].rpartition(".")[2]
        made = Offered(function, signature, kind, node or kind, shape, alone)
        OFFERED.update(dict.fromkeys(names, made))
        return function

    return decorate


def _signature(arguments: str) -> inspect.Signature:
    return inspect.signature(eval(f"lambda {arguments}: None", {}))  # noqa: S307 - texts of ours


@functools.cache
def offered(name: str) -> Callable[..., Any] | None:
    """The function of a name, for tensors of a graph; None where there is none."""
    entry = OFFERED.get(name)
    if entry is None:
        return None

    def call(*args: Any, **kwargs: Any) -> Any:
        return called(entry, name, args, kwargs)

    functools.update_wrapper(call, entry.function, updated=())
    call.__name__ = call.__qualname__ = name.rpartition(".")[2]
    call.__signature__ = entry.signature  # type: ignore[attr-defined]
    return call


def called(entry: Offered, spelled: str, args: Any, kwargs: dict[str, Any], node: str | None = None) -> Any:
    """Add the nodes of a call.

    Args:
        entry: What is called.
        spelled: By what name.
        args: Its arguments.
        kwargs: Likewise.
        node: What the node is called where no `name` is given.

    Raises:
        StaticError: There is no such argument, or what is given does not fit.
    """
    try:
        bound = entry.signature.bind(*args, **kwargs)
    except TypeError as error:
        raise ArgumentError(f"tf.{spelled}: {error}", hint=f"its arguments are {entry.signature}") from None
    bound.apply_defaults()
    wanted = bound.arguments.get("name") or node or entry.node
    if "name" in bound.arguments:
        bound.arguments["name"] = None
    here = builder()
    given = with_leaves(list(bound.args), [_taken(leaf) for leaf in leaves_of(list(bound.args))])
    around, begin = here.scope, len(here.graph.nodes)
    full = here.graph.unique(f"{around}/{wanted}" if around else wanted)
    here.scope = full
    try:
        found = _found(entry, spelled, given)
    finally:
        here.scope = around
    made = here.graph.nodes[begin:]
    first = next((leaf for leaf in leaves_of(found) if isinstance(leaf, Symbol)), None)
    if first is None or first.output.node not in made:
        if not made:
            here.graph.release(full)
        return _shown(found)
    _settle(first.output.node, full, around, entry, here.graph)
    if entry.shape is not None and first.output.shape is None:
        first.output.shape = entry.shape(bound.arguments)
    return _shown(found)


def _found(entry: Offered, spelled: str, given: list[Any]) -> Any:
    if entry.alone:
        return entry.function(*given)
    try:
        return dynamic_shapes.or_deferred(twin(entry.function), entry.function, given, {}, Symbol, by_value=True)
    except StaticError:
        raise
    except (TypeError, ValueError, RuntimeError, IndexError, ArithmeticError) as error:
        raise StaticError(
            f"tf.{spelled} does not fit what it is given: {str(error).splitlines()[0] if str(error) else error!r}",
            hint=f"its arguments are {entry.signature}",
        ) from None


def _settle(node: Node, name: str, scope: str, entry: Offered, graph: Any) -> None:
    """The node that gives the result is called by the name of the call, and stands in the scope around it."""
    node.name = name
    node.origins = (name,)
    node.scope = scope
    graph.types[node] = entry.type


def _taken(leaf: Any) -> Any:
    return plain(leaf) if isinstance(leaf, Symbol) else symbol_of(leaf)


def _shown(found: Any) -> Any:
    if isinstance(found, Symbol):
        return Tensor.of(found.output, found.builder)
    if isinstance(found, list | tuple | dict):
        return with_leaves(found, [_shown(leaf) for leaf in leaves_of(found)])
    return found


class ArgumentError(StaticError, TypeError):
    """Arguments that a function of TensorFlow's does not have."""
