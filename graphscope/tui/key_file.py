"""Keys as a person wants them: a file that names actions and the keys for them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from textual.binding import Binding

from graphscope.errors import UsageError
from graphscope.tui.config_folder import config_folder

VARIABLE: Final = "GRAPHSCOPE_KEYS"
"""The environment variable that names another file."""


def keymap_file() -> Path:
    """Where the file is, if there is one."""
    named = os.environ.get(VARIABLE)
    return Path(named) if named else config_folder() / "keys.toml"


def read_keymap(file: Path, known: Iterable[Binding]) -> dict[str, str]:
    """The keys of actions by the names of these, as `"screen.search" = "ctrl+f"`; nothing where there is no file.

    Raises:
        UsageError: The file is not understood, or names an action that there is not.
    """
    try:
        text = file.read_text(encoding="utf-8")
        import tomllib  # few have such a file

        found = tomllib.loads(text)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise UsageError(
            f"the keymap {str(file)!r} can't be read: {error}", 'a line is "screen.search" = "ctrl+f"'
        ) from None
    flat = dict(_flat(found))
    names = {binding.id for binding in known if binding.id}
    for name, keys in flat.items():
        if name not in names:
            raise UsageError(
                f"the keymap {str(file)!r} names {name!r}, which is no action", f"there is {', '.join(sorted(names))}"
            )
        if not isinstance(keys, str) or not keys.strip():
            raise UsageError(
                f"the keymap {str(file)!r} gives {name!r} no key", f'"{name}" = "ctrl+f", or several: "f3,ctrl+f"'
            )
    return {name: str(keys) for name, keys in flat.items()}


def remapped(bindings: Iterable[Binding], keymap: Mapping[str, str]) -> list[Binding]:
    """Bindings with the keys that they have by a keymap, to be told of in the help."""
    return [
        replace(binding, key=keymap[binding.id], key_display=None) if binding.id and binding.id in keymap else binding
        for binding in bindings
    ]


def key_of(binding: Binding) -> str:
    """The first key of a binding, as people name it."""
    return binding.key_display or binding.key.split(",")[0].replace("enter", "Enter")


def _flat(table: Mapping[str, object], ahead: str = "") -> Iterable[tuple[str, object]]:
    """Names with dots, whether they are written in quotation marks or as tables."""
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{ahead}{name}.")
        else:
            yield f"{ahead}{name}", value
