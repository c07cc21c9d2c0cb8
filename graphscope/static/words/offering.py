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
from graphscope.static.graphs.symbols import Symbol, plain, twin
from graphscope.static.graphs.trees import leaves_of, with_leaves
from graphscope.static.sessions.default_graph import builder
from graphscope.static.words.operands import symbol_of
from graphscope.static.words.tensors import Operation, Tensor

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
        inside: What it is called within the scope of that name, where TensorFlow makes several nodes.
        shape: From the arguments to what is known of the result's shape, where its sizes are told at run time.
        alone: Whether the function makes nodes itself, so that it has no twin.
        operation: Whether it gives an operation, and no tensor.
        named: Whether the first node of what it gives is called by the name of the call.
    """

    function: Callable[..., Any]
    signature: inspect.Signature
    type: str
    node: str
    shape: Callable[[dict[str, Any]], Shape] | None = None
    alone: bool = False
    operation: bool = False
    named: bool = True
    inside: str = ""


OFFERED: Final[dict[str, Offered]] = {}
"""By name: `reduce_sum`, `nn.relu`."""


def offer(
    *names: str,
    type: str = "",
    node: str = "",
    arguments: str = "",
    shape: Callable[[dict[str, Any]], Shape] | None = None,
    alone: bool = False,
    operation: bool = False,
    named: bool = True,
    inside: str = "",
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Offer a function under these names: a decorator.

    Args:
        names: As people write them behind `tf.`.
        type: TensorFlow's type of the node; the first name where it is left out.
        node: Its name, where that is not its type.
        arguments: Of a function made by another, TensorFlow's arguments, as Python writes them.
        shape: What is known of the result's shape, where its sizes are told when it runs.
        alone: Whether it makes nodes itself.
        operation: Whether it gives an operation.
        named: Whether what it gives is called by the name of the call.
        inside: What it is called within the scope of that name; the name itself where it is left out.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        signature = signature_of(arguments) if arguments else inspect.signature(function)
        kind = type or names[0].rpartition(".")[2]
        made = Offered(function, signature, kind, node or kind, shape, alone, operation, named, inside)
        OFFERED.update(dict.fromkeys(names, made))
        return function

    return decorate


def signature_of(arguments: str) -> inspect.Signature:
    """The signature of a function with these arguments, as Python writes them."""
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
    wanted = bound.arguments.get("name") or bound.kwargs.get("name") or node or entry.node
    if "name" in bound.arguments:
        bound.arguments["name"] = None
    given = taken([list(bound.args), bound.kwargs])
    if not entry.named:
        return shown(_found(entry, spelled, *given))
    here = builder()
    around, begin = here.scope, len(here.graph.nodes)
    here.scope = here.graph.free(f"{around}/{wanted}" if around else wanted)
    try:
        found = _found(entry, spelled, *given)
    finally:
        full, here.scope = here.scope, around
    first = next((leaf for leaf in leaves_of(found) if isinstance(leaf, Symbol)), None)
    if first is not None and first.output.node in here.graph.nodes[begin:]:
        scope = here.graph.unique(full)
        inside = entry.inside.format(last=scope.rpartition("/")[2])
        _settle(first.output.node, f"{scope}/{inside}" if inside else scope, around, entry, here.graph)
        if entry.shape is not None and first.output.shape is None:
            first.output.shape = entry.shape(bound.arguments)
    if entry.operation and first is not None:
        return Operation(first.output.node, here)
    return shown(found)


def _found(entry: Offered, spelled: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
    if entry.alone:
        return entry.function(*args, **kwargs)
    try:
        return dynamic_shapes.or_deferred(twin(entry.function), entry.function, args, kwargs, Symbol, by_value=True)
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


def taken(arguments: Any) -> Any:
    """Arguments as functions take them: tensors with the operators of the engine."""
    leaves = leaves_of(arguments)
    return with_leaves(arguments, [plain(leaf) if isinstance(leaf, Symbol) else symbol_of(leaf) for leaf in leaves])


def shown(found: Any) -> Any:
    """What a function gives, as programs see it."""
    if isinstance(found, Symbol):
        return found if isinstance(found, Tensor) else Tensor.of(found.output, found.builder)
    if isinstance(found, list | tuple | dict):
        return with_leaves(found, [shown(leaf) for leaf in leaves_of(found)])
    return found


class ArgumentError(StaticError, TypeError):
    """Arguments that a function of TensorFlow's does not have."""
