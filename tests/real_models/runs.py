"""A model trained in some way: bare, recorded, recorded twice, and with attention as one op and written out."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

import numpy as np
import torch
from torch import nn

import graphscope as gs
from graphscope.compare import Difference, diff
from tests.real_models.data import PROTOTYPES, Batches
from tests.real_models.images import timm_attention
from tests.real_models.language import TRANSFORMERS, without_chance
from tests.real_models.models import MODELS
from tests.real_models.trainings import TRAININGS, Training, two_steps

Made = Callable[[], tuple[nn.Module, Batches]]

_WITHOUT_CHOICE: Final = frozenset({"fnet", "canine"})
"""Models of transformers that have no attention, or one of their own."""

_OF_TIMM: Final = (
    "vit_tiny_patch16_224", "deit_tiny_patch16_224", "pit_ti_224", "swin_tiny_patch4_window7_224",
    "beit_base_patch16_224", "eva02_tiny_patch14_224", "cait_xxs24_224", "maxvit_rmlp_pico_rw_256",
)  # fmt: skip

ATTENTIONS: Final[Mapping[str, tuple[Made, Made]]] = {
    **{
        f"transformers/{name}": (
            lambda name=name: without_chance(name, "eager"),
            lambda name=name: without_chance(name, "sdpa"),
        )
        for name in TRANSFORMERS
    },
    **{
        f"timm/{name}": (
            lambda name=name: timm_attention(name, fused=False),
            lambda name=name: timm_attention(name, fused=True),
        )
        for name in _OF_TIMM
    },
}  # type: ignore[misc]
"""Models with attention written out, and as one op."""


def losses(model: str, training: str) -> list[str]:
    """What a training's losses are, bit for bit."""
    return _losses(MODELS[model], TRAININGS[training])


def recorded(model: str, training: str, values: str, log: Path) -> list[str]:
    """The losses of a training that is recorded."""
    with gs.record(log, values=values):  # type: ignore[arg-type]
        return losses(model, training)


def again(model: str, training: str, values: str, folder: Path) -> Difference:
    """Where two recordings of one training part."""
    logs = [folder / "a.gscope", folder / "b.gscope"]
    for log in logs:
        recorded(model, training, values, log)
    return diff(*logs)


def attentions(model: str, folder: Path) -> Difference:
    """Where a model with attention written out parts from the same with attention as one op."""
    logs = [folder / "eager.gscope", folder / "fused.gscope"]
    for log, made in zip(logs, ATTENTIONS[model], strict=True):
        with gs.record(log):
            _losses(made, two_steps)
    return diff(*logs)


def begun(made: Made) -> tuple[nn.Module, Batches]:
    """A model and its data, the same each time."""
    PROTOTYPES.clear()
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002 - what masks of sounds are drawn with
    torch.manual_seed(0)
    return made()


def _losses(made: Made, training: Training) -> list[str]:
    return [each.hex() for each in training(*begun(made))]
