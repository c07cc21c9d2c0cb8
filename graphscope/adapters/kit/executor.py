"""What an adapter offers so that what a log records can run again: tensors and calls, by what the log says of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    """

    where: str
    function: str
    operands: tuple[Any, ...]
    attributes: Mapping[str, Any]
    writes: bool


class Executor(Protocol):
    """Runs what was recorded of a framework. What it calls tensors nobody else looks into."""

    def aside(self) -> AbstractContextManager[None]:
        """What runs inside is not the program's: it is not recorded, and changes none of its state."""

    def tensor(self, array: np.ndarray, dtype: str) -> Any:
        """A new tensor with the elements of an array of the log, of the dtype that the log names."""

    def array(self, tensor: Any) -> np.ndarray | None:
        """The elements of a tensor, a copy; None where they can't be had."""

    def dtype(self, tensor: Any) -> str:
        """What the log calls the dtype of a tensor."""

    def call(self, call: RecordedCall, inputs: Sequence[Any]) -> list[Any]:
        """The tensors that a call gives for these inputs.

        Raises:
            StaticError: This version of the framework has no such function, the log does not hold all that it was
                given, or it raised; the message says which.
        """
