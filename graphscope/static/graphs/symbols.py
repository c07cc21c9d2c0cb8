"""Symbols, tensors that have no numbers yet, and the engine's own functions run on them."""

from __future__ import annotations

import builtins
import functools
import inspect
import math
from collections.abc import Callable, Iterator
from types import CellType, FunctionType
from typing import Any, Final, TypeVar

import numpy as np

from graphscope.engine.core import dtypes
from graphscope.engine.core.generator import generator
from graphscope.engine.core.op import OPS, Joint, Op
from graphscope.engine.core.tensor import Tensor
from graphscope.engine.core.tensor import apply as apply_to_tensors
from graphscope.engine.core.writing import write
from graphscope.engine.ops.create import made
from graphscope.errors import StaticError
from graphscope.static.graphs import dynamic_shapes, graph_builder
from graphscope.static.graphs.abstract import Abstract, NeedsValueError
from graphscope.static.graphs.graph import Value

# `twin(function)` is a function of the engine as it is, but in a world where an op adds a node to the graph that is
# being built, and `Tensor` means `Symbol`. So the rules by which gradients go back, the functions that read the
# arguments of an op, and all that people call are written once. What looks at numbers in a tensor can't run there and
# says so.


_Function = TypeVar("_Function", bound=Callable[..., Any])


class Symbol:
    """A tensor that has no numbers yet. Its operators and methods are those of `Tensor`; each adds a node."""

    __slots__ = ("builder", "output")
    __array_ufunc__ = None
    __array_priority__ = 2000
    node = None
    wants_grad = requires_grad = False
    base = None
    identity = row = -1

    def __init__(self, data: Any, *, requires_grad: bool = False) -> None:
        self.builder = graph_builder.current()
        self.output: Value = self.builder.constant(np.asarray(data))

    @classmethod
    def of(cls, value: Value, builder: graph_builder.Builder) -> Symbol:
        """The symbol of a value."""
        symbol = object.__new__(cls)
        symbol.output = value
        symbol.builder = builder
        return symbol

    @property
    def name(self) -> str:
        """As TensorFlow writes it."""
        return self.output.name

    @property
    def shape(self) -> Any:
        """Its shape; None stands for a dim that is not known.

        Raises:
            NeedsValueError: Not even the number of dims is known.
        """
        if self.output.shape is None:
            raise NeedsValueError(f"the number of dims of {self.output.name!r} is not known before it runs")
        return self.output.shape

    @property
    def dtype(self) -> Any:
        """Its dtype."""
        return self.output.dtype

    @property
    def ndim(self) -> int:
        """The number of dims."""
        return len(self.shape)

    @property
    def array(self) -> Abstract:
        """What is known of its array."""
        return Abstract(self.shape, self.dtype)

    def size(self, dim: int | None = None) -> Any:
        """Its shape, or one dim."""
        return self.shape if dim is None else self.shape[dim]

    def dim(self) -> int:
        """The number of dims."""
        return self.ndim

    def detach(self) -> Symbol:
        """The same value, through which no gradient goes."""
        here = graph_builder.current()
        node = here.append("stop_gradient", (here.take(self.output, self.builder),), {})
        return Symbol.of(node.outputs[0], here)

    def contiguous(self) -> Symbol:
        """Itself: how it lies in memory is for the plan."""
        return self

    def numel(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    def __len__(self) -> int:
        return int(self.shape[0])

    def __iter__(self) -> Iterator[Symbol]:
        if self.ndim == 0 or self.shape[0] is None:
            raise NeedsValueError(
                f"{self.output.name!r}: how many there are to iterate over is not known before it runs"
            )
        return (self[place] for place in range(self.shape[0]))

    def __getattr__(self, name: str) -> Any:
        found = inspect.getattr_static(Tensor, name, None)
        if isinstance(found, property):
            return twin(found.fget)(self)
        if not callable(found) or name.startswith("__"):
            raise AttributeError(f"a tensor of a graph has no attribute {name!r}")
        return functools.partial(twin(found), self)

    def _no_value(self, *_: Any) -> Any:
        raise NeedsValueError(
            f"{self.output.node.where} has no value before the graph runs",
            hint="use ops: where or cond instead of if, while_loop instead of while; or look at it after a run",
        )

    def backward(self, *_: Any, **__: Any) -> None:
        """Always an error: gradients of a graph are nodes of it."""
        raise StaticError(
            f"backward() of {self.output.node.where}, which has no value before the graph runs",
            hint="ask for nodes, and run them: gradients(loss, [x]), or Optimizer(...).minimize(loss)",
        )

    __bool__ = __int__ = __float__ = __index__ = __array__ = __complex__ = _no_value
    item = tolist = numpy = _no_value
    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return repr(self.output)

    def __setitem__(self, index: Any, value: Any) -> None:
        _written()

    def __eq__(self, other: object) -> Any:
        return twin(Tensor.__eq__)(self, other)

    def __ne__(self, other: object) -> Any:
        return twin(Tensor.__ne__)(self, other)

    def __getitem__(self, index: Any) -> Any:
        if any(isinstance(part, Symbol) for part in (index if isinstance(index, tuple) else (index,))):
            return dynamic_shapes.call(Tensor.__getitem__, (self, index), {}, Symbol)
        return twin(Tensor.__getitem__)(self, index)


def plain(thing: Any) -> Any:
    """A symbol with the operators of the engine, whatever class of symbols it is of; anything else as it is."""
    return (
        Symbol.of(thing.output, thing.builder) if isinstance(thing, Symbol) and thing.__class__ is not Symbol else thing
    )


def _operator(name: str) -> Any:
    def call(self: Symbol, *others: Any) -> Any:
        return twin(getattr(Tensor, name))(self, *others)

    return call


_OPERATORS: Final = (
    "neg", "pos", "abs", "invert", "add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "floordiv",
    "rfloordiv", "mod", "rmod", "pow", "rpow", "matmul", "rmatmul", "lt", "le", "gt", "ge", "and", "rand", "or", "ror",
    "xor", "rxor",
)  # fmt: skip

for _name in _OPERATORS:
    if hasattr(Tensor, f"__{_name}__"):
        setattr(Symbol, f"__{_name}__", _operator(f"__{_name}__"))


# Ops on symbols -------------------------------------------------------------------------------------------------------


def call(op: Op, *args: Any, **kwargs: Any) -> Any:
    """Call an op as people do, to add its node; where a size is asked for that is not known, one that is deferred."""
    if op.in_place:
        return _call(op, *args, **kwargs)
    return dynamic_shapes.or_deferred(functools.partial(_call, op), op.call, args, kwargs, Symbol, by_value=True)


def _call(op: Op, *args: Any, **kwargs: Any) -> Any:
    if op.composite:
        with graph_builder.current().inside(op.name):
            return twin(op.forward)(*args, **kwargs)
    inputs, attrs = twin(op.prepare)(*args, **kwargs) if op.prepare else (args, kwargs)
    return apply(op, inputs, attrs)


def apply(op: Op, inputs: Any, attrs: Any = None, depth: int = 0) -> Any:
    """Add the node of an op; the twin of `engine.tensor.apply`."""
    if op.in_place:
        _written()
    if not any(isinstance(value, Symbol | Tensor) for value in inputs):
        found = op.forward(*inputs, **(attrs or {}))
        found = found[0] if op.residuals else found
        return op.result(found) if op.several else found
    for name in dynamic_shapes.SIZES:
        if attrs and None in (attrs.get(name) or ()):
            raise NeedsValueError(f"{op.name} asks for a size that is not known before it runs")
    builder = graph_builder.current()
    values = [_operand(builder, value) for value in inputs]
    if op.promotes or op.floating:
        values = _promoted(op, values, builder)
    node = builder.append(op.name, values, attrs or {})
    outs = [Symbol.of(value, builder) for value in node.outputs]
    return op.result(outs) if op.several else outs[0]


def _operand(builder: graph_builder.Builder, value: Any) -> Any:
    return builder.take(value.output, value.builder) if isinstance(value, Symbol) else builder.operand(value)


def _promoted(op: Op, values: list[Any], builder: graph_builder.Builder) -> list[Any]:
    """The operands brought to one dtype, by nodes that convert them."""
    known = [value for value in values if isinstance(value, Value)]
    if any(value.dtype is None or value.shape is None for value in known):
        return values
    given = [Abstract(v.shape, v.dtype) if isinstance(v, Value) else v for v in values if v is not None]
    if not op.floating and (not op.promotes or len(given) == 1):
        return values
    dtype = dtypes.common(op, given if op.promotes else given[:1])
    return [
        call(OPS["to"], Symbol.of(v, builder), dtype).output if isinstance(v, Value) and v.dtype != dtype else v
        for v in values
    ]


# Twins ----------------------------------------------------------------------------------------------------------------


def _written(*_: Any, **__: Any) -> Any:
    raise NeedsValueError(
        "a write in place has no place in a graph that runs later", hint="use the op without the underscore"
    )


def _drawn(*_: Any, **__: Any) -> Any:
    raise NeedsValueError(
        "random numbers drawn while the graph is built would be the same in each run",
        hint="draw them outside and feed them, or use an op that draws when it runs, such as bernoulli",
    )


def _made(array: Any, *_: Any, **__: Any) -> Any:
    return Symbol(array)


class _Ops(dict[str, Any]):
    def __missing__(self, name: str) -> Any:
        return _Face(OPS[name])


class _Face:
    """An op in the world of symbols."""

    def __init__(self, op: Op) -> None:
        self._op = op
        self.call = functools.partial(call, op)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._op, name)


_OF_SYMBOLS: Final[dict[int, Any]] = {
    id(Tensor): Symbol,
    id(OPS): _Ops(),
    id(apply_to_tensors): apply,
    id(write): _written,
    id(generator): _drawn,
    id(made): _made,
}
"""What other things mean in the world of symbols, by identity."""


def stands_for(function: Any) -> Callable[[_Function], _Function]:
    """Let another function stand for one in the world of symbols: a decorator of the other."""

    def decorate(other: _Function) -> _Function:
        _OF_SYMBOLS[id(function)] = other
        _kept.append(function)
        return other

    return decorate


@functools.cache
def _calls() -> dict[int, Op]:
    return {id(op.call): op for op in OPS.values()}


_twins: Final[dict[int, Any]] = {}
_worlds: Final[dict[int, _World]] = {}


def twin(thing: Any) -> Any:
    """A function of the engine that runs on symbols; what is no such function, as it is."""
    if isinstance(thing, FunctionType | functools.partial | Joint) or id(thing) in _calls() or _is_table(thing):
        found = _twins.get(id(thing))
        if found is None:
            found = _twins[id(thing)] = _twin(thing)
            _kept.append(thing)
        return found
    try:
        return _OF_SYMBOLS.get(id(thing), thing)
    except TypeError:
        return thing


def _is_table(thing: Any) -> bool:
    """Whether it is a dict of functions, such as forms of an op."""
    return thing.__class__ is dict and bool(thing) and all(id(each) in _calls() for each in thing.values())


_kept: Final[list[Any]] = []
"""What has a twin stays alive, so that its identity stays its own."""


def _twin(thing: Any) -> Any:
    if id(thing) in _OF_SYMBOLS:
        return _OF_SYMBOLS[id(thing)]
    if id(thing) in _calls():
        return functools.partial(call, _calls()[id(thing)])
    if _is_table(thing):
        return {key: twin(each) for key, each in thing.items()}
    if isinstance(thing, Joint):
        return Joint(twin(thing.rule))
    if isinstance(thing, functools.partial):
        return functools.partial(twin(thing.func), *thing.args, **thing.keywords)
    if not (thing.__module__ or "").startswith("graphscope."):
        return thing
    world = _worlds.get(id(thing.__globals__))
    if world is None:
        world = _worlds[id(thing.__globals__)] = _World(thing.__globals__)
    closure = tuple(map(_cell, thing.__closure__)) if thing.__closure__ else None
    made = FunctionType(thing.__code__, world, thing.__name__, thing.__defaults__, closure)
    made.__kwdefaults__ = thing.__kwdefaults__
    return _by_size(thing, made) if thing.__name__ in dynamic_shapes.BY_SIZE else made


def _by_size(function: Any, made: Any) -> Any:
    """The twin of a function that goes by the size of a dim: where that is not known, the call is deferred."""
    signature = inspect.signature(function)

    def run(*args: Any, **kwargs: Any) -> Any:
        x, *_ = args
        dim = signature.bind(*args, **kwargs).arguments.get("dim", 0)
        if isinstance(x, Symbol) and -x.ndim <= dim < x.ndim and x.shape[dim] is None:
            return dynamic_shapes.call(function, args, kwargs, Symbol)
        return made(*args, **kwargs)

    _twins[id(run)] = run
    _kept.append(run)
    return run


class _World(dict[str, Any]):
    """The globals of a module, each as its twin, found when it is first asked for."""

    def __init__(self, names: dict[str, Any]) -> None:
        super().__init__(__builtins__=builtins, __name__=names["__name__"])
        self._names = names

    def __missing__(self, name: str) -> Any:
        value = self[name] = twin(self._names[name])
        return value


def _cell(cell: CellType) -> CellType:
    try:
        return CellType(twin(cell.cell_contents))
    except ValueError:  # empty
        return cell
