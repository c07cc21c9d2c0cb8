"""Tensors, operations and shapes as programs of TensorFlow 1 know them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from graphscope.errors import StaticError
from graphscope.static.graphs.abstract import NeedsValueError
from graphscope.static.graphs.graph import Node, Value, fits
from graphscope.static.graphs.symbols import Symbol, plain
from graphscope.static.words.element_types import DType


class Dimension(int):
    """A size that is known: a number, and as `value` that number once more."""

    @property
    def value(self) -> int:
        """The number."""
        return int(self)


class UnknownDimension:
    """A size that is told when the graph runs."""

    value = None

    def __eq__(self, other: object) -> Any:
        return None if isinstance(other, int | UnknownDimension) else other is None

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "?"


class TensorShape:
    """A shape; None stands for what is not known of it.

    Args:
        dims: Sizes, None among them; or None, where not even their number is known.
    """

    def __init__(self, dims: Any) -> None:
        if isinstance(dims, int):
            dims = [dims]
        self._dims = None if dims is None else [getattr(size, "value", size) for size in dims]

    @property
    def ndims(self) -> int | None:
        """How many dims there are."""
        return None if self._dims is None else len(self._dims)

    rank = ndims

    @property
    def dims(self) -> list[Any] | None:
        """The sizes."""
        return None if self._dims is None else list(self)

    def as_list(self) -> list[int | None]:
        """The sizes, as a list.

        Raises:
            StaticError: Not even their number is known.
        """
        if self._dims is None:
            raise StaticError("the number of dims is not known before the graph runs", hint="x.set_shape([None, 3])")
        return list(self._dims)

    def is_fully_defined(self) -> bool:
        """Whether all is known of it."""
        return self._dims is not None and None not in self._dims

    def num_elements(self) -> int | None:
        """The product of the sizes; None where one is not known."""
        if not self.is_fully_defined():
            return None
        count = 1
        for size in self._dims or ():
            count *= size or 0
        return count

    def is_compatible_with(self, other: Any) -> bool:
        """Whether both may be the same."""
        return fits(as_shape(self), as_shape(other))

    def __len__(self) -> int:
        return len(self.as_list())

    def __iter__(self) -> Iterator[Any]:
        return (_dimension(size) for size in self.as_list())

    def __getitem__(self, index: Any) -> Any:
        found = self.as_list()[index]
        return TensorShape(found) if isinstance(index, slice) else _dimension(found)

    def __bool__(self) -> bool:
        return self._dims is not None

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Sequence) or other is None or isinstance(other, TensorShape):
            return bool(as_shape(self) == as_shape(other))
        return NotImplemented

    def __hash__(self) -> int:
        return hash(as_shape(self))

    def concatenate(self, other: Any) -> TensorShape:
        """The dims of both."""
        return TensorShape([*self.as_list(), *TensorShape(other).as_list()])

    def __repr__(self) -> str:
        if self._dims is None:
            return "<unknown>"
        inner = ", ".join("?" if size is None else str(size) for size in self._dims)
        return f"({inner},)" if len(self._dims) == 1 else f"({inner})"


def _dimension(size: int | None) -> Any:
    return UnknownDimension() if size is None else Dimension(size)


def as_shape(shape: Any) -> Any:
    """A shape as people give it, as graphs keep it: a tuple, or None."""
    known = shape._dims if isinstance(shape, TensorShape) else shape
    if known is None:
        return None
    known = [known] if isinstance(known, int) else known
    return tuple(None if getattr(size, "value", size) is None else int(size) for size in known)


class Operation:
    """A node, as TensorFlow tells of it.

    Args:
        node: The node.
        builder: Of its graph.
    """

    def __init__(self, node: Node, builder: Any) -> None:
        self.node = node
        self.builder = builder

    @property
    def name(self) -> str:
        """What it is called."""
        return self.node.name

    @property
    def type(self) -> str:
        """What TensorFlow calls the kind of node that it is."""
        return self.builder.graph.types.get(self.node) or TYPES.get(self.node.op, self.node.op)

    @property
    def graph(self) -> Any:
        """The graph that it is of."""
        return self.builder.graph

    @property
    def outputs(self) -> list[Tensor]:
        """What it gives."""
        return [Tensor.of(value, self.builder) for value in self.node.outputs if value.dtype is not None]

    def values(self) -> tuple[Tensor, ...]:
        """What it gives."""
        return tuple(self.outputs)

    @property
    def inputs(self) -> list[Tensor]:
        """What it takes; numbers that stand in the program are no tensors of the graph."""
        return [Tensor.of(value, self.builder) for value in self.node.values]

    @property
    def control_inputs(self) -> list[Operation]:
        """The nodes that run before it, though it takes nothing from them."""
        return [Operation(node, self.builder) for node in self.node.after]

    @property
    def device(self) -> str:
        """There is one machine."""
        return ""

    def run(self, feed_dict: Any = None, session: Any = None) -> None:
        """Run it in a session, the one that is entered unless another is given."""
        from graphscope.static.sessions.session import evaluated

        evaluated(self.node.outputs[0], feed_dict, session)

    def __getattr__(self, name: str) -> Any:
        raise MissingAttributeError(
            f"an operation of graphscope.static has no {name!r}",
            hint="it has name, type, inputs, outputs, control_inputs, graph and run",
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Operation) and other.node is self.node

    def __hash__(self) -> int:
        return hash(self.node)

    def __repr__(self) -> str:
        return f"<tf.Operation {self.name!r} type={self.type}>"


class MissingAttributeError(StaticError, AttributeError):
    """Something that tensors and operations of TensorFlow have, and ours have not."""


class Tensor(Symbol):
    """A tensor of a graph with the operators and attributes that it has in TensorFlow 1."""

    __slots__ = ()

    @classmethod
    def of(cls, value: Value, builder: Any) -> Tensor:
        """The tensor of a value: always the same one."""
        known = builder.shown.get(value)
        if known is None:
            known = object.__new__(Tensor)
            known.output, known.builder = value, builder
            builder.shown[value] = known
        return known  # type: ignore[no-any-return]

    @property
    def name(self) -> str:
        """The node's name, and which of its outputs it is."""
        return f"{self.output.node.name}:{self.output.slot}"

    @property
    def op(self) -> Operation:
        """The node that gives it."""
        return Operation(self.output.node, self.builder)

    @property
    def shape(self) -> TensorShape:
        """What is known of its shape."""
        return TensorShape(self.output.shape)

    @property
    def dtype(self) -> Any:
        """Its dtype."""
        return None if self.output.dtype is None else DType(self.output.dtype)

    @property
    def device(self) -> str:
        """There is one machine."""
        return ""

    def get_shape(self) -> Any:
        """What is known of its shape."""
        return self.shape

    def set_shape(self, shape: Any) -> None:
        """Tell more of its shape than is known.

        Raises:
            StaticError: It contradicts what is known.
        """
        known, told = self.output.shape, as_shape(shape)
        if not fits(known, told):
            raise StaticError(
                f"{self.name!r} has shape {self.shape}, which can't be {TensorShape(told)}",
                hint="give None for dims that are not known",
            )
        if told is not None:
            self.output.shape = (
                told if known is None else tuple(a if b is None else b for a, b in zip(known, told, strict=True))
            )

    @property
    def graph(self) -> Any:
        """The graph that it is of."""
        return self.builder.graph

    def eval(self, feed_dict: Any = None, session: Any = None) -> Any:
        """What it is in a run of a session, the one that is entered unless another is given.

        Raises:
            StaticError: There is none.
        """
        from graphscope.static.sessions.session import evaluated

        return evaluated(self, feed_dict, session)

    def consumers(self) -> list[Operation]:
        """The nodes that take it."""
        return [Operation(node, self.builder) for node in self.graph.users().get(self.output, [])]

    def __getattr__(self, name: str) -> Any:
        try:
            found = getattr(plain(self), name)
        except AttributeError:
            raise MissingAttributeError(
                f"a tensor of graphscope.static has no {name!r}",
                hint="it has TensorFlow's attributes; functions are called: tf.reduce_sum(x), tf.cast(x, dtype)",
            ) from None
        return _engines(found) if callable(found) else found

    def __len__(self) -> int:
        raise StaticError(f"len() of {self.name!r}, which has no value before the graph runs", hint="tf.shape(x)[0]")

    def __iter__(self) -> Any:
        raise NeedsValueError(
            f"{self.name!r} can't be iterated over before the graph runs",
            hint="tf.unstack(x) gives its rows where their number is known; tf.map_fn runs over them",
        )

    def __eq__(self, other: object) -> bool:
        return self is other

    def __ne__(self, other: object) -> bool:
        return self is not other

    __hash__ = object.__hash__

    def __getitem__(self, index: Any) -> Any:
        return _called("getitem", (self, index), "strided_slice")

    def __repr__(self) -> str:
        dtype = "?" if self.output.dtype is None else self.output.dtype.name
        return f"<tf.Tensor {self.name!r} shape={self.shape} dtype={dtype}>"


def _engines(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method that tensors have in the engine, and not in TensorFlow."""

    def call(*args: Any, **kwargs: Any) -> Any:
        from graphscope.static.words.offering import shown, taken

        return shown(method(*taken(list(args)), **taken(kwargs)))

    return call


def _called(name: str, args: tuple[Any, ...], node: str) -> Any:
    from graphscope.static.words import offering

    return offering.called(offering.OFFERED[name], name, args, {}, node)


def _operator(name: str, node: str, reflected: bool = False) -> Callable[..., Any]:
    def call(self: Tensor, *others: Any) -> Any:
        from graphscope.static.words.operands import operand

        given = [operand(other, self) for other in others]
        return _called(name, (*given, self) if reflected else (self, *given), node)

    return call


OPERATORS: Final = {
    "add": ("add", "add"), "sub": ("subtract", "sub"), "mul": ("multiply", "mul"), "truediv": ("truediv", "truediv"),
    "floordiv": ("floordiv", "floordiv"), "mod": ("floormod", "FloorMod"), "pow": ("pow", "pow"),
    "matmul": ("matmul", "matmul"), "and": ("logical_and", "and_"), "or": ("logical_or", "or_"),
    "xor": ("logical_xor", "xor"),
}  # fmt: skip
"""Of two operands: the function, and what its node is called."""

_OF_ONE_SIDE: Final = {
    "neg": ("negative", "Neg"), "abs": ("abs", "Abs"), "invert": ("logical_not", "LogicalNot"),
    "lt": ("less", "Less"), "le": ("less_equal", "LessEqual"), "gt": ("greater", "Greater"),
    "ge": ("greater_equal", "GreaterEqual"),
}  # fmt: skip

for _name, (_function, _node) in {**OPERATORS, **_OF_ONE_SIDE}.items():
    setattr(Tensor, f"__{_name}__", _operator(_function, _node))
for _name, (_function, _node) in OPERATORS.items():
    setattr(Tensor, f"__r{_name}__", _operator(_function, _node, reflected=True))

TYPES: Final = {
    "input": "Placeholder", "constant": "Const", "read": "VariableV2", "group": "NoOp", "identity": "Identity",
    "stop_gradient": "StopGradient", "assign": "Assign", "assign_add": "AssignAdd", "assign_sub": "AssignSub",
    "random_normal": "RandomStandardNormal", "random_uniform": "RandomUniform", "truncated_normal": "TruncatedNormal",
    "py_func": "PyFunc", "print": "Print", "assert": "Assert", "cond": "If", "while": "While", "matmul": "MatMul",
    "add": "AddV2", "sub": "Sub", "mul": "Mul", "to": "Cast", "permute": "Transpose", "reshape": "Reshape",
}  # fmt: skip
"""What TensorFlow calls kinds of nodes that no call of a function names."""


def value_of(thing: Any) -> Value | None:
    """The value of a tensor or operation."""
    if isinstance(thing, Operation):
        return thing.node.outputs[0]
    return thing.output if isinstance(thing, Symbol) else None
