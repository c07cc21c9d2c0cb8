"""Writes `graphscope-stubs`, by which type checkers and editors find `graphscope.nn` and the like: `make docs`."""

from __future__ import annotations

import pkgutil
import shutil
import sys
from importlib import import_module
from pathlib import Path
from typing import Final

from graphscope.engine.devices import MODULES
from graphscope.engine.torch_imports import HIDDEN
from graphscope.public import ENGINE, MODULE_HOMES, home_of

FOLDER: Final = Path(__file__).parents[2] / "graphscope-stubs"
NOTE: Final = "# Made by `make docs`: where the module is that people import by this name.\n"


INNER: Final = (
    "autograd.function", "autograd.functional", "autograd.graph", "distributions.constraints", "nn.functional",
    "nn.init", "nn.modules", "nn.parallel", "nn.parameter", "nn.utils", "nn.utils.parametrizations",
    "nn.utils.parametrize", "nn.utils.rnn", "optim.lr_scheduler", "optim.optimizer", "utils.checkpoint",
    "utils.data",
)  # fmt: skip
"""Modules of packages that programs import by themselves, as in PyTorch."""


def public_modules() -> list[str]:
    """Every module that people import from `graphscope`, by what they write after the dot."""
    top = {each.name for each in pkgutil.iter_modules(import_module(ENGINE).__path__)} - HIDDEN
    return sorted({*top, *INNER, *MODULES, *MODULE_HOMES})


def of_device(name: str) -> list[str]:
    """The lines of a module that has no file of its own."""
    lines = []
    for each, value in sorted(MODULES[name].items()):
        made = getattr(value, "__name__", None)
        lines.append(
            f"from graphscope.engine.devices import {made} as {each}"
            if made is not None and made != "<lambda>"
            else f"{each}: {type(value).__name__}"
        )
    if any(line.endswith("SimpleNamespace") for line in lines):
        lines.insert(0, "from types import SimpleNamespace\n")
    return lines


def stubs() -> dict[str, str]:
    """The text of each file of the folder."""
    names = public_modules()
    files = {"py.typed": "partial\n"}
    for name in names:
        inner = [each.rpartition(".")[2] for each in names if each.rpartition(".")[0] == name]
        lines = of_device(name) if name in MODULES else [f"from {home_of(name)} import *"]
        lines += [f"from . import {each} as {each}" for each in inner]
        path = name.replace(".", "/") + ("/__init__.pyi" if inner else ".pyi")
        files[path] = NOTE + "\n".join(lines) + "\n"
    return files


if __name__ == "__main__":
    folder = Path(*sys.argv[1:2]) if sys.argv[1:] else FOLDER
    shutil.rmtree(folder, ignore_errors=True)
    for path, text in stubs().items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
