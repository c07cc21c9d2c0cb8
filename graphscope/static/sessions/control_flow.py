"""`cond` and `while_loop` as programs of sessions write them: functions that build the bodies of the nodes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from graphscope.errors import StaticError
from graphscope.static.graphs import control_nodes as control_nodes  # its kinds enter the table
from graphscope.static.graphs.graph import Graph, Value
from graphscope.static.graphs.graph_builder import Builder
from graphscope.static.graphs.symbols import Symbol
from graphscope.static.graphs.trees import leaves_of, with_leaves
from graphscope.static.sessions.default_graph import builder
from graphscope.static.sessions.functions import _values
from graphscope.static.sessions.functions import convert_to_tensor as convert
from graphscope.static.sessions.tensor_arrays import TensorArray
from graphscope.static.words.tensors import Operation, Tensor, TensorShape, as_shape


def cond(
    pred: Any,
    true_fn: Callable[[], Any] | None = None,
    false_fn: Callable[[], Any] | None = None,
    strict: bool = False,
    name: str | None = None,
    fn1: Callable[[], Any] | None = None,
    fn2: Callable[[], Any] | None = None,
) -> Any:
    """What one of two functions gives, as the condition says when it runs; the nodes of the other do not run.

    Args:
        pred: A boolean tensor of one element.
        true_fn: Builds what is computed where it holds.
        false_fn: Builds what is computed elsewhere: as many tensors, of the same dtypes.
        strict: Whether a list of one tensor stays a list.
        name: The node's name.
        fn1: As `true_fn`.
        fn2: As `false_fn`.

    Raises:
        StaticError: The branches do not fit together, or the condition is no tensor.
    """
    yes_fn, no_fn = true_fn or fn1, false_fn or fn2
    if yes_fn is None or no_fn is None:
        raise StaticError("cond takes two functions", hint="tf.cond(pred, lambda: a, lambda: b)")
    if isinstance(pred, bool):
        raise StaticError("the condition of cond is a Python bool", hint="use if, or tf.constant(True)")
    found = branch(pred, yes_fn, no_fn, name or "cond", Tensor)
    return found[0] if isinstance(found, list | tuple) and len(found) == 1 and not strict else found


def branch(
    pred: Any, true_fn: Callable[[], Any], false_fn: Callable[[], Any], name: str = "cond", of: type[Symbol] = Symbol
) -> Any:
    """As `cond`, of symbols of any class; what is given keeps its structure.

    Args:
        pred: The condition.
        true_fn: Builds what is computed where it holds.
        false_fn: Builds what is computed elsewhere.
        name: The node's name.
        of: The class of the symbols that it gives.
    """
    here = builder()
    (condition,) = _values(here, pred)
    structure, yes = _body(here, f"{name}/true", true_fn, [], of)
    _, no = _body(here, f"{name}/false", false_fn, [], of)
    taken = _joined(here, [yes, no], 0)
    node = here.append("cond", (condition, *taken), {}, bodies=(yes.graph, no.graph), name=name)
    return with_leaves(structure, [of.of(value, here) for value in node.outputs])


def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    shape_invariants: Any = None,
    parallel_iterations: int = 10,
    back_prop: bool = True,
    swap_memory: bool = False,
    name: str | None = None,
    maximum_iterations: Any = None,
    return_same_structure: bool = False,
) -> Any:
    """Run a body again and again while a condition holds; gives the loop variables as they are then.

    Args:
        cond: From the loop variables to a boolean tensor of one element.
        body: From the loop variables to those of the next turn: as many, of the same shapes and dtypes.
        loop_vars: What they are at first: tensors, arrays, numbers or TensorArrays, also nested.
        shape_invariants: For each its shape, with None for a dim that changes from turn to turn.
        parallel_iterations: Accepted: turns run one behind the other.
        back_prop: Accepted: gradients go through where they are asked for.
        swap_memory: Accepted.
        name: The node's name.
        maximum_iterations: So many turns at most.
        return_same_structure: Whether a list of one variable stays a list.

    Raises:
        StaticError: A loop variable changes its shape or dtype from turn to turn; the message names it.
    """
    arrays = leaves_of(_as_list(loop_vars))
    told = None
    if shape_invariants is not None:
        told = [as_shape(each) for each in leaves_of_shapes(shape_invariants)]
        if len(told) != len(arrays):
            raise StaticError(
                f"there are {len(told)} shape_invariants for {len(arrays)} loop variables", hint="give one for each"
            )
        told = [None if isinstance(array, TensorArray) else shape for array, shape in zip(arrays, told, strict=True)]
    last: list[Any] = list(arrays)

    def called(function: Callable[..., Any], keep: bool) -> Callable[..., Any]:
        def call(*symbols: Any) -> Any:
            found = function(*with_leaves(_as_list(loop_vars), map(_as_array, arrays, symbols)))
            leaves = leaves_of(_as_list(found))
            if keep:
                last[:] = leaves
            return [each.rows if isinstance(each, TensorArray) else each for each in leaves]

        return call

    starts = [each.rows if isinstance(each, TensorArray) else each for each in arrays]
    most = None if maximum_iterations is None else int(maximum_iterations)
    found = loop(called(cond, False), called(body, True), starts, name or "while", told, most, Tensor)
    shaped = with_leaves(_as_list(loop_vars), map(_as_array, last, found))
    return shaped[0] if len(shaped) == 1 and not return_same_structure else shaped


def loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    variables: Sequence[Any],
    name: str = "while",
    shapes: Sequence[Any] | None = None,
    most: int | None = None,
    of: type[Symbol] = Symbol,
) -> list[Any]:
    """As `while_loop`, of a flat list of variables, as symbols of any class.

    Args:
        cond: From the variables to a condition.
        body: From the variables to those of the next turn.
        variables: What they are at first.
        name: The node's name.
        shapes: For each its shape in all turns; that at first where it is left out.
        most: So many turns at most.
        of: The class of the symbols that it gives.
    """
    here = builder()
    values = _values(here, [convert(each) for each in variables])
    kept = [value.shape for value in values] if shapes is None else shapes
    types = [(value.node.name, shape, value.dtype) for value, shape in zip(values, kept, strict=True)]
    _, test = _body(here, f"{name}/cond", cond, types, of)
    _, turn = _body(here, f"{name}/body", body, types, of)
    taken = _joined(here, [test, turn], len(values))
    attributes = {"variables": len(values), "most": most}
    node = here.append("while", (*values, *taken), attributes, bodies=(test.graph, turn.graph), name=name)
    return [of.of(value, here) for value in node.outputs]


def _as_array(array: Any, symbol: Any) -> Any:
    """A loop variable as programs see it."""
    return array.with_rows(symbol) if isinstance(array, TensorArray) else symbol


def leaves_of_shapes(shapes: Any) -> list[Any]:
    """The shapes in a nest of them: a list of sizes is one."""
    if isinstance(shapes, TensorShape) or all(each is None or isinstance(each, int) for each in shapes):
        return [shapes]
    return [leaf for each in shapes for leaf in leaves_of_shapes(each)]


def _as_list(loop_vars: Any) -> Any:
    return loop_vars if isinstance(loop_vars, list | tuple) else [loop_vars]


def _body(
    here: Builder,
    name: str,
    function: Callable[..., Any],
    types: Sequence[tuple[str, Any, Any]],
    of: type[Symbol],
) -> tuple[Any, Builder]:
    """A body built by a function, from inputs of these names, shapes and dtypes."""
    inner = Builder(Graph(name), here)
    inner.scope = f"{here.scope}/{name}" if here.scope else name
    given = [of.of(inner.graph.input(*each), inner) for each in types]
    with inner.active():
        structure = function(*given)
        if structure is None:
            raise StaticError(f"the function of {name!r} returns nothing", hint="return a tensor, or several")
        parts = [_outputs(inner, part) for part in leaves_of(structure)]
    inner.graph.outputs = parts
    return structure, inner


def _outputs(inner: Builder, part: Any) -> Value:
    if isinstance(part, Operation):
        return part.node.outputs[0]
    return _values(inner, part)[0]


def _joined(here: Builder, bodies: Sequence[Builder], own: int) -> list[Value]:
    """What bodies take from around them; each is made to take all of it, in one order, behind its own inputs."""
    outside: list[Value] = []
    for inner in bodies:
        for source in inner.captured:
            value = here.captured.get(source, source)
            if value not in outside:
                outside.append(value)
    for inner in bodies:
        known = {here.captured.get(source, source): value for source, value in inner.captured.items()}
        first = inner.graph.inputs[:own]
        rest = [known.get(value) or inner.graph.input(value.node.name, value.shape, value.dtype) for value in outside]
        inner.graph.inputs = [*first, *rest]
    return outside
