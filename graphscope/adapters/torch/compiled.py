"""What the hot path of calls works on, and its handler: compiled where that could be built, else in Python."""

from __future__ import annotations

import weakref
from importlib import import_module
from typing import TYPE_CHECKING, Any

import torch


class Known(weakref.ref[torch.Tensor]):
    """A tensor that the log has a row of."""

    __slots__ = ("counter", "group", "more", "row", "seen")


class Site:
    """A call site, and the result that its template is for."""

    __slots__ = (
        "constants", "count", "direct", "dtype", "fields", "requires_grad", "shape", "summary", "template",
    )  # fmt: skip


Handler: Any = None
"""What torch calls in the place of its functions; without it, `Calls.__torch_function__` does."""

if not TYPE_CHECKING:
    try:
        _built = import_module("graphscope.adapters.torch._calls")
    except ImportError:  # not built here: no compiler, or none is needed
        pass
    else:
        Handler, Known, Site = _built.Handler, _built.Known, _built.Site
