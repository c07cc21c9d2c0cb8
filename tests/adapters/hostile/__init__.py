"""Small programs that lean on what a recorder might disturb; run as a module, each tells what came of it."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable
from typing import Any, Final

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

HOSTILE: Final[dict[str, Callable[[], Any]]] = {}


def hostile(program: Callable[[], Any]) -> Callable[[], Any]:
    HOSTILE[program.__name__] = program
    return program


def leaf(*shape: int) -> Any:
    return torch.linspace(-1, 1, max(1, int(torch.Size(shape).numel()))).reshape(shape).requires_grad_()


class Sees(TorchFunctionMode):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.seen.append(getattr(func, "__name__", str(func)))
        return func(*args, **(kwargs or {}))


class Ops(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.seen.append(str(func))
        return func(*args, **(kwargs or {}))


class Loud(torch.Tensor):
    said: Final[list[str]] = []

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        cls.said.append(func.__name__)
        return super().__torch_function__(func, types, args, kwargs or {})


def outcome(program: Callable[[], Any]) -> Any:
    """What a program returns or raises, and prints."""
    torch.manual_seed(0)
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said):
            found = program()
    except Exception as error:
        found = f"{type(error).__name__}: {error}"
    return [repr(found), said.getvalue()]
