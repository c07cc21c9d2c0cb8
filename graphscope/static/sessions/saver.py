"""`train.Saver`: variables of programs of sessions to files and back, in the safetensors format."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from graphscope.engine.core.tensor import Tensor
from graphscope.engine.serialization import safetensors
from graphscope.errors import StaticError
from graphscope.static.sessions.functions import _listed
from graphscope.static.sessions.variables import Variable, global_variables

ENDING: Final = ".safetensors"
NEWEST: Final = "checkpoint"
"""The file beside them that lists what was saved, the newest first."""


class Saver:
    """Saves variables and restores them.

    Args:
        var_list: Which: variables, or a dict from the names in the file to variables; all of the default graph unless
            it is given.
        max_to_keep: How many files to keep; what it saved before is removed. None or 0 keeps all.
        name: Accepted for TensorFlow's sake.

    Raises:
        StaticError: There are no variables, or two of one name.
    """

    def __init__(self, var_list: Any = None, max_to_keep: int | None = 5, name: str | None = None) -> None:
        self._variables = _named(global_variables() if var_list is None else var_list)
        self._most = max_to_keep
        self._saved: list[Path] = []

    @property
    def last_checkpoints(self) -> list[str]:
        """What it saved and still keeps, the newest last."""
        return [str(path) for path in self._saved]

    def save(self, sess: Any, save_path: Any, global_step: Any = None, latest_filename: str = NEWEST) -> str:
        """Write what the variables hold now.

        Args:
            sess: Accepted for TensorFlow's sake: variables hold their values beside all sessions.
            save_path: The file to write, without its ending.
            global_step: A number, or a variable that holds one, for the end of the name: `model-100`.
            latest_filename: The name of the file beside it that says which is the newest.

        Returns:
            The path as `restore` takes it, without the ending.

        Raises:
            StaticError: The folder is not there.
        """
        step = global_step.array_now if isinstance(global_step, Variable) else global_step
        path = Path(f"{os.fspath(save_path)}{'' if step is None else f'-{int(step)}'}")
        if not path.parent.is_dir():
            raise StaticError(f"there is no folder {path.parent} to save in", hint="os.makedirs makes it")
        safetensors.save({name: Tensor(each.array_now[()]) for name, each in self._variables.items()}, _file(path))
        self._saved = [*(each for each in self._saved if each != path), path]
        if self._most:
            for old in self._saved[: -self._most]:
                _file(old).unlink(missing_ok=True)
            self._saved = self._saved[-self._most :]
        names = [each.name if each.parent == path.parent else str(each) for each in reversed(self._saved)]
        (path.parent / latest_filename).write_text("".join(f"{name}\n" for name in names), encoding="utf-8")
        return str(path)

    def restore(self, sess: Any, save_path: Any) -> None:
        """Let the variables hold what a file says.

        Args:
            sess: Accepted for TensorFlow's sake.
            save_path: What `save` gave.

        Raises:
            StaticError: There is no such file, or it has no value of that shape for one of the variables; then none
                is changed.
            StateError: The file is damaged.
        """
        path = Path(os.fspath(save_path))
        if not _file(path).is_file():
            raise StaticError(
                f"there is no file {_file(path)}",
                hint="give restore what save returned; train.latest_checkpoint(folder) finds the newest",
            )
        with _file(path).open("rb") as file:
            found = safetensors.read(file, str(_file(path)))
        arrays = {name: _fitting(name, variable, found, path) for name, variable in self._variables.items()}
        for name, variable in self._variables.items():
            variable.load(arrays[name])


def latest_checkpoint(checkpoint_dir: Any, latest_filename: str = NEWEST) -> str | None:
    """The path that was saved last in a folder, as `Saver.restore` takes it; None where there is none."""
    folder = Path(os.fspath(checkpoint_dir))
    try:
        names = (folder / latest_filename).read_text(encoding="utf-8").split("\n")
    except OSError:
        return None
    path = folder / names[0]
    return str(path) if names[0] and _file(path).is_file() else None


def checkpoint_exists(checkpoint_prefix: Any) -> bool:
    """Whether there is something to restore at a path."""
    return _file(Path(os.fspath(checkpoint_prefix))).is_file()


def _file(path: Path) -> Path:
    return path.with_name(path.name + ENDING)


def _named(given: Any) -> dict[str, Variable]:
    pairs = list(given.items()) if isinstance(given, Mapping) else [(v.output.node.name, v) for v in _listed(given)]
    if not pairs:
        raise StaticError("there are no variables to save", hint="make the Saver behind the variables")
    names = [name for name, _ in pairs]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise StaticError(f"two variables to save are called {twice!r}", hint="name them in a dict: {name: variable}")
    return dict(pairs)


def _fitting(name: str, variable: Variable, found: Any, path: Path) -> np.ndarray:
    if not isinstance(found, dict) or name not in found:
        there = ", ".join(sorted(map(str, found))[:8]) if isinstance(found, dict) else "something else"
        raise StaticError(
            f"{_file(path)} has no variable {name!r}: it has {there}",
            hint="Saver({name in the file: variable}) restores some of them, or under other names",
        )
    array = np.asarray(found[name].array)
    if array.shape != variable.array_now.shape:
        raise StaticError(
            f"variable {name!r} has shape {variable.array_now.shape}, and shape {array.shape} in {_file(path)}",
            hint="build the graph as it was when this was saved",
        )
    return array
