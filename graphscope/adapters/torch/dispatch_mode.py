"""What our modes below autograd share: they leave the stack of their thread, wherever on it they lie."""

from __future__ import annotations

import torch
from torch.utils._python_dispatch import TorchDispatchMode, _pop_mode, _push_mode


class DispatchMode(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Sees every op of ATen that this thread runs."""

    supports_higher_order_operators = True

    def __exit__(self, *error: object) -> None:
        """Leave this thread's stack, wherever on it it lies, if it does; torch would take the last mode."""
        stack = [torch._C._get_dispatch_stack_at(place) for place in range(torch._C._len_torch_dispatch_stack())]
        above = stack[stack.index(self) + 1 :] if self in stack else stack
        for _ in above:
            _pop_mode()
        if self not in stack:
            _push_mode(self)
        super().__exit__(*error)  # type: ignore[no-untyped-call]
        for mode in above:
            _push_mode(mode)

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # else each op goes through a wrapper that costs as much as the op
