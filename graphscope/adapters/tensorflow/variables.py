"""Variables: leaves with names, by the handles through which ops read and write them."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Mapping, Sequence
from types import FrameType
from typing import TYPE_CHECKING, Any, Final

import tensorflow as tf
from tensorflow.python.eager import context, execute
from tensorflow.python.ops import resource_variable_ops

from graphscope.adapters.kit.existing import instances
from graphscope.adapters.kit.guard import guarded
from graphscope.adapters.kit.identity import Notes
from graphscope.adapters.kit.patches import Patches
from graphscope.adapters.kit.tape import Node
from graphscope.adapters.kit.value_names import GIVEN
from graphscope.adapters.tensorflow.tensors import EagerTensor, array_of
from graphscope.eventlog.frame_variables import variables
from graphscope.eventlog.schema import ROW_MASK

if TYPE_CHECKING:
    from graphscope.adapters.tensorflow.session import Session

Variable: Final[Any] = resource_variable_ops.BaseResourceVariable

_Assigned: Final[Any] = resource_variable_ops._UnreadVariable
"""What an assignment returns, which bears the handle of the variable that was assigned to."""

_UNNAMED: Final = "Variable"
"""What TensorFlow calls a variable that the program gives no name."""


class Known:
    """What the log has of a variable."""

    __slots__ = ("first", "newest", "versions")

    def __init__(self, leaf: Node) -> None:
        self.first = leaf
        self.newest = leaf
        """The row of its newest version."""
        self.versions = 0


class Variables:
    """Follows variables."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._known: Notes[Known] = Notes()
        """By handle."""
        self._variables: Notes[weakref.ref[Any]] = Notes()
        """By handle."""
        self._know_earlier = False
        """Whether those that were made before the recording are among them."""
        self._names: dict[int, str] = {}

    def install(self, patches: Patches) -> None:
        """Learn which variable each handle is of, of those that will be made."""
        patches.replace(Variable, "__init__", self._learning(Variable.__init__))

    def _learning(self, original: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(original)
        def __init__(variable: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807 - it stands in its place
            original(variable, *args, **kwargs)
            self._learn(variable)  # of what an assignment returns, the handle is known: it has been written through

        return __init__

    def _learn(self, variable: Any) -> None:
        handle = getattr(variable, "_handle", None)
        if isinstance(handle, EagerTensor) and self._learnt(handle) is None:
            self._variables.note(handle, weakref.ref(variable))

    def _learnt(self, handle: Any) -> Any:
        found = self._variables.of(handle)
        return None if found is None else found()

    def find(self, handle: Any) -> Any:
        """The variable of a handle, or None."""
        if not self._know_earlier:
            for variable in sorted(instances(Variable), key=lambda each: isinstance(each, _Assigned)):
                self._learn(variable)
            self._know_earlier = True
        return self._learnt(handle)

    def node(self, handle: Any) -> Node | None:
        """The node of the newest version of the variable that a handle is of; None of other resources."""
        known = self._of(handle)
        return None if known is None else known.newest

    def newest(self, handle: Any) -> Node | None:
        """The node of the newest version that the log has of the variable of a handle."""
        known = self._known.of(handle)
        return None if known is None else known.newest

    def leaf(self, handle: Any) -> Node | None:
        """The leaf that a variable is."""
        known = self._of(handle)
        return None if known is None else known.first

    def name(self, handle: Any) -> str:
        """What the log calls the variable of a handle; empty where it has none."""
        variable = self.find(handle)
        return "" if variable is None else self._name(variable)

    def _of(self, handle: Any) -> Known | None:
        known = self._known.of(handle)
        if known is None or known.newest.row & ROW_MASK < self.session.writer.low:
            variable = self.find(handle)
            if variable is None:
                return None
            value = self.value(handle, variable)
            if value is None:
                return None
            leaf = self.session.tape.leaf(array_of(value), name=self._name(variable), parameter=variable.trainable)
            if leaf is None:
                return None
            known = Known(leaf)
            self._known.note(handle, known)
        return known

    def value(self, handle: Any, variable: Any) -> Any:
        """The value of a variable, which is read past the recording; None of one that has none yet."""
        ctx = context.context()
        try:
            (value,) = execute.quick_execute("ReadVariableOp", 1, [handle], ("dtype", variable.dtype), ctx)
        except tf.errors.OpError:
            return None
        return value

    def written(self, op: str, handle: Any, operands: Sequence[Any], attributes: dict[str, Any]) -> None:
        """An op has written into a variable: a row of its new version."""
        known, variable = self._known.of(handle), self.find(handle)
        value = None if variable is None else self.value(handle, variable)
        if known is None or value is None:  # what nobody has seen yet is a leaf when it is used
            return
        known.versions += 1
        node = self.session.tape.update(
            op,
            known.newest,
            operands,
            array_of(value),
            first=known.first,
            version=known.versions,
            attributes=attributes,
            called=self._name(variable),
        )
        if node is not None:
            known.newest = node

    @property
    def is_recording(self) -> bool:
        """Whether what runs now is recorded."""
        return self.session.tape.is_recording

    @guarded(lambda optimizer, variable, gradient, settings: None)
    def stepped(self, optimizer: str, variable: Any, gradient: Node | None, settings: Mapping[str, Any]) -> None:
        """A step of an optimizer has changed a variable: a row of its new version."""
        known = self._known.of(variable.handle)
        is_old = known is None or known.newest.row & ROW_MASK < self.session.writer.low
        # Its value is the new one by now: the row that is written is that of the update alone.
        if is_old and self.node(variable.handle) is None:
            return
        operands = [] if gradient is None else [gradient]
        self.written(optimizer, variable.handle, operands, {**settings})

    def forget_all(self) -> None:
        """Variables were written into unseen: each is a leaf again."""
        self._known.clear()

    def forget(self, handle: Any) -> None:
        """Something has written into a variable that is not told: it is a leaf again."""
        self._known.pop(id(handle), None)

    def _name(self, variable: Any) -> str:
        """What the program calls a variable; two do not bear one name."""
        found = self._names.get(id(variable))
        if found is None:
            name = GIVEN.of(variable) or variable.name.partition(":")[0]
            if name.rpartition("/")[2].startswith(_UNNAMED):
                name = _called(variable, self.session.frame()) or name
            taken = set(self._names.values())
            found, number = name, 1
            while found in taken:
                found, number = f"{name}_{number}", number + 1
            self._names[id(variable)] = found
        return found


def _called(variable: Any, frame: FrameType) -> str | None:
    """What the program calls an object: a variable of the function that runs or of the module, or an attribute."""
    places = tuple(variables(frame))
    for name, value in places:
        if value is variable:
            return name
    for name, value in places:
        inside = getattr(value, "__dict__", None)
        if isinstance(value, tf.Module) and inside is not None:
            for attribute, held in inside.items():
                if held is variable:
                    return attribute if name == "self" else f"{name}.{attribute}"
    for name, value in places:
        if type(value) in (list, tuple, dict) and len(value) < 1000:
            for key, held in value.items() if type(value) is dict else enumerate(value):
                if held is variable:
                    return f"{name}.{key}"
    return None
