"""Small batches of random data that can be learned, as models of transformers take them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

BATCH, LENGTH, VOCABULARY, CLASSES = 8, 16, 64, 4
Batch = dict[str, Any]


class Result(dict[str, torch.Tensor]):
    """What a model answers with a loss, as those of transformers do."""

    @property
    def loss(self) -> torch.Tensor:
        return self["loss"]


Batches = Callable[[], Batch]


def sequences() -> torch.Tensor:
    """Tokens, each of which follows from the one ahead of it."""
    first = torch.randint(3, VOCABULARY, (BATCH, 1))
    return (first + 5 * torch.arange(LENGTH)) % (VOCABULARY - 3) + 3


def causal() -> Batch:
    tokens = sequences()
    return {"input_ids": tokens, "labels": tokens}


def masked() -> Batch:
    tokens = sequences()
    hidden = torch.rand(tokens.shape) < 0.3
    hidden[:, 0] = True
    given, labels = tokens.masked_fill(hidden, 2), tokens.masked_fill(~hidden, -100)
    return {"input_ids": given, "labels": labels, "attention_mask": torch.ones_like(tokens)}


def unpadded() -> Batch:
    batch = masked()
    del batch["attention_mask"]
    return batch


def classified() -> Batch:
    labels = torch.randint(0, CLASSES, (BATCH,))
    tokens = torch.randint(3, VOCABULARY, (BATCH, LENGTH))
    tokens[:, 1:9] = 3 + labels[:, None]
    padded = torch.ones_like(tokens)
    padded[: BATCH // 2, -4:] = 0
    return {"input_ids": tokens * padded + (1 - padded), "attention_mask": padded, "labels": labels}


def tagged() -> Batch:
    tokens = sequences()
    return {"input_ids": tokens, "labels": tokens % CLASSES}


def spanned() -> Batch:
    tokens = torch.randint(10, VOCABULARY, (BATCH, LENGTH))
    start = torch.randint(0, LENGTH - 2, (BATCH,))
    rows = torch.arange(BATCH)
    tokens[rows, start], tokens[rows, start + 2] = 5, 6
    return {"input_ids": tokens, "start_positions": start, "end_positions": start + 2}


def translated() -> Batch:
    tokens = sequences()
    return {"input_ids": tokens, "labels": tokens.flip(1)}


PROTOTYPES: dict[tuple[int, ...], torch.Tensor] = {}


def pictures(*shape: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Noise on one of a few pictures, with mean 0 and deviation 1, and which one."""
    made = PROTOTYPES.setdefault(shape, torch.randn(CLASSES, *shape))
    labels = torch.randint(0, CLASSES, (BATCH,))
    return (made[labels] + 0.3 * torch.randn(BATCH, *shape)) / 1.05, labels


def seen(size: int, channels: int = 3) -> Batches:
    def batch() -> Batch:
        images, labels = pictures(channels, size, size)
        return {"pixel_values": images, "labels": labels}

    return batch


def painted(size: int) -> Batches:
    def batch() -> Batch:
        images, _ = pictures(3, size, size)
        return {"pixel_values": images, "labels": (images.mean(1) > 0).long()}

    return batch


def named() -> Batch:
    images, labels = pictures(3, 32, 32)
    tokens = torch.randint(10, VOCABULARY, (BATCH, LENGTH))
    tokens[:, 2:5] = 3 + labels[:, None]
    return {"input_ids": tokens, "pixel_values": images, "return_loss": True}


def spoken() -> Batch:
    sounds, labels = pictures(1600)
    return {"input_values": sounds, "labels": labels[:, None] + torch.arange(1, 4)}


def heard() -> Batch:
    sounds, labels = pictures(1600)
    return {"input_values": sounds, "labels": labels}


def spectra() -> Batch:
    sounds, labels = pictures(16, 64)
    return {"input_features": sounds, "labels": (labels[:, None] * 3 + torch.arange(6)) % VOCABULARY}


def spectrum() -> Batch:
    sounds, labels = pictures(32, 16)
    return {"input_values": sounds, "labels": labels}


def series() -> Batch:
    phase = torch.rand(BATCH, 1, 2) * 6
    wave = torch.sin(torch.arange(40)[:, None] / 3 + phase) + 0.1 * torch.randn(BATCH, 40, 2)
    return {"past_values": wave[:, :32], "future_values": wave[:, 32:]}
