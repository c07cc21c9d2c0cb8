"""graphscope: a debugger for computation graphs. Public names are resolved on first use."""

from __future__ import annotations

from importlib import import_module

from graphscope.errors import GraphscopeError as GraphscopeError

TYPE_CHECKING = False  # as in `typing`, whose import would double the time of `graphscope --version`

if TYPE_CHECKING:
    from typing import Final

    from graphscope import autograd as autograd
    from graphscope import linalg as linalg
    from graphscope import nn as nn
    from graphscope import optim as optim
    from graphscope.amp import autocast as autocast
    from graphscope.console.entry import post_mortem as post_mortem
    from graphscope.console.entry import set_trace as set_trace
    from graphscope.debugger.listening import listen as listen
    from graphscope.diagnose import explain as explain
    from graphscope.engine import *
    from graphscope.eventlog.record import mark as mark
    from graphscope.eventlog.record import record as record
    from graphscope.eventlog.record import step as step
    from graphscope.exporters import export as export
    from graphscope.func import vmap as vmap
    from graphscope.graph import Graph as Graph
    from graphscope.loading import load as load
    from graphscope.notebook import show as show
    from graphscope.standin import as_torch as as_torch
    from graphscope.statefile import save as save

__version__ = "0.1.0"

HOMES: Final[dict[str, str]] = {
    "Graph": "graphscope.graph",
    "as_torch": "graphscope.standin",
    "autocast": "graphscope.amp",
    "explain": "graphscope.diagnose",
    "export": "graphscope.exporters",
    "listen": "graphscope.debugger.listening",
    "load": "graphscope.loading",
    "mark": "graphscope.eventlog.record",
    "post_mortem": "graphscope.console.entry",
    "record": "graphscope.eventlog.record",
    "save": "graphscope.statefile",
    "set_trace": "graphscope.console.entry",
    "show": "graphscope.notebook",
    "step": "graphscope.eventlog.record",
    "vmap": "graphscope.func",
}
"""Where the public names live; a name that is not here is a submodule, or one of the engine's `__all__`."""

ENGINE: Final = "graphscope.engine"


def __getattr__(name: str) -> object:
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib.util import find_spec

    value: object
    if name in HOMES:
        value = getattr(import_module(HOMES[name]), name)
    elif find_spec(f"{__name__}.{name}") is not None:
        value = import_module(f"{__name__}.{name}")
    else:
        engine = import_module(ENGINE)
        if name not in engine.__all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = getattr(engine, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *HOMES, *import_module(ENGINE).__all__, "nn", "optim"})
