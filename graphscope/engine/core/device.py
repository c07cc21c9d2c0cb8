"""Devices: there is one, the CPU; programs that ask for it, or whether there are others, get an honest answer.

So it is with layouts in memory: they may be named, and there is one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

KINDS: Final = ("cpu", "cuda", "mps", "xpu", "meta")
"""Names that PyTorch's programs use."""


@dataclass(frozen=True, slots=True, init=False)
class device:  # noqa: N801 - PyTorch's spelling
    """A device, by name: `device("cpu")`, `device("cuda:0")`, `device("cuda", 0)`.

    A device may be named that is not there; to put a tensor on it is the error.

    Raises:
        RuntimeError: It is no name of a device.
    """

    type: str
    index: int | None

    def __init__(self, type: Any, index: int | None = None) -> None:
        if isinstance(type, device):
            type, index = type.type, type.index
        kind, _, number = str(type).partition(":")
        if kind not in KINDS or (number and not number.isdigit()):
            raise RuntimeError(f"there is no device {type!r}: the engine runs on 'cpu'")
        object.__setattr__(self, "type", kind)
        object.__setattr__(self, "index", int(number) if number else index)

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __repr__(self) -> str:
        return f"device(type={self.type!r}{'' if self.index is None else f', index={self.index}'})"


CPU: Final = device("cpu")
"""Where all tensors are."""


def check(wanted: Any) -> None:
    """See that tensors can be put on a device; None is where they are.

    Raises:
        RuntimeError: It is not there.
    """
    if wanted is not None and device(wanted).type != "cpu":
        raise RuntimeError(
            f"there is no device {str(wanted)!r} here: the engine runs on the CPU. "
            "Ask torch.cuda.is_available() first, or leave the device out."
        )


@dataclass(frozen=True, slots=True)
class layout:  # noqa: N801 - PyTorch's spelling
    """How the elements of a tensor lie in memory, by name."""

    name: str

    def __repr__(self) -> str:
        return f"torch.{self.name}"


class memory_format(layout):  # noqa: N801
    """In which order they lie; all are taken for `contiguous_format`."""


strided: Final = layout("strided")
contiguous_format: Final = memory_format("contiguous_format")
preserve_format: Final = memory_format("preserve_format")
channels_last: Final = memory_format("channels_last")
