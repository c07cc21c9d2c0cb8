"""Every program and every transcript of the README and the docs is run, and its output compared."""

from __future__ import annotations

import contextlib
import io
import re
import subprocess
import sys
import types
from importlib.util import find_spec
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from .pages import ROOT, Block, assert_like, blocks, run_console

TUTORIAL = sorted((ROOT / "docs" / "tutorial").glob("*.md"))
RUN = [
    ROOT / "docs" / "how-to" / name for name in ("diff.md", "doctor.md", "other-tools.md", "pytest.md", "what-if.md")
]
PAGES = [ROOT / "README.md", *RUN, *sorted((ROOT / "docs" / "explanation").glob("*.md"))]
NEEDS = {
    ROOT / "docs" / "how-to" / "adapters.md": "autograd",
    ROOT / "docs" / "how-to" / "jax.md": "jax",
    ROOT / "docs" / "how-to" / "tensorflow.md": "tensorflow",
    ROOT / "docs" / "how-to" / "tensorflow-1.md": "tensorflow",
}
"""Pages with programs of another library."""
ALL = [ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md")), ROOT / "README.md"]


def _needing(page: Path) -> ParameterSet:
    """A page with the marks of what it needs."""
    marks = {name: (getattr(pytest.mark, name), pytest.mark.slow) for name in ("jax", "tensorflow")}
    return pytest.param(page, marks=marks.get(NEEDS[page], ()))


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [*PAGES, *map(_needing, NEEDS), *(pytest.param(page, marks=pytest.mark.slow) for page in TUTORIAL)],
    ids=lambda page: page.stem,
)
def test_page_does_what_it_says(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if page in NEEDS:
        pytest.importorskip(NEEDS[page])
    (tmp_path / "samples").symlink_to(ROOT / "samples")
    monkeypatch.chdir(tmp_path)
    main = types.ModuleType("__main__")
    wanted: Block | None = None
    printed = ""
    for block in blocks(page):
        where = f"{page.name}:{block.line}"
        if block.torch and find_spec("torch") is None:
            continue
        if block.file is not None:
            (tmp_path / block.file).write_text(block.text, encoding="utf-8")
        elif block.language == "console":
            run_console(block, tmp_path, where)
        elif block.language == "python":
            printed = _run(block, main, where)
        elif block.language == "text":
            wanted = block
            assert_like(wanted.text, printed, where)


def _run(block: Block, main: types.ModuleType, where: str) -> str:
    """Run a block in the page's namespace, from a file, so that nodes find their source line."""
    file = Path(f"block_{block.line}.py").resolve()
    file.write_text(block.text, encoding="utf-8")
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(block.text, str(file), "exec"), main.__dict__)
    return output.getvalue()


@pytest.mark.parametrize("page", ALL, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text)
    missing = [link for link in links if "://" not in link and not (page.parent / link).exists()]
    assert missing == []


@pytest.mark.slow
def test_reference_is_current(tmp_path: Path) -> None:
    # In a process of its own: tests define ops, too.
    subprocess.run([sys.executable, ROOT / "docs" / "reference", tmp_path], check=True, capture_output=True)
    stale = [
        page.name
        for page in tmp_path.iterdir()
        if (ROOT / "docs" / "reference" / page.name).read_text(encoding="utf-8") != page.read_text(encoding="utf-8")
    ]
    assert stale == [], "run `make docs`"
