"""What a recording of a TensorFlow program has in hand, from `attach` to `detach`."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec, module_from_spec
from types import FrameType, ModuleType
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import tensorflow as tf

from graphscope.adapters.kit.identity import Notes
from graphscope.adapters.kit.tape import Node, Tape
from graphscope.adapters.kit.value_names import argument_name
from graphscope.adapters.tensorflow.step_functions import StepFunctions
from graphscope.adapters.tensorflow.tensors import array_of
from graphscope.eventlog import frame_variables
from graphscope.eventlog.schema import ROW_MASK
from graphscope.eventlog.writer import Writer

if TYPE_CHECKING:
    from graphscope.adapters.tensorflow.variables import Variables

PACKAGES: Final = ("keras", "tf_keras")
"""Packages beside TensorFlow whose frames are not the program's."""


class Tied(str):
    """What a tape keeps as the name scope of an op: none, which bears the node of the log that the op is."""

    __slots__ = ("node",)
    node: Node


def tied(node: Node) -> Tied:
    """The name scope by which a tape knows a node."""
    made = Tied()
    made.node = node
    return made


current: Session | None = None
"""The recording that is under way, for adapters of what is built on TensorFlow."""


class Session:
    """The state that all parts of the adapter share."""

    variables: Variables

    def __init__(self, writer: Writer) -> None:
        self.writer = writer
        self.tape = Tape(writer, "TensorFlow", [tf, *_packages()])
        self.nodes: Notes[Node] = Notes()
        """The node of each tensor that a recorded call made, or that is a leaf."""
        self.steps = StepFunctions(writer, self.give_up)
        self.is_left_out = False
        """Whether the step that runs is."""

    def give_up(self, error: Exception) -> None:
        """Record nothing of TensorFlow any more, and say why: the error is ours, and the program goes on."""
        self.tape.session.give_up(error)

    def node(self, tensor: Any) -> Node | None:
        """The node of a tensor, if the log has it."""
        return self.nodes.of(tensor)

    def row(self, tensor: Any) -> int:
        """The row of a tensor, or of the newest version of a variable; -1 where the log has none."""
        handle = getattr(tensor, "handle", None)
        node = self.node(tensor) if handle is None else self.variables.newest(handle)
        return -1 if node is None else node.row & ROW_MASK

    def array(self, tensor: Any) -> np.ndarray:
        """The elements of a tensor, or of a variable."""
        with self.tape.aside():
            return np.array(array_of(tf.convert_to_tensor(tensor)))

    def is_here(self, node: Node) -> bool:
        """Whether a node is of this recording, and not of an earlier one."""
        return node.row & ROW_MASK >= self.writer.base

    def changed(self, optimizer: str, changes: Sequence[tuple[Any, Any]], settings: Mapping[str, Any]) -> None:
        """A step of an optimizer has changed variables, each by a gradient."""
        for variable, gradient in changes:
            self.variables.stepped(optimizer, variable, self.node(gradient), settings)

    def frame(self) -> FrameType:
        """The program's frame that is at work."""
        return self.tape.session.frames.user(sys._getframe(1))

    def name_of(self, value: Any, argument: int, *, search: bool) -> str | None:
        """What the program calls an argument of the call that it is at; None where it has no name for it.

        Args:
            value: The argument.
            argument: Its place in the call.
            search: Whether it is looked for among all variables of the function, too.
        """
        frame = self.frame()
        name = argument_name(frame, argument)
        if name is not None and _named(frame, name) is value:
            return name
        if search:
            return next((name for name, each in frame_variables.variables(frame) if each is value), None)
        return None


def _named(frame: FrameType, path: str) -> Any:
    """What a name with dots stands for in a function; no code of the program's is run."""
    first, *rest = path.split(".")
    found = frame_variables.variable(frame, first)
    for each in rest:
        found = getattr(found, "__dict__", {}).get(each)
    return found


def _packages() -> list[ModuleType]:
    """The packages beside TensorFlow that are installed, of which nothing is run."""
    return [module_from_spec(spec) for name in PACKAGES if (spec := find_spec(name)) is not None]
