"""A model trained in some way, bare and recorded."""

from __future__ import annotations

from pathlib import Path

import torch

import graphscope as gs
from tests.real_models.data import PROTOTYPES
from tests.real_models.models import MODELS
from tests.real_models.trainings import TRAININGS


def losses(model: str, training: str) -> list[str]:
    """What a training's losses are, bit for bit."""
    PROTOTYPES.clear()
    torch.manual_seed(0)
    return [each.hex() for each in TRAININGS[training](*MODELS[model]())]


def recorded(model: str, training: str, values: str, log: Path) -> list[str]:
    """The losses of a training that is recorded."""
    with gs.record(log, values=values):  # type: ignore[arg-type]
        return losses(model, training)
