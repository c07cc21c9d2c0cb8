"""Our modes on the stacks of torch: they stand aside, and are swept up where a recording could not take them back.

That is where it ended in a backward pass, or in another thread.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, Final

import torch
from torch.utils._python_dispatch import _pop_mode, _push_mode

from graphscope.adapters.torch.dispatch_mode import DispatchMode
from graphscope.adapters.torch.forward import MODES
from graphscope.adapters.torch.session import Session

_count_functions: Final = torch._C._len_torch_function_stack
_function_at: Final = torch._C._get_function_stack_at
_pop_function: Final = torch._C._pop_torch_function_stack
_push_function: Final = torch._C._push_on_torch_function_stack


def sweep() -> None:
    """Take them from the stacks of this thread, where no recording goes on."""
    _sweep(MODES, _count_functions, _pop_function, _push_function)
    _sweep((DispatchMode,), torch._C._len_torch_dispatch_stack, _pop_mode, _push_mode)


@contextlib.contextmanager
def aside(session: Session) -> Iterator[Any]:
    """Without our mode in this thread, where it is the only one; gives the mode, or None.

    It is not put back where the recording has ended meanwhile.
    """
    mode = _function_at(0) if _count_functions() == 1 else None
    if not isinstance(mode, MODES):
        mode = None
    try:  # a signal handler may raise at each call: it is taken and put back by one
        if mode is not None:
            _pop_function()
        yield mode
    finally:
        if mode is not None and not session.ended:
            _push_function(mode)


def _sweep(
    ours: tuple[type, ...], count: Callable[[], int], pop: Callable[[], Any], push: Callable[[Any], None]
) -> None:
    modes = [pop() for _ in range(count())]
    for mode in reversed(modes):
        if not isinstance(mode, ours):
            push(mode)
