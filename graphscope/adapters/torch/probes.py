"""What the adapter needs of torch beyond its public interface: each with a look whether this version has it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import torch

OLDEST: Final = (2, 4)


def _node() -> Any:
    with torch._C.DisableTorchFunction(), torch.enable_grad():
        return torch.zeros((), requires_grad=True).mul(1).grad_fn


PROBES: Final[dict[str, Callable[[], bool]]] = {
    "torch.autograd.graph._engine_run_backward": lambda: hasattr(torch.autograd.graph, "_engine_run_backward"),
    "torch._C._autograd._get_sequence_nr": lambda: isinstance(torch._C._autograd._get_sequence_nr(), int),
    "Node.metadata": lambda: isinstance(_node().metadata, dict),
    "Node._sequence_nr": lambda: isinstance(_node()._sequence_nr(), int),
    "Node.register_prehook": lambda: callable(_node().register_prehook),
    "Node.next_functions": lambda: len(_node().next_functions) == 2,
    "AccumulateGrad.variable": lambda: hasattr(_node().next_functions[0][0], "variable"),
    "torch.autograd.function._HookMixin": lambda: "_register_hook" in torch.autograd.function._HookMixin.__dict__,
    "the stack of torch function modes": lambda: isinstance(torch._C._len_torch_function_stack(), int),
    "torch._C._has_torch_function": lambda: torch._C._has_torch_function(()) is False,
    "torch.optim hooks": lambda: hasattr(torch.optim.Optimizer, "profile_hook_step"),
}
"""Each private name, and whether it is there and is what it was."""


def missing() -> list[str]:
    """What this version of torch does not have."""
    found = []
    for name, probe in PROBES.items():
        try:
            held = probe()
        except (AttributeError, TypeError, RuntimeError, IndexError):
            held = False
        if not held:
            found.append(name)
    return found


def refusal() -> str | None:
    """Why this version of torch can't be recorded; None when it can."""
    version = str(torch.__version__)
    numbers = tuple(int(part) for part in version.split("+")[0].split(".")[:2] if part.isdigit())
    if numbers < OLDEST:
        return f"PyTorch {version} can't be recorded: {OLDEST[0]}.{OLDEST[1]} is the oldest that can"
    lacking = missing()
    if lacking:
        return f"PyTorch {version} can't be recorded: it has no {', no '.join(lacking)}; a newer graphscope may know it"
    return None
