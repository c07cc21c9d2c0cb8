"""The editor with its extension, for all tests of a run."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.editors.code_server import Installed


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    folder = tmp_path_factory.mktemp("editor")
    return Installed(folder, Path(os.environ.get("GRAPHSCOPE_PICTURES") or folder / "pictures"))
