"""Real notebooks: written, run from end to end, and opened in JupyterLab."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


def python() -> str | None:
    """A Python that has JupyterLab, nbconvert and anywidget; `GRAPHSCOPE_NOTEBOOKS` names another than this one."""
    own = sys.executable if find_spec("jupyterlab") and find_spec("anywidget") else None
    return os.environ.get("GRAPHSCOPE_NOTEBOOKS", own)


def environment(folder: Path) -> dict[str, str]:
    """Nothing of this machine's person is read or written."""
    places = {f"JUPYTER_{name}_DIR": str(folder / name.lower()) for name in ("RUNTIME", "CONFIG", "DATA")}
    return {**os.environ, **places, "IPYTHONDIR": str(folder / "ipython"), "PYTHONPATH": str(ROOT)}


def write(path: Path, cells: Sequence[str]) -> None:
    """A notebook of cells that have not run."""
    entries = [
        {
            "cell_type": "code",
            "id": f"cell-{place}",
            "source": text,
            "metadata": {},
            "outputs": [],
            "execution_count": None,
        }
        for place, text in enumerate(cells)
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = {"cells": entries, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    path.write_text(json.dumps(notebook))


def convert(path: Path, form: str) -> Path:
    """The notebook after all of its cells ran with nobody at it, in another form."""
    words = ["nbconvert", "--execute", "--allow-errors", "--to", form, "--output", "ran", path.name]
    done = subprocess.run(
        [str(python()), "-m", *words], cwd=path.parent, env=environment(path.parent), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return path.with_name("ran").with_suffix({"html": ".html", "notebook": ".ipynb"}[form])


def outputs(path: Path) -> list[list[dict[str, Any]]]:
    """What stands below each cell of a notebook."""
    return [cell["outputs"] for cell in json.loads(path.read_text())["cells"]]


@contextmanager
def lab(folder: Path) -> Iterator[str]:
    """JupyterLab in a folder, and its address."""
    words = [
        "--no-browser",
        "--allow-root",
        "--port=0",
        "--IdentityProvider.token=",
        "--LabApp.expose_app_in_browser=True",
    ]
    process = subprocess.Popen(
        [str(python()), "-m", "jupyterlab", *words],
        cwd=folder, env=environment(folder), stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stderr is not None
    try:
        found = (re.search(r"(http://127\.0\.0\.1:\d+/)", line) for line in process.stderr)
        address = next((match[1] for match in found if match), None)
        assert address is not None, "JupyterLab has ended"
        yield address
    finally:
        process.terminate()
        process.communicate()
