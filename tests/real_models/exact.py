"""Whether a model trains bit for bit as it does alone, at every level of recording; what the log is good for then."""

from __future__ import annotations

import hashlib
import random
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import torch

import graphscope as gs
from graphscope.exporters.export import export
from tests.real_models.models import MODELS
from tests.real_models.runs import begun

STEPS: Final = 2

LEVELS: Final[Mapping[str, Mapping[str, Any]]] = {
    "no values": {"values": "none", "capture": "calls"},
    "statistics": {"values": "summary"},
    "all values": {"values": "full"},
    "ops": {"values": "full", "capture": "ops"},
    "compiled": {"values": "summary", "capture": "compiled"},
    "memory": {"values": "none", "memory": True},
}
"""What is recorded, by name: the options of `gs.record`."""


class Trained(NamedTuple):
    """What is left of a training, as digests of all bits."""

    losses: str
    gradients: str
    weights: str
    random_state: str


class Judged(NamedTuple):
    """What is wrong with the recordings of a model."""

    levels: list[str]
    """At which it does not train as it does alone, and what is other."""
    missing: int
    """How many parameters have no gradient."""
    unexplained: list[str]
    """What is said of those of which the log does not tell why."""
    picture: int
    """The bytes of the drawing."""


def judged(name: str) -> Judged:
    """Train a model alone and at each level, draw it, and ask of each gradient that is None."""
    alone = trained(name)[0]
    levels = [
        f"{level}: {', '.join(other)}"
        for level, options in LEVELS.items()
        if (other := _others(alone, _recorded(name, options)))
    ]
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "run.gscope"
        with gs.record(log, values="none"):
            model = trained(name)[1]
            asked = [gs.explain(each) for each in model.parameters() if each.grad is None]
        picture = Path(folder) / "run.svg"
        export(gs.load(log), picture, fold="repeats")
        unexplained = [each.verdict for each in asked if each.cause == "unknown"]
        return Judged(levels, len(asked), unexplained, picture.stat().st_size)


def trained(name: str) -> tuple[Trained, torch.nn.Module]:
    """Train a model from the same beginning."""
    model, batch = begun(MODELS[name])
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    model.train()
    losses, gradients = [], []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = model(**batch()).loss
        loss.backward()
        gradients += [None if each.grad is None else each.grad.clone() for each in model.parameters()]
        optimizer.step()
        losses.append(loss.detach())
    after = [torch.get_rng_state(), random.getstate(), np.random.get_state()]  # noqa: NPY002 - what masks of sounds are drawn with
    weights = [*model.parameters(), *model.buffers()]
    return Trained(_digest(losses), _digest(gradients), _digest(weights), _digest(after)), model


def _recorded(name: str, options: Mapping[str, Any]) -> Trained:
    with tempfile.TemporaryDirectory() as folder, gs.record(Path(folder) / "run.gscope", **options):
        return trained(name)[0]


def _others(alone: Trained, recorded: Trained) -> list[str]:
    return [field for field, one, other in zip(Trained._fields, alone, recorded, strict=True) if one != other]


def _digest(values: Iterable[Any]) -> str:
    digest = hashlib.sha256()
    for each in values:
        digest.update(_bits(each) if isinstance(each, torch.Tensor) else repr(each).encode())
    return digest.hexdigest()


def _bits(tensor: torch.Tensor) -> bytes:
    plain = tensor.detach().to_dense() if tensor.is_sparse else tensor.detach()
    return plain.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()
