"""`jit.script`: a function whose graph is made from its source."""

from __future__ import annotations

import ast
import functools
import inspect
import textwrap
from collections.abc import Callable
from typing import Any

import numpy as np

from graphscope.engine.core.tensor import Tensor
from graphscope.errors import StaticError
from graphscope.static.graphs import interpreter
from graphscope.static.graphs.graph import Graph
from graphscope.static.graphs.graph_builder import Builder, current
from graphscope.static.graphs.symbols import Symbol, plain
from graphscope.static.graphs.trees import flatten, leaves_of, unflatten, with_leaves
from graphscope.static.passes.telling import tell
from graphscope.static.script.expressions import Names, as_symbol
from graphscope.static.script.statements import RESULT, Blocks
from graphscope.static.script.subset import REFUSED, Source
from graphscope.static.tracing.trace import key_of


class Scripted:
    """A function that runs the graph that its source says; see `script`.

    Attributes:
        graphs: One for each kind of arguments so far.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.source = _source(function)
        self.graphs: dict[Any, tuple[Graph, Any]] = {}
        self._signature = inspect.signature(function)
        self._plain = all(each.kind is each.POSITIONAL_OR_KEYWORD for each in self._signature.parameters.values())
        for node in ast.walk(self.source.tree):
            if type(node) in REFUSED and node is not self.source.tree:
                raise self.source.refused(node)
        self._over = _iterated(self.source.tree)
        functools.update_wrapper(self, function, updated=())

    @property
    def graph(self) -> Graph:
        """The newest graph.

        Raises:
            StaticError: It was not called yet.
        """
        if not self.graphs:
            raise StaticError(f"{self.__name__} has no graph yet", hint="call it once, or ask graph_for(arguments)")  # type: ignore[attr-defined]
        return list(self.graphs.values())[-1][0]

    def graph_for(self, *args: Any, **kwargs: Any) -> Graph:
        """The graph for arguments of these types. Its first dim is open where the function loops over it."""
        return self._made(self._called(args, kwargs))[0]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the graph for arguments of these types; it is made when they are new."""
        called = self._called(args, kwargs)
        graph, form = self._made(called)
        tensors = [leaf for leaf in flatten(called)[0] if isinstance(leaf, Tensor)]
        tell(graph)
        return unflatten(form, interpreter.run(graph, tensors))

    def inline(self, *args: Any, **kwargs: Any) -> Any:
        """Add what it computes to the graph that is being built."""
        called = self._called(args, kwargs)
        outer = current().site
        with current().inside(self.function.__name__):
            result = self._run(called)
        current().site = outer
        return result

    def _called(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """The arguments by name."""
        if self._plain and not kwargs and len(args) == len(self._signature.parameters):
            return dict(zip(self._signature.parameters, args, strict=True))
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return dict(bound.arguments)

    def _run(self, arguments: dict[str, Any]) -> Any:
        names = Names()
        names.update(with_leaves(arguments, map(plain, leaves_of(arguments))))
        blocks = Blocks(self.source, _outside(self.function), _scripted)
        blocks.given = leaves_of(dict(names))
        blocks.run(self.source.tree.body, names)
        return names.get(RESULT)

    def _made(self, called: dict[str, Any]) -> tuple[Graph, Any]:
        arguments = {name: tuple(value) if isinstance(value, list) else value for name, value in called.items()}
        key = key_of({name: self._opened(name, value) for name, value in arguments.items()})
        if key not in self.graphs:
            self.graphs[key] = self._build(arguments)
        return self.graphs[key]

    def _opened(self, name: str, value: Any) -> Any:
        """What stands for an argument in the key: of one that is looped over, a row."""
        if name in self._over and isinstance(value, Tensor) and value.array.ndim:
            return ("rows", Tensor(np.empty(value.array.shape[1:], value.array.dtype)))
        return value

    def _build(self, arguments: dict[str, Any]) -> tuple[Graph, Any]:
        graph = Graph(self.function.__name__)
        builder = Builder(graph)
        given: dict[str, Any] = {}
        for name, value in arguments.items():
            leaves, form = flatten(value)
            made = [self._input(builder, name, leaf) if isinstance(leaf, Tensor) else leaf for leaf in leaves]
            given[name] = unflatten(form, made)
        with builder.active():
            result = self._run(given)
            leaves, form = flatten(result)
            graph.outputs = [builder.take(s.output, s.builder) for s in map(as_symbol, leaves)]
        graph.validate()
        return graph, form

    def _input(self, builder: Builder, name: str, tensor: Tensor) -> Symbol:
        shape: Any = tensor.array.shape
        if name in self._over and shape:
            shape = (None, *shape[1:])
        site = self.source.site(self.source.tree)
        return Symbol.of(builder.graph.input(name, shape, tensor.array.dtype, site), builder)


def script(function: Callable[..., Any]) -> Scripted:
    """Compile a function to a graph with control flow, from its source: a decorator.

    The graph is made for the types of the arguments when it is called first. What can be used: assignments, also to
    parts (`y[0] = 1`), `if`, `while`, `for` over ranges, tensors and tuples, `break`, `continue`, early returns,
    tuples, lists and dicts of tensors, comprehensions, `.item()`, random numbers, ops, and calls of functions that can
    be scripted. A number that a loop changes becomes a tensor of no dims.

    Raises:
        ScriptError: A construct is outside of the subset; the message shows the line.
        StaticError: The source of the function is not to be had.
    """
    return Scripted(function)


@functools.lru_cache(256)
def _scripted(function: Callable[..., Any]) -> Scripted:
    """A function that a scripted one calls."""
    return Scripted(function)


def _source(function: Callable[..., Any]) -> Source:
    if not callable(function):
        raise StaticError(f"script takes a function, not {type(function).__name__}", hint="define one, with def")
    try:
        lines, first = inspect.getsourcelines(function)
        file = inspect.getsourcefile(function) or "<unknown>"
    except (OSError, TypeError) as error:
        raise StaticError(f"the source of {function!r} is not to be had", hint="write it to a file") from error
    text = "".join(lines)
    dedented = textwrap.dedent(text)
    indent = len(lines[0]) - len(lines[0].lstrip())
    tree = ast.parse(dedented).body[0]
    if not isinstance(tree, ast.FunctionDef):
        raise StaticError(f"{file}:{first} defines no function", hint="script a function that `def` defines")
    return Source(tree, file, first, indent, function.__qualname__)


def _outside(function: Any) -> dict[str, Any]:
    """The names that a function sees around it."""
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    return {**function.__globals__, **{name: plain(cell.cell_contents) for name, cell in cells.items()}}


def _iterated(tree: ast.FunctionDef) -> set[str]:
    """The arguments over whose first dim the function loops."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.For) and isinstance(node.iter, ast.Name):
            names.add(node.iter.id)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len":
            names.update(each.id for each in node.args if isinstance(each, ast.Name))
    return names
