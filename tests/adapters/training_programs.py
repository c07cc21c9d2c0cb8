"""Training programs of three steps with dropout and Adam, as they are and edited by hand in one place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import torch
from torch import nn
from torch.nn import functional

EDITS: Final = ("none", "leaf", "value", "gradient")
"""What is edited: the first bias of the edited layer ahead of all, what the layer gives in the second step, or what
gradient comes back to that."""


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(10, 6)
        self.lstm = nn.LSTM(6, 5, num_layers=2, dropout=0.4, batch_first=True)
        self.edited = nn.Linear(5, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h, _ = self.lstm(self.embed(x))
        return self.edited(functional.dropout(h, 0.2, self.training))


class Attending(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.edited = nn.Linear(6, 8)
        layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.2, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(8, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.encoder(self.edited(x))).mean(1)


def perceptron() -> tuple[nn.Module, nn.Module, Callable[[], torch.Tensor]]:
    model = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 3))
    return model, model[0], lambda: functional.cross_entropy(model(torch.randn(5, 6)), torch.tensor([0, 1, 2, 0, 1]))


def convolution() -> tuple[nn.Module, nn.Module, Callable[[], torch.Tensor]]:
    model = nn.Sequential(
        nn.Conv2d(2, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(inplace=True), nn.MaxPool2d(2), nn.Dropout2d(0.3),
        nn.Flatten(), nn.Linear(16, 2),
    )  # fmt: skip
    return model, model[0], lambda: model(torch.randn(3, 2, 4, 4)).square().mean()


def recurrent() -> tuple[nn.Module, nn.Module, Callable[[], torch.Tensor]]:
    model = Recurrent()

    def loss() -> torch.Tensor:
        scores = model(torch.randint(0, 10, (3, 7)))
        return functional.cross_entropy(scores.flatten(0, 1), torch.randint(0, 10, (21,)))

    return model, model.edited, loss


def transformer() -> tuple[nn.Module, nn.Module, Callable[[], torch.Tensor]]:
    model = Attending()
    return model, model.edited, lambda: functional.cross_entropy(model(torch.randn(2, 4, 6)), torch.tensor([0, 2]))


PROGRAMS: Final = {made.__name__: made for made in (perceptron, convolution, recurrent, transformer)}


def trained(name: str, edit: str) -> nn.Module:
    """The model after three steps."""
    torch.manual_seed(0)
    model, layer, loss = PROGRAMS[name]()
    if edit == "leaf":
        layer.bias.data.copy_(leaf_given(layer.bias))
    step = 0

    def edited(_: Any, __: Any, out: torch.Tensor) -> None:
        if step == 1 and edit == "value":
            out.data.copy_(value_given(out))
        if step == 1 and edit == "gradient":
            out.register_hook(gradient_given)

    layer.register_forward_hook(edited)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    for step in range(3):  # noqa: B007 - the hook looks at it
        optimizer.zero_grad()
        loss().backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    return model


def leaf_given(bias: torch.Tensor) -> torch.Tensor:
    return torch.linspace(-1, 1, bias.numel())


def value_given(out: torch.Tensor) -> torch.Tensor:
    return torch.linspace(-1, 2, out.numel()).reshape(out.shape)


def gradient_given(gradient: torch.Tensor) -> torch.Tensor:
    return torch.linspace(-0.1, 0.2, gradient.numel()).reshape(gradient.shape)
