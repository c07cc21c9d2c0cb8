"""A model as people first see it: two steps recorded, and the picture and the page made where nobody asks for more."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

import torch

import graphscope as gs
from graphscope.exporters import export
from tests.real_models.models import MODELS
from tests.real_models.runs import begun

MOST_BOXES: Final = 80
MOST_SECONDS: Final = 10.0


class File(NamedTuple):
    """One file that was made of a recording."""

    seconds: float
    """It took of the processor, with the layout program."""
    bytes: int

    def told(self) -> tuple[str, str]:
        """Both, as they stand in a table."""
        return f"{self.seconds:.1f}", f"{self.bytes // 1000:,}"


class Drawn(NamedTuple):
    """What is made of a model by default."""

    rows: int
    boxes: int
    width: int
    height: int
    """In points."""
    picture: File
    page: File

    @property
    def is_readable(self) -> bool:
        """Whether the picture can be read at a glance, and neither took long."""
        is_quick = max(self.picture.seconds, self.page.seconds) < MOST_SECONDS
        return 0 < self.boxes <= MOST_BOXES and is_quick


HEADINGS: Final = ("model", "rows", "boxes", "points", "SVG s", "SVG kB", "HTML s", "HTML kB", "")


def entry(name: str, found: Drawn) -> tuple[str, ...]:
    """A row of the table of all models."""
    size = f"{found.width:,} × {found.height:,}"
    told = (name, f"{found.rows:,}", str(found.boxes), size, *found.picture.told(), *found.page.told())
    return (*told, "" if found.is_readable else "NOT MET")


def drawn(name: str, folder: Path | None = None) -> Drawn:
    """Record two steps of a model and make a picture and a page of them.

    Args:
        name: The model.
        folder: Where both are left, for somebody to look at.
    """
    with tempfile.TemporaryDirectory() as own:
        log = Path(own) / "run.gscope"
        with gs.record(log):
            _train(name)
        kept = Path(own) if folder is None else folder
        path = kept / name.replace("/", "-")
        picture = _made(lambda: export(log, path.with_suffix(".svg")))
        page = _made(lambda: export(log, path.with_suffix(".html")))
        text = path.with_suffix(".svg").read_text(encoding="utf-8")
        size = re.search(r'<svg width="(\d+)pt" height="(\d+)pt"', text)
        assert size is not None
        rows = len(gs.load(log))
        return Drawn(rows, text.count('class="node"'), int(size[1]), int(size[2]), picture, page)


def _made(make: Callable[[], str | bytes]) -> File:
    begin = _spent()
    content = make()
    return File(_spent() - begin, len(content if isinstance(content, bytes) else content.encode()))


def _spent() -> float:
    """Seconds of the processor that this process has taken, and those that it has started and that have ended."""
    told = os.times()
    return told.user + told.system + told.children_user + told.children_system


def _train(name: str) -> None:
    model, batch = begun(MODELS[name])
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    model.train()
    for _ in range(2):
        optimizer.zero_grad()
        model(**batch()).loss.backward()
        optimizer.step()
