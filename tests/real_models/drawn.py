"""A model as people first see it: two steps recorded, and the picture that is drawn where nobody asks for more."""

from __future__ import annotations

import re
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import torch

import graphscope as gs
from graphscope.exporters import export
from tests.real_models.models import MODELS
from tests.real_models.runs import begun


class Drawn(NamedTuple):
    """The default picture of a model."""

    boxes: int
    width: int
    height: int
    """In points."""
    seconds: float
    """It took by the clock."""

    @property
    def is_readable(self) -> bool:
        """Whether it has at most 80 boxes, and took less than 10 s."""
        return 0 < self.boxes <= 80 and self.seconds < 10


def drawn(name: str) -> Drawn:
    """Record two steps of a model and draw them as SVG."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "run.gscope"
        with gs.record(log, values="none"):
            _train(name)
        begin = time.perf_counter()
        picture = str(export(log, format="svg"))
        seconds = time.perf_counter() - begin
    size = re.search(r'<svg width="(\d+)pt" height="(\d+)pt"', picture)
    assert size is not None
    return Drawn(picture.count('class="node"'), int(size[1]), int(size[2]), seconds)


def _train(name: str) -> None:
    model, batch = begun(MODELS[name])
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    model.train()
    for _ in range(2):
        optimizer.zero_grad()
        model(**batch()).loss.backward()
        optimizer.step()
