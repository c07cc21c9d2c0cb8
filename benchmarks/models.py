"""What recording costs in the training of whole models with random weights: both passes and AdamW."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from time import process_time
from typing import Any, Final

from benchmarks.engines import load
from benchmarks.floor import floor
from benchmarks.recorders import BATCHES, compared
from benchmarks.results import Measurement

ROUNDS: Final = 5
PATIENCE: Final = 60.0
"""Seconds after which a candidate has run often enough: one step takes about one."""
SETTLING: Final = 5.0
"""Seconds in which many short steps fill the budget of `full`."""
TOKENS: Final = (1, 128)
"""Texts and their length."""
IMAGES: Final = (1, 3, 224, 224)

MODELS: Final = {
    "GPT-2 small": ("GPT2Config", "GPT2LMHeadModel", "text"),
    "BERT-base": ("BertConfig", "BertForMaskedLM", "text"),
    "ViT-B": ("ViTConfig", "ViTForImageClassification", "image"),
    "ResNet-50": ("ResNetConfig", "ResNetForImageClassification", "image"),
}
"""Of transformers; their configurations are as published when nothing is said."""
STEP_BY_STEP: Final = "LSTM, step by step"
CELLS, BATCH, FEATURES, HIDDEN = 100, 32, 64, 64


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


def step_by_step() -> Callable[[], None]:
    """One step of training an LSTM whose cells are written in plain ops, one cell after the other."""
    torch = load("torch")
    torch.manual_seed(0)
    cell, head = torch.nn.Linear(FEATURES + HIDDEN, 4 * HIDDEN), torch.nn.Linear(HIDDEN, 1)
    optimizer = torch.optim.AdamW([*cell.parameters(), *head.parameters()], lr=1e-3)
    inputs, wanted = torch.randn(CELLS, BATCH, FEATURES), torch.randn(BATCH, 1)

    def step() -> None:
        optimizer.zero_grad()
        h = c = torch.zeros(BATCH, HIDDEN)
        for x in inputs:
            i, f, g, o = cell(torch.cat((x, h), 1)).chunk(4, 1)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
        (head(h) - wanted).square().mean().backward()
        optimizer.step()

    return step


def compare(name: str) -> Measurement:
    """One model, alone and under each policy, by the processor's time: a disk that is late would count by the clock."""
    timing: dict[str, Any] = {"rounds": ROUNDS, "patience": PATIENCE, "clock": process_time}
    if name == STEP_BY_STEP:
        run = step_by_step()
        timing |= {"settling": SETTLING, "batches": BATCHES}
    else:
        run = training(*MODELS[name])
    found = compared(name, run, cap=None, **timing)
    return replace(found, numbers=found.numbers | floor(run))


def measure() -> list[Measurement]:
    """Each model."""
    load("torch").set_num_threads(1)
    try:
        load("transformers")
    except ImportError:
        left = [Measurement(name, note="transformers is not installed") for name in MODELS]
    else:
        left = [compare(name) for name in MODELS]
    return [*left, compare(STEP_BY_STEP)]
