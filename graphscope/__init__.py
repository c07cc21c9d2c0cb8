"""graphscope: a debugger for computation graphs. Public names are resolved on first use."""

from __future__ import annotations

import sys
from importlib import import_module

from graphscope._version import __version__ as __version__
from graphscope.errors import EngineError as _EngineError
from graphscope.errors import GraphscopeError as GraphscopeError
from graphscope.public import ENGINE, HOMES, MODULE_HOMES, PublicModules

TYPE_CHECKING = False  # as in `typing`, whose import would double the time of `graphscope --version`

if TYPE_CHECKING:
    from graphscope.console.prompt_entry import post_mortem as post_mortem
    from graphscope.console.prompt_entry import set_trace as set_trace
    from graphscope.debugger.attachment import listen as listen
    from graphscope.diagnose import doctor as doctor
    from graphscope.diagnose import explain as explain
    from graphscope.differences import diff as diff
    from graphscope.engine import *  # type: ignore[no-redef]  # `diff`, and what it is of two logs, is told above
    from graphscope.engine import autograd as autograd
    from graphscope.engine import linalg as linalg
    from graphscope.engine import nn as nn
    from graphscope.engine import optim as optim
    from graphscope.engine.torch_imports import as_torch as as_torch
    from graphscope.eventlog.record import mark as mark
    from graphscope.eventlog.record import record as record
    from graphscope.eventlog.training_steps import step as step
    from graphscope.exporters import export as export
    from graphscope.graph import Graph as Graph
    from graphscope.loading import load as load
    from graphscope.notebook import show as show

sys.meta_path.insert(0, PublicModules())  # a finder by what it does: its base class would cost an import


def __getattr__(name: str) -> object:
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object
    if name in HOMES:
        value = getattr(import_module(HOMES[name]), name)
    elif _is_module(f"{__name__}.{name}"):
        value = import_module(f"{__name__}.{name}")
    elif name in _engine_names():
        value = getattr(import_module(ENGINE), name)
    else:
        module = sys.modules[__name__]
        absent = sys.modules.get(f"{ENGINE}.absent")  # it is gone with the engine
        if absent is not None:
            raise absent.missing(__name__, module, name, sys._getframe(1))
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name, obj=module)
    globals()[name] = value
    return value


def _is_module(name: str) -> object:
    from importlib.util import find_spec

    try:
        return find_spec(name) is not None
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        return False


def _engine_names() -> list[str]:
    """What people reach as `graphscope.tensor`; nothing where the debugger is alone."""
    try:
        return list(import_module(ENGINE).__all__)
    except ModuleNotFoundError as error:
        if error.name != ENGINE:
            raise
        return []


def __dir__() -> list[str]:
    try:
        names = _engine_names()
    except _EngineError:
        names = []
    return sorted({*globals(), *HOMES, *names, *MODULE_HOMES, "nn", "optim"})
