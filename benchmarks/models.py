"""What recording costs in the training of whole models, of transformers, with random weights: both passes and AdamW."""

from __future__ import annotations

from collections.abc import Callable
from time import process_time
from typing import Any, Final

from benchmarks.engines import load
from benchmarks.recorders import compared
from benchmarks.results import Measurement

ROUNDS: Final = 5
PATIENCE: Final = 60.0
"""Seconds after which a candidate has run often enough: one step takes about one."""
TOKENS: Final = (1, 128)
"""Texts and their length."""
IMAGES: Final = (1, 3, 224, 224)

MODELS: Final = {
    "GPT-2 small": ("GPT2Config", "GPT2LMHeadModel", "text"),
    "BERT-base": ("BertConfig", "BertForMaskedLM", "text"),
    "ViT-B": ("ViTConfig", "ViTForImageClassification", "image"),
    "ResNet-50": ("ResNetConfig", "ResNetForImageClassification", "image"),
}
"""Whose configurations are as published when nothing is said."""


def training(configuration: str, name: str, kind: str) -> Callable[[], None]:
    """One step of training a model."""
    torch, transformers = load("torch"), load("transformers")
    torch.manual_seed(0)
    model = getattr(transformers, name)(getattr(transformers, configuration)()).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
    given: dict[str, Any] = {"pixel_values": torch.randn(IMAGES), "labels": torch.tensor([1])}
    if kind == "text":
        tokens = torch.randint(0, 1000, TOKENS)
        given = {"input_ids": tokens, "labels": tokens}

    def step() -> None:
        optimizer.zero_grad()
        model(**given).loss.backward()
        optimizer.step()

    return step


def compare(name: str) -> Measurement:
    """One model, alone and under each policy, by the processor's time: a disk that is late would count by the clock."""
    return compared(name, training(*MODELS[name]), cap=None, rounds=ROUNDS, patience=PATIENCE, clock=process_time)


def measure() -> list[Measurement]:
    """Each model."""
    load("torch").set_num_threads(1)
    try:
        load("transformers")
    except ImportError:
        return [Measurement(name, note="transformers is not installed") for name in MODELS]
    return [compare(name) for name in MODELS]
