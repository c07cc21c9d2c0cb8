"""The extension says where another version of graphscope is installed: its own is that of the package."""

from __future__ import annotations

import json

from graphscope._version import __version__
from tests.editors.code_server import EXTENSION


def test_the_extension_is_of_the_same_version() -> None:
    assert json.loads((EXTENSION / "package.json").read_text())["version"] == __version__
