"""Where public names live: `graphscope.record`, and modules: `graphscope.nn` is `graphscope.engine.nn`."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder

TYPE_CHECKING = False  # as in `typing`, whose import would double the time of `graphscope --version`

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType
    from typing import Final

ROOT: Final = __name__.partition(".")[0]

HOMES: Final[dict[str, str]] = {
    "Graph": "graphscope.graph",
    "as_torch": "graphscope.engine.torch_imports",
    "diff": "graphscope.differences",
    "doctor": "graphscope.diagnose",
    "explain": "graphscope.diagnose",
    "export": "graphscope.exporters",
    "listen": "graphscope.debugger.attachment",
    "load": "graphscope.loading",
    "load_ipython_extension": "graphscope.notebook",
    "mark": "graphscope.eventlog.record",
    "post_mortem": "graphscope.console.prompt_entry",
    "record": "graphscope.eventlog.record",
    "set_trace": "graphscope.console.prompt_entry",
    "show": "graphscope.notebook",
    "step": "graphscope.eventlog.training_steps",
}
"""Where the public names live; a name that is not here is a module, or one of the engine's `__all__`."""

ENGINE: Final = "graphscope.engine"
"""Where the modules are that people import as `graphscope.nn` and the like (or, with `--as-torch`, as `torch.nn`)."""

MODULE_HOMES: Final[dict[str, str]] = {"jit": "graphscope.static.jit"}
"""Those of them that live elsewhere."""


def home_of(module: str) -> str:
    """The module of ours that answers for `nn.functional`, as people write it after `graphscope.` or `torch.`."""
    first, dot, rest = module.partition(".")
    return MODULE_HOMES.get(first, f"{ENGINE}.{first}") + dot + rest


class PublicModules:
    """Finds `graphscope.nn` where there is no such file beside this one: it is the module `graphscope.engine.nn`."""

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: object = None) -> ModuleSpec | None:
        """A module under its public name; None where it has no other name, or where we have no such module."""
        parent, _, _ = name.rpartition(".")
        if parent == ROOT:
            spec = PathFinder.find_spec(name, path)
            if spec is not None:
                return spec
        elif not parent.startswith(f"{ROOT}.") or sys.modules[parent].__name__ == parent:
            return None
        home = home_of(name.partition(".")[2])
        if home.startswith(f"{name}."):
            return None  # the engine itself, which is not there
        try:
            return ModuleSpec(name, SecondName(import_module(home)))  # type: ignore[arg-type]  # a loader by what it does
        except ModuleNotFoundError as error:
            if error.name is None or not f"{home}.".startswith(f"{error.name}."):
                raise  # it is there, and lacks something that it needs itself
            absent = sys.modules.get(f"{ENGINE}.absent")  # it is gone with the engine
            missing = None if absent is None else absent.missing_module(name)
            if missing is not None:
                raise missing from None
            return None


class SecondName:
    """Gives a module that is loaded already a second name."""

    def __init__(self, module: ModuleType) -> None:
        self.module, self.spec = module, module.__spec__

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """The module itself."""
        return self.module

    def exec_module(self, module: ModuleType) -> None:
        """It was run under its own name, and keeps that."""
        module.__spec__ = self.spec
