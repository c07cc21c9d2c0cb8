"""Variables of programs of sessions: tensors that keep their value from run to run."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphscope.engine.core import tensor
from graphscope.errors import StaticError
from graphscope.eventlog import record
from graphscope.static.graphs import effects, interpreter
from graphscope.static.graphs.graph import walk
from graphscope.static.graphs.symbols import Symbol
from graphscope.static.sessions.default_graph import builder, get_default_graph
from graphscope.static.sessions.functions import _listed, _values, group
from graphscope.static.words.offering import offered
from graphscope.static.words.operands import array_of, of_dtype
from graphscope.static.words.tensors import Operation, Tensor

__all__ = [
    "Variable", "assign", "assign_add", "assign_sub", "global_variables", "global_variables_initializer",
    "is_variable_initialized", "local_variables", "local_variables_initializer", "trainable_variables",
    "variables_initializer",
]  # fmt: skip

GLOBAL_VARIABLES, LOCAL_VARIABLES, TRAINABLE_VARIABLES = "variables", "local_variables", "trainable_variables"
"""The collections of a graph that variables enter."""


class Variable(Tensor):
    """A tensor that keeps its value from run to run. It is ready at once; running its initializer begins anew.

    Args:
        initial_value: Numbers, an array, a tensor, a function that gives one, or a tensor of the graph, which is
            computed now.
        trainable: Whether optimizers train it unless told otherwise.
        collections: Names of the collections of the graph that it enters, in the place of `GLOBAL_VARIABLES`.
        validate_shape: Accepted for TensorFlow's sake.
        caching_device: Accepted, likewise.
        name: Its name in the graph.
        variable_def: Not here.
        dtype: Of its elements.
        more: TensorFlow's further arguments, which change nothing here: `use_resource`, `constraint` and the like.

    Raises:
        StaticError: The initial value is none, or depends on a placeholder.
    """

    __slots__ = ("initial_value", "initializer", "trainable")

    def __init__(
        self,
        initial_value: Any = None,
        trainable: bool | None = None,
        collections: Any = None,
        validate_shape: bool = True,
        caching_device: Any = None,
        name: str | None = None,
        variable_def: Any = None,
        dtype: Any = None,
        **more: Any,
    ) -> None:
        if more.get("constraint") is not None:
            raise StaticError("a Variable takes no constraint here", hint="assign what it should be after each step")
        here = builder()
        given = initial_value() if callable(initial_value) else initial_value
        if given is None:
            raise StaticError("a Variable needs an initial value", hint="Variable(zeros([3, 2]))")
        wanted = None if dtype is None else of_dtype(dtype)
        array = computed(given, wanted)
        holder = tensor.Tensor(array[()])
        self.trainable = trainable is not False
        holder.is_parameter = self.trainable
        node = here.append("read", (), {"holder": [holder]}, name=name or "Variable")
        holder.name = node.name
        self.builder = here
        self.output = node.outputs[0]
        with here.named(f"{node.name}/"):
            start = given if isinstance(given, Symbol) else Symbol.of(here.constant(array), here)
            self.initial_value = Tensor.of(start.output, start.builder)
            self.initializer: Operation = Operation(self._assigning("assign", start, "Assign").output.node, here)
        graph = get_default_graph()
        named = [GLOBAL_VARIABLES] if collections is None else list(collections)
        for collection in dict.fromkeys([*named, *([TRAINABLE_VARIABLES] if self.trainable else [])]):
            graph.add_to_collection(collection, self)

    @property
    def array_now(self) -> np.ndarray:
        """What it holds now."""
        return np.array(self.output.node.attributes["holder"][0].array)

    def assign(self, value: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True) -> Tensor:
        """A node that lets it hold a value from then on, and gives that."""
        return self._assigning("assign", value, name or "Assign")

    def assign_add(
        self, delta: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> Tensor:
        """A node that adds to it, and gives what it holds then."""
        return self._assigning("assign_add", delta, name or "AssignAdd")

    def assign_sub(
        self, delta: Any, use_locking: bool = False, name: str | None = None, read_value: bool = True
    ) -> Tensor:
        """A node that takes away from it, and gives what it holds then."""
        return self._assigning("assign_sub", delta, name or "AssignSub")

    def initialized_value(self) -> Tensor:
        """The variable: it is ready at once."""
        return self

    def value(self) -> Tensor:
        """The variable, as a tensor."""
        return Tensor.of(self.output, self.builder)

    def read_value(self) -> Tensor:
        """What it holds when this node runs: behind an assignment, under control_dependencies, the new value."""
        here = builder()
        own = self.output.node.name.removeprefix(f"{here.scope}/")
        node = here.append("read", (), self.output.node.attributes, name=f"{own}/read")
        here.graph.types[node] = "Identity"
        return Tensor.of(node.outputs[0], here)

    def load(self, value: Any, session: Any = None) -> None:
        """Let it hold a value at once, without a run."""
        holder = self.output.node.attributes["holder"]
        made = effects.changed(holder[0], array_of(value, holder[0].array.dtype))
        made.first_row = -1  # no run did it: the log sees a new leaf
        holder[0] = made

    def _assigning(self, op: str, value: Any, name: str) -> Tensor:
        here = builder()
        if not isinstance(value, Symbol):
            value = array_of(value, self.output.dtype)
        node = here.append(op, _values(here, [value]), {"variable": self.output.node}, name=name)
        return Tensor.of(node.outputs[0], here)

    def __repr__(self) -> str:
        return f"<tf.Variable {self.name!r} shape={self.shape} dtype={self.output.dtype}>"


def computed(given: Any, dtype: Any) -> np.ndarray:
    """The array that an initial value stands for."""
    if not isinstance(given, Symbol):
        return array_of(given, dtype).copy()
    order = walk([given.output])
    missing = next((node for node in order if node.op == "input"), None)
    if missing is not None:
        raise StaticError(
            f"the initial value of a Variable depends on {missing.where}",
            hint="make it of constants and random numbers",
        )
    values: dict[Any, Any] = {}
    with record.recording_to(None):
        interpreter.run_nodes(order, values)
    return np.array(values[given.output].array, dtype=effects.dtype_of(dtype, given.output.dtype))


def global_variables(scope: str | None = None) -> list[Variable]:
    """All variables of the default graph."""
    return get_default_graph().get_collection(GLOBAL_VARIABLES, scope)  # type: ignore[no-any-return]


def local_variables(scope: str | None = None) -> list[Variable]:
    """Those of the collection of local variables."""
    return get_default_graph().get_collection(LOCAL_VARIABLES, scope)  # type: ignore[no-any-return]


def trainable_variables(scope: str | None = None) -> list[Variable]:
    """Those that optimizers train."""
    return get_default_graph().get_collection(TRAINABLE_VARIABLES, scope)  # type: ignore[no-any-return]


def global_variables_initializer() -> Operation:
    """An operation that begins anew with all variables; they are ready without it."""
    return variables_initializer(global_variables())


def local_variables_initializer() -> Operation:
    """An operation that begins anew with the local variables."""
    return variables_initializer(local_variables())


def variables_initializer(var_list: Any, name: str = "init") -> Operation:
    """An operation that begins anew with these variables."""
    made = group(*(variable.initializer for variable in _listed(var_list)), name=name)
    return Operation(made.output.node, made.builder)


def assign(ref: Variable, value: Any, validate_shape: Any = None, use_locking: Any = None, name: Any = None) -> Tensor:
    """As `ref.assign(value)`."""
    return ref.assign(value, name=name)


def assign_add(ref: Variable, value: Any, use_locking: Any = None, name: str | None = None) -> Tensor:
    """As `ref.assign_add(value)`."""
    return ref.assign_add(value, name=name)


def assign_sub(ref: Variable, value: Any, use_locking: Any = None, name: str | None = None) -> Tensor:
    """As `ref.assign_sub(value)`."""
    return ref.assign_sub(value, name=name)


def is_variable_initialized(variable: Variable) -> Tensor:
    """True: variables are ready at once."""
    return offered("constant")(True)  # type: ignore[misc, no-any-return]
