"""Variables that are asked for by name: `get_variable` in a `variable_scope`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np

from graphscope.errors import StaticError
from graphscope.static.graphs.symbols import Symbol
from graphscope.static.sessions.default_graph import builder, get_default_graph
from graphscope.static.sessions.graph_collections import GraphKeys
from graphscope.static.sessions.initializers import glorot_uniform_initializer
from graphscope.static.sessions.variables import Variable
from graphscope.static.words.operands import array_of, of_dtype
from graphscope.static.words.tensors import as_shape

__all__ = ["AUTO_REUSE", "VariableScope", "get_variable", "get_variable_scope", "variable_scope"]


class _AutoReuse:
    """Asks for the variable of a name where there is one, and for a new one elsewhere."""

    def __repr__(self) -> str:
        return "AUTO_REUSE"


AUTO_REUSE: Final = _AutoReuse()


@dataclass(eq=False)
class VariableScope:
    """What variables made inside of a scope have in common.

    Attributes:
        name: Stands before their names.
        original_name_scope: That of the nodes made inside.
        reuse: Whether `get_variable` gives those that are there.
    """

    name: str = ""
    original_name_scope: str = ""
    reuse: Any = False
    initializer: Any = None
    regularizer: Any = None
    dtype: Any = None

    def reuse_variables(self) -> None:
        """From now on, `get_variable` gives the variables that are there."""
        self.reuse = True


@dataclass
class _Named:
    """The variables by name of a graph, the scopes that are open, and how often each was."""

    known: dict[str, Variable] = field(default_factory=dict)
    scopes: list[VariableScope] = field(default_factory=lambda: [VariableScope()])
    counts: dict[str, int] = field(default_factory=dict)


_NAMED: Final = "variables by name"
"""The collection of a graph that keeps a `_Named`."""


def _named() -> _Named:
    kept = get_default_graph().get_collection_ref(_NAMED)
    if not kept:
        kept.append(_Named())
    return kept[0]  # type: ignore[no-any-return]


def get_variable_scope() -> VariableScope:
    """The scope that is open."""
    return _named().scopes[-1]


@contextmanager
def variable_scope(
    name_or_scope: Any,
    default_name: str | None = None,
    values: Any = None,
    initializer: Any = None,
    regularizer: Any = None,
    caching_device: Any = None,
    partitioner: Any = None,
    custom_getter: Any = None,
    reuse: Any = None,
    dtype: Any = None,
    use_resource: Any = None,
    constraint: Any = None,
    auxiliary_name_scope: bool = True,
) -> Iterator[VariableScope]:
    """Variables that `get_variable` makes inside are called `NAME/...`; with `reuse` it gives those of before.

    Args:
        name_or_scope: A name, within the scope that is open; or a scope, to be opened once more.
        default_name: A name in the place of None, with a number behind it where there is such a scope.
        values: Accepted for TensorFlow's sake.
        initializer: Of variables that are given none.
        regularizer: Likewise.
        caching_device: Accepted.
        partitioner: Accepted.
        custom_getter: Not here.
        reuse: True, False, AUTO_REUSE, or None: as around it.
        dtype: Of variables that are given none.
        use_resource: Accepted.
        constraint: Not here.
        auxiliary_name_scope: Whether nodes made inside are called `NAME/...`, too.

    Raises:
        StaticError: There is no name, or an argument is not here.
    """
    if custom_getter is not None or constraint is not None:
        raise StaticError("variable_scope takes neither custom_getter nor constraint here", hint="leave them out")
    if name_or_scope is None and default_name is None:
        raise StaticError("a variable_scope needs a name", hint='variable_scope("layer")')
    named = _named()
    around = named.scopes[-1]
    again = isinstance(name_or_scope, VariableScope)
    name = name_or_scope.name if again else _within(named, around, name_or_scope, default_name)
    inherited = name_or_scope if again else around
    scope = replace(
        inherited,
        name=name,
        reuse=reuse or around.reuse or (again and name_or_scope.reuse),
        initializer=initializer or inherited.initializer,
        regularizer=regularizer or inherited.regularizer,
        dtype=dtype or inherited.dtype,
    )
    if not again:
        named.counts[name] = named.counts.get(name, 0) + 1
    named.scopes.append(scope)
    try:
        last = name.rpartition("/")[2]
        here = builder()
        with here.named(last if last and auxiliary_name_scope else f"{here.scope}/") as nodes:
            if not again:
                scope.original_name_scope = nodes
            yield scope
    finally:
        named.scopes.pop()


def _within(named: _Named, around: VariableScope, name: str | None, default_name: str | None) -> str:
    """The whole name of a scope that is opened by one."""
    before = f"{around.name}/" if around.name else ""
    if name is not None:
        return before + name
    found, count = f"{before}{default_name}", 0
    while found in named.counts:
        count += 1
        found = f"{before}{default_name}_{count}"
    return found


def get_variable(
    name: str,
    shape: Any = None,
    dtype: Any = None,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool | None = None,
    collections: Any = None,
    caching_device: Any = None,
    partitioner: Any = None,
    validate_shape: bool = True,
    use_resource: Any = None,
    custom_getter: Any = None,
    constraint: Any = None,
    synchronization: Any = None,
    aggregation: Any = None,
) -> Variable:
    """The variable of a name: a new one, or with `reuse` of the scope the one that is there.

    Args:
        name: Its name in the scope.
        shape: Its shape; an initializer that is an array has one.
        dtype: Of its elements; float32 unless the scope or the initializer tells.
        initializer: A function of a shape and `dtype`, or an array; by default `glorot_uniform_initializer()`.
        regularizer: A function whose loss enters the collection REGULARIZATION_LOSSES.
        trainable: Whether optimizers train it unless told otherwise.
        collections: Names of the collections that it enters.
        caching_device: Accepted for TensorFlow's sake.
        partitioner: Accepted.
        validate_shape: Accepted.
        use_resource: Accepted.
        custom_getter: Not here.
        constraint: Not here.
        synchronization: Accepted.
        aggregation: Accepted.

    Raises:
        StaticError: There is one and `reuse` is not set, or there is none and it is; or the shape is not told.
    """
    if custom_getter is not None or constraint is not None:
        raise StaticError("get_variable takes neither custom_getter nor constraint here", hint="leave them out")
    named = _named()
    scope = named.scopes[-1]
    full = f"{scope.name}/{name}" if scope.name else name
    if full in named.known:
        return _again(named.known[full], full, shape, scope)
    if scope.reuse is True:
        raise StaticError(f"there is no variable {full!r} to reuse", hint="make it first, in a scope without reuse")
    start = initializer if initializer is not None else scope.initializer
    if shape is None and (start is None or callable(start)):
        raise StaticError(f"the shape of the variable {full!r} is not told", hint="get_variable(name, [3, 2])")
    chosen = dtype or scope.dtype
    here = builder()
    with here.named(None):
        value = start if start is not None and not callable(start) else _begun(start, shape, chosen, full)
        if shape is not None and not isinstance(value, Symbol):
            value = _shaped(value, as_shape(shape), full)
        made = named.known[full] = Variable(value, trainable, collections, name=full, dtype=chosen)
    regular = regularizer or scope.regularizer
    if regular is not None:
        with here.named(f"{here.scope}/"):
            loss = regular(made)
        if loss is not None:
            get_default_graph().add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)
    return made


def _again(known: Variable, full: str, shape: Any, scope: VariableScope) -> Variable:
    if not scope.reuse:
        raise StaticError(
            f"there is a variable {full!r} already", hint="variable_scope(NAME, reuse=True) gives it once more"
        )
    if shape is not None and as_shape(shape) != known.output.shape:
        raise StaticError(
            f"the variable {full!r} has shape {known.shape}, and {as_shape(shape)} is asked for",
            hint="ask for it with its own shape, or give the other one another name",
        )
    return known


def _begun(start: Any, shape: Any, dtype: Any, full: str) -> Any:
    """What an initializer makes of a shape."""
    sizes = as_shape(shape)
    if sizes is None or None in sizes:
        raise StaticError(f"the shape of the variable {full!r} is not known", hint="get_variable(name, [3, 2])")
    wanted = np.dtype(np.float32) if dtype is None else of_dtype(dtype)
    if start is None and wanted.kind != "f":
        return np.zeros(sizes, wanted)
    made = start or glorot_uniform_initializer()
    made = made() if isinstance(made, type) else made
    return made(list(sizes), dtype=wanted)


def _shaped(value: Any, shape: Any, full: str) -> Any:
    array = array_of(value)
    if array.shape != shape:
        raise StaticError(f"the initial value of {full!r} has shape {array.shape}, not {shape}", hint="leave shape out")
    return value
