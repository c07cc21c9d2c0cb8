"""Variables of programs of sessions: tensors that keep their value from run to run."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphscope.engine.core.tensor import Tensor
from graphscope.errors import StaticError
from graphscope.eventlog import record
from graphscope.static.graphs import effects, interpreter
from graphscope.static.graphs.graph import walk
from graphscope.static.graphs.symbols import Symbol
from graphscope.static.sessions.default_graph import builder, get_default_graph
from graphscope.static.sessions.functions import _array, _listed, _values, group

__all__ = [
    "Variable", "assign", "assign_add", "assign_sub", "global_variables", "global_variables_initializer",
    "trainable_variables", "variables_initializer",
]  # fmt: skip

GLOBAL_VARIABLES, TRAINABLE_VARIABLES = "variables", "trainable_variables"
"""The collections of a graph that variables enter."""


class Variable(Symbol):
    """A tensor that keeps its value from run to run. It is ready at once; running its initializer begins anew.

    Args:
        initial_value: Numbers, an array, a tensor, a function that gives one, or a tensor of the graph, which is
            computed now.
        trainable: Whether optimizers train it unless told otherwise.
        collections: Names of the collections of the graph that it enters, in the place of `GLOBAL_VARIABLES`.
        validate_shape: Accepted for TensorFlow's sake.
        name: Its name in the graph.
        dtype: Of its elements.

    Raises:
        StaticError: The initial value is none, or depends on a placeholder.
    """

    __slots__ = ("initializer", "trainable")

    def __init__(
        self,
        initial_value: Any = None,
        trainable: bool = True,
        collections: Any = None,
        validate_shape: bool = True,
        name: str | None = None,
        dtype: Any = None,
    ) -> None:
        here = builder()
        given = initial_value() if callable(initial_value) else initial_value
        if given is None:
            raise StaticError("a Variable needs an initial value", hint="Variable(zeros([3, 2]))")
        array = computed(given, dtype)
        holder = Tensor(array[()])
        holder.is_parameter = trainable
        node = here.append("read", (), {"holder": [holder]}, name=name or "Variable")
        holder.name = node.name
        self.builder = here
        self.output = node.outputs[0]
        self.trainable = trainable
        start = given if isinstance(given, Symbol) else array
        self.initializer = self.assign(start, name=f"{name or 'Variable'}/initializer")
        graph = get_default_graph()
        named = [GLOBAL_VARIABLES] if collections is None else list(collections)
        for collection in dict.fromkeys([*named, *([TRAINABLE_VARIABLES] if trainable else [])]):
            graph.add_to_collection(collection, self)

    @property
    def array_now(self) -> np.ndarray:
        """What it holds now."""
        return np.array(self.output.node.attributes["holder"][0].array)

    def assign(self, value: Any, use_locking: bool = False, name: str | None = None) -> Symbol:
        """A node that lets it hold a value from then on, and gives that."""
        return self._assigning("assign", value, name)

    def assign_add(self, delta: Any, use_locking: bool = False, name: str | None = None) -> Symbol:
        """A node that adds to it, and gives what it holds then."""
        return self._assigning("assign_add", delta, name)

    def assign_sub(self, delta: Any, use_locking: bool = False, name: str | None = None) -> Symbol:
        """A node that takes away from it, and gives what it holds then."""
        return self._assigning("assign_sub", delta, name)

    def initialized_value(self) -> Symbol:
        """The variable: it is ready at once."""
        return self

    def read_value(self) -> Symbol:
        """What it holds when this node runs: behind an assignment, under control_dependencies, the new value."""
        here = builder()
        own = self.output.node.name.removeprefix(f"{here.scope}/")
        node = here.append("read", (), self.output.node.attributes, name=f"{own}/read")
        return Symbol.of(node.outputs[0], here)

    def load(self, value: Any, session: Any = None) -> None:
        """Let it hold a value at once, without a run."""
        holder = self.output.node.attributes["holder"]
        made = effects.changed(holder[0], _array(value, holder[0].array.dtype))
        made.first_row = -1  # no run did it: the log sees a new leaf
        holder[0] = made

    def _assigning(self, op: str, value: Any, name: str | None) -> Symbol:
        here = builder()
        if not isinstance(value, Symbol):
            value = _array(value, self.output.dtype)
        own = self.output.node.name.removeprefix(f"{here.scope}/")
        node = here.append(op, _values(here, [value]), {"variable": self.output.node}, name=name or f"{own}/{op}")
        return Symbol.of(node.outputs[0], here)


def computed(given: Any, dtype: Any) -> np.ndarray:
    """The array that an initial value stands for."""
    if not isinstance(given, Symbol):
        return _array(given, dtype).copy()
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


def global_variables() -> list[Variable]:
    """All variables of the default graph."""
    return list(get_default_graph().collections.get(GLOBAL_VARIABLES, []))


def trainable_variables() -> list[Variable]:
    """Those that optimizers train."""
    return list(get_default_graph().collections.get(TRAINABLE_VARIABLES, []))


def global_variables_initializer() -> Symbol:
    """A node that begins anew with all variables; they are ready without it."""
    return variables_initializer(global_variables())


def variables_initializer(var_list: Any, name: str = "init") -> Symbol:
    """A node that begins anew with these variables."""
    return group(*(variable.initializer for variable in _listed(var_list)), name=name)


def assign(ref: Variable, value: Any, validate_shape: Any = None, use_locking: Any = None, name: Any = None) -> Symbol:
    """As `ref.assign(value)`."""
    return ref.assign(value, name=name)


def assign_add(ref: Variable, value: Any, use_locking: Any = None, name: str | None = None) -> Symbol:
    """As `ref.assign_add(value)`."""
    return ref.assign_add(value, name=name)


def assign_sub(ref: Variable, value: Any, use_locking: Any = None, name: str | None = None) -> Symbol:
    """As `ref.assign_sub(value)`."""
    return ref.assign_sub(value, name=name)
