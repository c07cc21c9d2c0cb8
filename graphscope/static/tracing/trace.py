"""Tracing: a function becomes the graph of one of its runs, with guards on all that the graph took for granted."""

from __future__ import annotations

import functools
import inspect
import linecache
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from graphscope.engine.core import modes
from graphscope.engine.core.generator import default_generator
from graphscope.engine.core.tensor import Tensor
from graphscope.errors import StaticError
from graphscope.eventlog import record
from graphscope.eventlog.names import Site
from graphscope.static.graphs import interpreter
from graphscope.static.graphs.graph import Graph, Node, Value, spelled
from graphscope.static.graphs.trees import flatten, unflatten
from graphscope.static.passes.telling import tell
from graphscope.static.tracing.guards import GuardError, guarding_reads
from graphscope.static.tracing.tape import taped

_RANDOM: Final = frozenset({"rand", "randn", "randint", "randperm", "normal", "bernoulli", "multinomial", "poisson"})


@dataclass(frozen=True)
class Frozen:
    """Something that a trace took as it was.

    Attributes:
        what: `branch`, `number`, `constant`, `random`, `argument`, `shape` or `outside`.
        text: What it is, in words.
        site: The place in the program, if it has one.
    """

    what: str
    text: str
    site: Site | None = None

    def __str__(self) -> str:
        if self.site is None:
            return f"{self.what}: {self.text}"
        line = linecache.getline(self.site.file, self.site.line).strip()
        return f"{self.what}: {self.text}\n    {self.site.file}:{self.site.line}  {line}"


class Trace:
    """One traced run: a graph, what it was given, what it froze.

    Attributes:
        graph: Inputs are the tensors among the arguments; outputs those among the results.
        frozen: What it took as it was.
        key: What arguments it is for: see `key_of`.
    """

    def __init__(self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        names = _names(function, args, kwargs)
        leaves, form = flatten((args, kwargs))
        self.key = key_of((args, kwargs))
        self.graph = Graph(getattr(function, "__name__", type(function).__name__))
        given = [_like(leaf) if isinstance(leaf, Tensor) else leaf for leaf in leaves]
        before = default_generator.numbers.bit_generator.state
        _name_outside(function)
        with taped(self.graph) as tape:
            for name, leaf in zip(names, given, strict=True):
                if isinstance(leaf, Tensor):
                    tape.take(leaf, self.graph.input(name, leaf.array.shape, leaf.array.dtype))
            again, words = unflatten(form, given)
            with guarding_reads(tape):
                result = function(*again, **words)
            found, self.form = flatten(result)
            self.graph.outputs = [tape.value_of(leaf) for leaf in found if isinstance(leaf, Tensor)]
            self.results = [None if isinstance(leaf, Tensor) else leaf for leaf in found]
            self.places = [place for place, leaf in enumerate(found) if isinstance(leaf, Tensor)]
        drew = before != default_generator.numbers.bit_generator.state
        self.frozen = [
            *_of_arguments(self.graph, names, leaves),
            *(_of_guard(node) for node in tape.guards),
            *(_of_tensor(tensor, site, function, drew) for tensor, site, function in tape.made_of_numbers),
            *(_outside(node) for node in self.graph.nodes if node.op == "variable"),
        ]
        if drew and not any(each.what == "random" for each in self.frozen):
            self.frozen.append(Frozen("random", "random numbers were drawn; the same are used in each run"))
        if not drew:
            arrays = [leaf.array for leaf in found if isinstance(leaf, Tensor)]
            self._check([leaf for leaf in leaves if isinstance(leaf, Tensor)], arrays)

    def _check(self, tensors: Sequence[Tensor], expected: Sequence[Any]) -> None:
        """See that the graph gives what the function gave."""
        with modes.grad_mode(False), record.recording_to(None):
            found = interpreter.run(self.graph, tensors)
        for value, one, other in zip(self.graph.outputs, found, expected, strict=True):
            if one.array.shape != other.shape or not np.allclose(
                one.array, other, rtol=1e-4, atol=1e-5, equal_nan=True
            ):
                raise StaticError(
                    f"the trace of {self.graph.name!r} does not give what the function gave: {value.node.where}",
                    hint="something was written in place through a view, or beside the engine: make new tensors",
                )

    def rebuilt(self, tensors: Sequence[Any]) -> Any:
        """The result as the function returns it, from its tensors."""
        results = list(self.results)
        for place, tensor in zip(self.places, tensors, strict=True):
            results[place] = tensor
        return unflatten(self.form, results)


class Traced:
    """A function that runs its graph; see `trace`.

    Attributes:
        traces: One for each kind of arguments so far, the newest last.
    """

    def __init__(self, function: Callable[..., Any], on_change: str = "retrace") -> None:
        if on_change not in ("retrace", "refuse"):
            raise StaticError(f"on_change={on_change!r}", hint="choose 'retrace' or 'refuse'")
        self.function = function
        self.on_change = on_change
        self.traces: list[Trace] = []
        functools.update_wrapper(self, function, updated=())

    @property
    def graph(self) -> Graph:
        """The graph of the newest trace."""
        return self.traces[-1].graph

    @property
    def frozen(self) -> list[Frozen]:
        """What the newest trace took as it was."""
        return self.traces[-1].frozen

    def account(self) -> str:
        """What the newest trace took as it was, with source lines."""
        return "\n".join(map(str, self.frozen)) or "nothing"

    def add(self, *args: Any, **kwargs: Any) -> Trace:
        """Trace it with these arguments, too."""
        made = Trace(self.function, args, kwargs)
        self.traces.append(made)
        return made

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the graph that fits the arguments; what happens when none does, `on_change` says."""
        leaves, form = flatten((args, kwargs))
        key = _key(leaves, form)
        tensors = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
        broken: GuardError | None = None
        for each in reversed(self.traces):
            if each.key == key:
                try:
                    return each.rebuilt(self._run(each, tensors))
                except GuardError as error:
                    broken = error
        if self.on_change == "refuse":
            raise broken or _unknown(self, args, kwargs)
        made = self.add(*args, **kwargs)
        return made.rebuilt(self._run(made, tensors))

    def _run(self, trace: Trace, tensors: Sequence[Tensor]) -> Sequence[Any]:
        tell(trace.graph)
        return interpreter.run(trace.graph, tensors)


def trace(function: Callable[..., Any], *examples: Any, on_change: str = "retrace") -> Traced:
    """Run a function once and keep the graph of what it did; the result runs that graph.

    The result is differentiated like any function. It guards what the trace took for granted: shapes and dtypes of the
    arguments, their other values, and numbers that the function read off tensors (to branch, say).

    Args:
        function: A function of tensors; tensors that it uses from outside are read anew at each run.
        *examples: Its arguments; as in PyTorch, a single tuple holds them all.
        on_change: What to do when a guard fails: `retrace` (and keep both) or `refuse` (raise).

    Raises:
        StaticError: The function does what no graph can: a backward pass, a `Function` of its own.
    """
    given = examples[0] if len(examples) == 1 and isinstance(examples[0], tuple) else examples
    traced = Traced(function, on_change)
    traced.add(*given)
    return traced


def key_of(arguments: Any) -> Any:
    """What a trace depends on in its arguments: their form, types of tensors, values of what else there is."""
    return _key(*flatten(arguments))


def _key(leaves: Sequence[Any], form: Any) -> Any:
    return form, tuple(
        (leaf.array.shape, leaf.array.dtype) if isinstance(leaf, Tensor) else (leaf.__class__, leaf) for leaf in leaves
    )


def _like(tensor: Tensor) -> Tensor:
    """A tensor with the same elements, for the function to do with as it likes."""
    made = Tensor(np.array(tensor.array)[()], requires_grad=tensor.requires_grad)
    return made if tensor.node is None else made * 1


def _name_outside(function: Callable[..., Any]) -> None:
    """Let tensors that the function takes from around it bear the names that it knows them by."""
    if not inspect.isfunction(function):
        return
    around = inspect.getclosurevars(function)
    for name, value in (*around.globals.items(), *around.nonlocals.items()):
        if isinstance(value, Tensor) and not value.name:
            value.name = name


def _names(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[str]:
    """A name for each leaf among the arguments: that of its parameter.

    Raises:
        StaticError: It is no function, or there are too few examples or too many.
    """
    if not callable(function):
        raise StaticError(
            f"a function is traced, not {type(function).__name__}", hint="give the function, then examples"
        )
    try:
        words = list(inspect.signature(function).bind(*args, **kwargs).signature.parameters)
    except TypeError as error:
        name = getattr(function, "__name__", type(function).__name__)
        raise StaticError(
            f"{name!r} can't be called with {len(args) + len(kwargs)} examples: {error}",
            hint="give an example of each argument behind the function: trace(f, x, y)",
        ) from None
    except ValueError:  # a function of C, whose signature is not told
        return [f"x{number}" for number in range(len(flatten((args, kwargs))[0]))]
    named = [(words[min(place, len(words) - 1)], value) for place, value in enumerate(args)]
    return [name for name, value in (*named, *kwargs.items()) for _ in flatten(value)[0]]


def _of_arguments(graph: Graph, names: Sequence[str], leaves: Sequence[Any]) -> list[Frozen]:
    shapes = [Frozen("shape", f"{value.name} is {spelled(value.shape, value.dtype)}") for value in graph.inputs]
    others = [(name, leaf) for name, leaf in zip(names, leaves, strict=True) if not isinstance(leaf, Tensor)]
    return shapes + [Frozen("argument", f"{name} is {leaf!r}") for name, leaf in others]


def _of_guard(node: Node) -> Frozen:
    expected = node.attributes["expected"]
    if expected.dtype == np.bool_ and expected.size == 1:
        return Frozen("branch", f"{node.inputs[0].name} was {bool(expected)}; the other way was not taken", node.site)
    text = str(expected.item()) if expected.size == 1 else f"an array of shape {expected.shape}"
    return Frozen("number", f"{node.inputs[0].name} was read: {text}", node.site)


def _of_tensor(tensor: Tensor, site: Site | None, function: str, drew: bool) -> Frozen:
    random = drew and function in _RANDOM
    text = f"{function}(...) gave {spelled(tensor.array.shape, tensor.array.dtype)}; each run uses the same numbers"
    return Frozen("random" if random else "constant", text, site)


def _outside(node: Node) -> Frozen:
    value: Value = node.outputs[0]
    return Frozen("outside", f"{value.name} ({spelled(value.shape, value.dtype)}) is read at each run", node.site)


def _unknown(traced: Traced, args: tuple[Any, ...], kwargs: dict[str, Any]) -> GuardError:
    leaves = [leaf for leaf in flatten((args, kwargs))[0] if isinstance(leaf, Tensor)]
    given = ", ".join(spelled(leaf.array.shape, leaf.array.dtype) for leaf in leaves)
    known = " or ".join(
        ", ".join(spelled(value.shape, value.dtype) for value in each.graph.inputs) for each in traced.traces
    )
    return GuardError(
        f"{traced.graph.name!r} was traced for ({known}), and is called with ({given})",
        hint="call add(...) with such arguments first, or trace with on_change='retrace'",
    )
