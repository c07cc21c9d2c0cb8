"""Adapters of installed packages: those that Python's reading of entry points finds, at any place where it looks."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from graphscope.adapters.installed import GROUP, brought

ABOUT = "Metadata-Version: 2.1\nName: like\nVersion: 1.0\n"
ROOT = Path(__file__).parents[2]
POINTS = f"[console_scripts]\nother = other:main\n\n[{GROUP}]\nlike = like.graphscope\n"


def package(folder: Path) -> None:
    """A package that brings an adapter, as far as its metadata tell."""
    folder.mkdir(parents=True)
    (folder / "entry_points.txt").write_text(POINTS, encoding="utf-8")
    for name in ("METADATA", "PKG-INFO"):
        (folder / name).write_text(ABOUT, encoding="utf-8")


def expected() -> list[tuple[str, str]]:
    return [(entry.name, entry.module) for entry in entry_points(group=GROUP)]


@pytest.mark.parametrize("named", ["like-1.0.dist-info", "like.egg-info", "like.egg/EGG-INFO"])
def test_a_package_on_the_path(named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / named
    package(folder)
    monkeypatch.syspath_prepend(tmp_path if folder.parent == tmp_path else folder.parent)
    assert [*brought()] == expected() == [("like", "like.graphscope")]


def test_a_package_in_an_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with zipfile.ZipFile(tmp_path / "like.zip", "w") as archive:
        archive.writestr("like-1.0.dist-info/entry_points.txt", POINTS)
        archive.writestr("like-1.0.dist-info/METADATA", ABOUT)
    monkeypatch.syspath_prepend(tmp_path / "like.zip")
    assert [*brought()] == expected() == [("like", "like.graphscope")]


def test_a_package_that_comes_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    assert [*brought()] == []
    package(tmp_path / "like-1.0.dist-info")
    os.utime(tmp_path, ns=(0, tmp_path.stat().st_mtime_ns + 1))  # where the clock of the file system is slow
    assert [*brought()] == expected() == [("like", "like.graphscope")]


def test_a_package_that_another_finder_knows(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    class Finder:
        find_spec = staticmethod(lambda *_: None)

        @staticmethod
        def find_distributions(context: object = None) -> object:
            from importlib.metadata import PathDistribution

            return [PathDistribution(tmp_path / "like-1.0.dist-info")]

    package(tmp_path / "like-1.0.dist-info")
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, Finder])
    assert [*brought()] == expected() == [("like", "like.graphscope")]


@pytest.mark.slow
def test_without_one_nothing_more_is_loaded(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(
        "import sys\nimport graphscope as gs\n"
        "with gs.record('run.gscope'):\n    gs.tensor(1.0) * 2\n"
        "print({'importlib.metadata', 'email', 'graphscope.adapters.kit'} & {*sys.modules})\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "program.py"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
