"""Where a person's own settings are: keys, the theme, and that the tour was seen."""

from __future__ import annotations

import os
from pathlib import Path


def config_folder() -> Path:
    """The folder, which need not be there.

    Raises:
        RuntimeError: There is no home.
    """
    config = os.environ.get("XDG_CONFIG_HOME") or str(Path("~/.config").expanduser())
    return Path(config) / "graphscope"
