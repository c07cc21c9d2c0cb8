"""The theme that a person has chosen, which holds for every screen from then on."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from graphscope.tui.config_folder import config_folder

VARIABLE = "TEXTUAL_THEME"
"""The environment variable that names another one."""


def theme_file() -> Path | None:
    """Where it is kept; None where there is no home."""
    try:
        return config_folder() / "theme"
    except RuntimeError:
        return None


def chosen_theme(file: Path | None) -> str:
    """Its name, empty where none was chosen."""
    named = os.environ.get(VARIABLE, "")
    if named or file is None:
        return named
    try:
        return file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return ""


def keep_theme(file: Path | None, name: str) -> None:
    """Let it be the one to begin with; where it can't be kept, it is not."""
    if file is not None:
        with contextlib.suppress(OSError):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"{name}\n", encoding="utf-8")
