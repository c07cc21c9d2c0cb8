"""What an adapter offers so that what a log records can run again: tensors, calls and passes, by what the log says."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np


@dataclass(frozen=True)
class RecordedCall:
    """A call, as the log tells of it.

    Attributes:
        where: How messages name it.
        function: What the framework finds the function by.
        operands: Constants as the log has them, and an `Input` for each input.
        attributes: What was given by name.
        writes: Whether it writes into its first input.
        autocast: The devices on which ops chose their dtypes themselves, each with the narrow one.
        has_gradient: Whether gradients were on.
        custom: Whether the program wrote the function.
    """

    where: str
    function: str
    operands: tuple[Any, ...]
    attributes: Mapping[str, Any]
    writes: bool = False
    autocast: Mapping[str, str] | None = None
    has_gradient: bool = False
    custom: bool = False


class Executor(Protocol):
    """Runs what was recorded of a framework. What it calls tensors nobody else looks into."""

    def aside(self) -> AbstractContextManager[None]:
        """What runs inside is not the program's: it is not recorded, and changes none of its state."""

    # Tensors ---------------------------------------------------------------------------------------------------------

    def tensor(
        self, array: np.ndarray, dtype: str, strides: Sequence[int] | None = None, has_gradient: bool = False
    ) -> Any:
        """A new tensor with the elements of an array of the log.

        Args:
            array: The elements.
            dtype: Their dtype, as the log names it.
            strides: How they lay in memory; in C order unless these are given.
            has_gradient: Whether gradients flow to it.
        """

    def array(self, tensor: Any) -> np.ndarray | None:
        """The elements of a tensor, a copy; None where they can't be had."""

    def dtype(self, tensor: Any) -> str:
        """What the log calls the dtype of a tensor."""

    def write(self, tensor: Any, array: np.ndarray) -> None:
        """Put other elements into a tensor: what backward has saved of it is replaced as well."""

    def share(self, one: Any, other: Any) -> bool:
        """Whether two tensors lie in the same memory."""

    def writes(self, tensor: Any) -> int:
        """How often a tensor was written."""

    # Calls -----------------------------------------------------------------------------------------------------------

    def draw_from(self, state: np.ndarray) -> None:
        """Let the random generator be as it was."""

    def call(self, call: RecordedCall, inputs: Sequence[Any]) -> list[Any]:
        """The tensors that a call gives for these inputs.

        Raises:
            StaticError: This version of the framework has no such function, the log does not hold all that it was
                given, or it raised; the message says which.
        """

    # Gradients -------------------------------------------------------------------------------------------------------

    def backward(self, roots: Sequence[Any], cotangents: Sequence[np.ndarray]) -> None:
        """Send cotangents back from tensors, to the gradients of leaves."""

    def gradients(self, roots: Sequence[Any], cotangents: Sequence[np.ndarray], inputs: Sequence[Any]) -> list[Any]:
        """Send cotangents back to some tensors; None for one that none reaches."""

    def gradient(self, tensor: Any) -> Any:
        """What has been added up for a leaf; None where nothing was."""

    def set_gradient(self, tensor: Any, gradient: Any) -> None:
        """Let that be another tensor, or None."""

    def set_has_gradient(self, tensor: Any, has_gradient: bool) -> None:
        """Let gradients flow to a leaf, or not."""

    def on_gradient(self, tensor: Any, replaced: Callable[[], np.ndarray | None]) -> None:
        """Ask, whenever a cotangent has arrived whole at a tensor, what is to take its place; None: nothing is."""

    # Optimizers ------------------------------------------------------------------------------------------------------

    def optimizer(self, kind: str) -> Any:
        """An optimizer of a class of the framework's, which knows no parameters yet.

        Raises:
            StaticError: There is no such class.
        """

    def update(self, optimizer: Any, parameters: Sequence[Any], settings: Sequence[Mapping[str, Any]]) -> None:
        """Let it make its step with parameters that have gradients, each with its settings."""
