"""Which versions of torch can be recorded, and what the adapter needs of torch beyond its public interface."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any, Final

import torch

from graphscope.adapters.kit.versions import Versions


@contextlib.contextmanager
def unseen() -> Iterator[None]:
    """With ops run that no mode of the program's sees, as outside of inference mode."""
    below = getattr(torch._C, "_DisableTorchDispatch", contextlib.nullcontext)  # a probe asks whether it is there
    with torch._C.DisableTorchFunction(), below(), torch.inference_mode(False):
        yield


def _node() -> Any:
    with torch.enable_grad():
        return torch.zeros((), requires_grad=True).mul(1).grad_fn


def _method(owner: type, name: str) -> Any:
    """What a class calls itself with; written in C from torch 2.14 on."""
    return owner.__dict__[name].__get__(None, owner)


def _has(owner: Any, *names: str) -> bool:
    return all(hasattr(owner, name) for name in names)


PROBES: Final[dict[str, Callable[[], bool]]] = {
    "torch.autograd.graph._engine_run_backward": lambda: _has(torch.autograd.graph, "_engine_run_backward"),
    "torch._C._autograd._get_sequence_nr": lambda: isinstance(torch._C._autograd._get_sequence_nr(), int),
    "Node._sequence_nr": lambda: isinstance(_node()._sequence_nr(), int),
    "Node.register_prehook": lambda: callable(_node().register_prehook),
    "Node.next_functions": lambda: len(_node().next_functions) == 2,
    "AccumulateGrad.variable": lambda: hasattr(_node().next_functions[0][0], "variable"),
    "torch.autograd.function._HookMixin": lambda: "_register_hook" in torch.autograd.function._HookMixin.__dict__,
    "torch.autograd.Function.apply": lambda: callable(_method(torch.autograd.Function, "apply")),
    "torch.nn.Module.__call__": lambda: "__call__" in torch.nn.Module.__dict__,
    "the stack of torch function modes": lambda: (
        isinstance(torch._C._len_torch_function_stack(), int)
        and _has(
            torch._C,
            "_push_on_torch_function_stack",
            "_pop_torch_function_stack",
            "_EnableTorchFunction",
            "_get_function_stack_at",
        )
    ),
    "torch._C._has_torch_function": lambda: torch._C._has_torch_function(()) is False,
    "torch._C._has_torch_function_unary": lambda: torch._C._has_torch_function_unary(None) is False,
    "torch._C._DisableTorchDispatch": lambda: _has(torch._C, "_DisableTorchDispatch"),
    "torch.utils._python_dispatch.TorchDispatchMode": lambda: _has(
        import_module("torch.utils._python_dispatch").TorchDispatchMode, "__torch_dispatch__"
    ),
    "torch._C._functorch.is_functorch_wrapped_tensor": lambda: (
        torch._C._functorch.is_functorch_wrapped_tensor(torch.zeros(())) is False
    ),
    "Tensor._version": lambda: torch.zeros(())._version == 0,
    "Tensor._base": lambda: torch.zeros(1)._base is None,
    "UntypedStorage._cdata": lambda: isinstance(torch.zeros(1).untyped_storage()._cdata, int),
    "torch.optim hooks": lambda: "func" in torch.optim.Optimizer.profile_hook_step(len).__code__.co_freevars,
}
"""Each private name, and whether it is there and is what it was."""


def _aside(probe: Callable[[], bool]) -> Callable[[], bool]:
    """A probe that a mode of the program's does not see."""

    def hold() -> bool:
        with unseen():
            return probe()

    return hold


VERSIONS: Final = Versions(
    "PyTorch", torch, oldest=(2, 4), newest=(2, 15), private={name: _aside(probe) for name, probe in PROBES.items()}
)
"""The versions of torch that can be recorded; `newest` is the newest that the tests of the adapter have run with."""


@functools.cache
def holds_in_inference() -> bool:
    """Whether a dispatch mode may hold on to what an op made in inference mode; not before torch 2.5."""
    from torch.utils._python_dispatch import TorchDispatchMode, _disable_current_modes

    class Holding(TorchDispatchMode):  # type: ignore[no-untyped-call]
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            self.held = func(*args, **(kwargs or {}))
            return self.held

    with (
        torch._C.DisableTorchFunction(), _disable_current_modes(),
        Holding(), torch.inference_mode(),  # type: ignore[no-untyped-call]
    ):  # fmt: skip
        try:
            torch.ones(())
        except RuntimeError:
            return False
    return True


def tells_saved() -> bool:
    """Whether a backward node tells what it has saved as it lies there, without a call of the program's hooks."""
    return _has(torch._C._autograd.SavedTensor, "data")
