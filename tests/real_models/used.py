"""Such models as people use them: behind a head of their own, frozen, with parts of low rank, as teachers."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import torch
from torch import nn

from tests.real_models.data import CLASSES, Batches, Result
from tests.real_models.images import timm_model
from tests.real_models.language import SMALL, transformer


class Tagger(nn.Module):
    """A head of one's own on an encoder, whose pooler has nothing to do."""

    def __init__(self, frozen: bool = False) -> None:
        super().__init__()
        library = import_module("transformers")
        self.encoder = library.BertModel(library.BertConfig(**SMALL))
        self.head = nn.Linear(32, CLASSES)
        if frozen:
            self.encoder.requires_grad_(False)

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor, labels: torch.Tensor) -> Any:
        hidden = self.encoder(input_ids, attention_mask=attention_mask).last_hidden_state
        return Result(loss=nn.functional.cross_entropy(self.head(hidden.mean(1)), labels))


class LowRank(nn.Module):
    """What is added to a layer that does not learn; it begins with nothing."""

    def __init__(self, layer: nn.Linear, rank: int = 4) -> None:
        super().__init__()
        self.layer = layer
        self.down = nn.Linear(layer.in_features, rank, bias=False)
        self.up = nn.Linear(rank, layer.out_features, bias=False)
        nn.init.zeros_(self.up.weight)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        added: torch.Tensor = self.layer(x) + self.up(self.down(x))
        return added


def with_low_rank(name: str) -> tuple[nn.Module, Batches]:
    model, batch = transformer(name)
    model.requires_grad_(False)
    for module in list(model.modules()):
        for attribute, part in list(module.named_children()):
            if attribute in ("q_proj", "v_proj", "query", "value") and isinstance(part, nn.Linear):
                setattr(module, attribute, LowRank(part))
    return model, batch


class Distilled(nn.Module):
    """A small model that learns from a larger one."""

    def __init__(self) -> None:
        super().__init__()
        self.teacher, _ = transformer("bert-masked")
        self.student, _ = transformer("roberta")
        self.teacher.requires_grad_(False).eval()

    def train(self, mode: bool = True) -> Distilled:
        super().train(mode)
        self.teacher.eval()
        return self

    def forward(self, **batch: Any) -> Any:
        with torch.no_grad():
            taught = self.teacher(**batch).logits
        said = self.student(**batch)
        likeness = nn.functional.kl_div(
            said.logits.log_softmax(-1), taught.log_softmax(-1), log_target=True, reduction="batchmean"
        )
        return Result(loss=said.loss + 0.1 * likeness)


def frozen_features() -> tuple[nn.Module, Batches]:
    model, batch = timm_model("resnet18")
    for name, parameter in model.named_parameters():
        parameter.requires_grad = ".fc." in name
    return model, batch
