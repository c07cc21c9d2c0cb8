"""All models that are trained, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from torch import nn

from tests.real_models.data import Batches, classified, masked
from tests.real_models.images import TIMM, TORCHVISION, timm_model, torchvision_model
from tests.real_models.language import TRANSFORMERS, transformer
from tests.real_models.used import Distilled, Tagger, frozen_features, with_low_rank

MODELS: Final[dict[str, Callable[[], tuple[nn.Module, Batches]]]] = {
    **{f"transformers/{name}": lambda name=name: transformer(name) for name in TRANSFORMERS},  # type: ignore[misc]
    **{f"timm/{name}": lambda name=name: timm_model(name) for name in TIMM},  # type: ignore[misc]
    **{f"torchvision/{name}": lambda name=name: torchvision_model(name) for name in TORCHVISION},  # type: ignore[misc]
    "used/head": lambda: (Tagger(), classified),
    "used/frozen": lambda: (Tagger(frozen=True), classified),
    "used/low-rank-llama": lambda: with_low_rank("llama"),
    "used/low-rank-bert": lambda: with_low_rank("bert"),
    "used/distilled": lambda: (Distilled(), masked),
    "used/features": frozen_features,
}
